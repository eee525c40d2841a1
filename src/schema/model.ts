/**
 * The model that the rest of the house knows: services, methods, http rules, messages, fields and enums.
 *
 * It is read once, from a descriptor set (`read.ts`) or from an image of itself (`image-read.ts`), and never changes. Everything compiled from it is cached by the
 * identity of these objects, so a new schema version shares nothing with the old one.
 */

import type * as Type from "./type.ts";

/** Any descriptor-driven lookup that needs more than one message: `google.protobuf.Any`. */
export interface Registry {
  /** The message with this full name, or undefined. Knows the well-known types and google.rpc's error details always. */
  message(fullName: string): Message | undefined;
}

export interface Schema extends Registry {
  /** Every service of the set, in the order of the files. */
  readonly services: readonly Service[];
  /** Full names of the services that are reachable unless told otherwise: those of the files named, never of imports. */
  readonly named: ReadonlySet<string>;
  /** Every message of the source, nested ones too; built-in ones only where the source holds them. */
  messages(): Iterable<Message>;
}

export interface Service {
  /** Full name: `pkg.Service`. */
  readonly name: string;
  /** Path of the .proto file. */
  readonly file: string;
  readonly methods: readonly Method[];
}

export interface Method {
  /** `GetShelf` */
  readonly name: string;
  readonly service: Service;
  /** RPC path: `/pkg.Service/GetShelf`. */
  readonly path: string;
  readonly kind: "unary" | "server-stream" | "client-stream" | "bidi";
  /** google.protobuf.MethodOptions.idempotency_level. */
  readonly idempotency: "unknown" | "no-side-effects" | "idempotent";
  readonly input: Message;
  readonly output: Message;
  /** The http rule and its additional bindings as written; unchecked (`route/rule.ts` checks). Empty: no REST route. */
  readonly rules: readonly HttpRule[];
  /** 1-based line of the method in its file, when the set has source info. */
  readonly line?: number;
}

/** One google.api.HttpRule, as written. */
export interface HttpRule {
  /** `GET`, `PUT`, `POST`, `DELETE`, `PATCH`, a custom kind, `*` for any method; "" when the rule has no pattern. */
  readonly method: string;
  /** Path template, unparsed. */
  readonly template: string;
  /** `""`, `"*"` or the name of a field of the input. */
  readonly body: string;
  /** `""` or the name of a field of the output. */
  readonly responseBody: string;
  /** True when the rule stood inside additional_bindings and has additional_bindings itself, which http.proto forbids. */
  readonly nested: boolean;
  /** Where the rule stands when not at its method: `service config, http.rules[3]`. */
  readonly source?: string;
  /**
   * The template, parsed, of a rule that was found to be without fault, alone and beside all others of the services that
   * are reachable unless told otherwise. An image has it, so that nothing is checked at start.
   */
  readonly checked?: Template;
}

/** A parsed path template (google/api/http.proto, "Path template syntax"). */
export interface Template {
  readonly text: string;
  /** Decoded literals, `*` and `**`; variables flattened. A literal that decodes to "*" cannot occur. */
  readonly segments: readonly string[];
  /** Decoded custom verb without its colon; "" when there is none. */
  readonly verb: string;
  readonly variables: readonly TemplateVariable[];
  /** Accepted, but against the letter of http.proto (`**` with a tail). */
  readonly warning?: string;
}

export interface TemplateVariable {
  /** `book.name` */
  readonly field: string;
  /** First segment, and one past the last, counted in `segments`. */
  readonly start: number;
  readonly end: number;
  /** Spans more than one segment, or is `**`: its value keeps `%2F`. */
  readonly multi: boolean;
}

/** A fault in a rule: what, where, and in which method. */
export interface Fault {
  /** The .proto file, or the `source` of the rule. */
  readonly file: string;
  /** 1-based, when the set has source info and the rule stands at its method. */
  readonly line?: number;
  /** `pkg.Service.Method`, or the selector of a service config. */
  readonly method: string;
  readonly template: string;
  /** 1-based column in the template, where the fault lies in it. */
  readonly column?: number;
  readonly message: string;
  /** What to do about it, where the message does not say so itself. */
  readonly fix?: string;
  readonly severity: "error" | "warning";
}

export interface Message {
  /** Full name: `pkg.Outer.Inner`. */
  readonly name: string;
  /** In order of field number, with the extensions that the schema has for it. */
  readonly fields: readonly Field[];
  /** Real oneofs only; proto3 `optional` makes none. */
  readonly oneofs: readonly Oneof[];
}

export interface Oneof {
  readonly name: string;
  readonly fields: readonly Field[];
}

export interface Field {
  /** Name in the .proto file: `page_size`. Of an extension `[pkg.full_name]`, as in JSON. */
  readonly name: string;
  /** `pageSize`, or the json_name option. Of an extension `[pkg.full_name]`. */
  readonly jsonName: string;
  readonly number: number;
  readonly type: Type.Value;
  /** True for lists. False for maps. */
  readonly repeated: boolean;
  /** Lists of numbers: written packed. (Read either way.) */
  readonly packed: boolean;
  /**
   * True when unset differs from the zero value. Messages and oneof members have it; lists and maps do not. Extensions
   * have it, lists too: nothing stands for an unset one.
   */
  readonly presence: boolean;
  /** proto2 `required` or LEGACY_REQUIRED. */
  readonly required: boolean;
  /** Strings: bytes that are not UTF-8 are refused. */
  readonly utf8: boolean;
  /** The real oneof that this field is a member of. */
  readonly oneof?: Oneof;
  /** The message of a MESSAGE or GROUP field. Undefined for maps. */
  readonly message?: Message;
  /** The enum of an ENUM field. */
  readonly enum?: Enum;
  /** Maps: fields 1 and 2 of the entry. `type` is MESSAGE then, `repeated` false and `message` undefined. */
  readonly map?: { readonly key: Field; readonly value: Field };
  /** proto2's `[default = …]`: not zero. In the form of its type; 64-bit as bigint, enums by number. */
  readonly defaultValue?: number | bigint | boolean | string | Uint8Array;
}

export interface Enum {
  /** Full name. */
  readonly name: string;
  /** proto2 and CLOSED: numbers without a name are unknown fields. */
  readonly closed: boolean;
  /** In order of declaration; aliases share a number. The first value is the default. */
  readonly values: readonly { readonly name: string; readonly number: number }[];
}
