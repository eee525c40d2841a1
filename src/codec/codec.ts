/**
 * The one interface behind which the codec stands: bytes to bytes over the Schema, no message object in between.
 *
 * `encode` reads JSON and writes wire, `decode` reads wire and writes JSON.
 */
import type { Field, Message, Registry } from "../schema/model.ts";

/** How JSON is read and written. Names and meaning as in ProtoJSON's options. */
export interface JsonOptions {
  /**
   * A JSON key that names no field, an enum name that is none, a number that is none of a closed enum: refuse, or skip
   * and count. Default "error".
   */
  readonly unknownFields: "error" | "ignore";
  /** Write fields without presence although they have their zero value. Default false. */
  readonly emitDefaults: boolean;
  /** Write names as in the .proto file instead of lowerCamelCase. Default false. */
  readonly useProtoFieldName: boolean;
  /** Write enums as numbers. Default false. */
  readonly enumAsInteger: boolean;
  /**
   * Write 64-bit integers as numbers where these are exact in a double, up to ±(2⁵³ − 1); beyond that as strings all the
   * same. Map keys are strings in any case. Default false: strings.
   */
  readonly int64AsNumber: boolean;
  /** Levels of nesting allowed, Any, Struct and Value included; the message itself is level 1. Default 100. */
  readonly maxDepth: number;
  /**
   * Bytes of JSON that a message may become: with `emitDefaults` each two bytes of empty messages are hundreds.
   * Default none.
   */
  readonly maxJsonBytes?: number | undefined;
}

/** What resolves type URLs, and how JSON looks. One object for the life of a gateway. */
export interface CodecContext {
  readonly registry: Registry;
  readonly options: JsonOptions;
}

/**
 * Values for fields of a message that come from elsewhere than its JSON: path and query. A tree along field paths.
 * It is built by the binding (`client/rest`) and consumed by `encodeRequest`.
 */
export interface Bound {
  /** Keyed by field of one message, in order of binding. */
  readonly fields: Map<Field, BoundValue>;
}
export type BoundValue =
  /** Values below a singular message field. The field's message is present even when the tree below sets nothing. */
  | { readonly kind: "message"; readonly bound: Bound }
  /**
   * One or more whole records (tag and value) of the field, as `encodeText` made them. `name` is how the caller spelt
   * it, for error messages; `from` says where it stood.
   */
  | {
      readonly kind: "record";
      readonly wire: Uint8Array;
      readonly name: string;
      readonly from: "path" | "query" | "form";
    };

export interface EncodeRequest {
  /** The JSON text: of the whole message when `body` is "*", of the field's value when `body` is a field. */
  readonly json?: Uint8Array;
  /** Where the JSON goes. Undefined: there is no body, `json` is not looked at. */
  readonly body?: "*" | Field;
  /**
   * The fields that lead to the field `body`, where that one lies deeper in the message. `wire` is then its records
   * alone, without those around them, nothing is bound, and `mask` begins at the message.
   */
  readonly above?: readonly Field[];
  /** The body field's value in wire form, tag included, instead of JSON (HttpBody, application/proto). */
  readonly bodyWire?: Uint8Array;
  readonly bound: Bound;
  /** Collect the leaf paths of the JSON, for an update mask. Default false. */
  readonly mask?: boolean;
}

export interface EncodedRequest {
  readonly wire: Uint8Array;
  /**
   * With `mask`: dotted paths in proto names of every leaf key that the JSON had, null included, relative to the
   * JSON's root message; lists, maps and well-known types are not entered; fields that were bound are left out. All of
   * them together have 2²⁰ characters at most; more is `invalid_argument`.
   */
  readonly mask?: readonly string[];
}

/** What calls left out without an error, added up. Each adds its own when it succeeds. */
export interface Skipped {
  /**
   * Of JSON, which has some under `unknownFields: "ignore"` alone: keys that name no field, and values that an enum does
   * not have. Of wire: records that belong to no field, or are of another wire type than it, and numbers that a closed
   * enum does not have. What lies inside of a skipped one is not counted, nor what a later record replaces.
   */
  unknownFields: number;
}

/**
 * Every method throws ConnectError. Encode: `invalid_argument`, naming field path (proto names: `addresses[3].zip`),
 * what was wrong, and line and column of the JSON. Decode: `internal`, because the bytes came from the backend.
 *
 * A call takes at most 64 bytes of memory for each byte of its input and its output, whatever the input.
 */
export interface Codec {
  readonly message: Message;
  /** JSON text of the message → wire. The empty text is an error. */
  encode(json: Uint8Array, skipped?: Skipped): Uint8Array;
  /** Wire → JSON text. */
  decode(wire: Uint8Array, skipped?: Skipped): Uint8Array;
  /**
   * A REST request: body and bound values become one message in which a singular message field has exactly one
   * record (DESIGN §1.3). A bound value against a different one in the JSON is `invalid_argument` with
   * google.rpc.BadRequest naming the field; an equal one is written once. Members of one oneof, over JSON and bound
   * together, exclude each other. A bound zero is written.
   */
  encodeRequest(request: EncodeRequest, skipped?: Skipped): EncodedRequest;
  /**
   * JSON of one field of the message alone (response_body). Unset: its default, `null` for messages, `[]`, `{}`. What is
   * skipped counts only in that field.
   */
  decodeField(wire: Uint8Array, field: Field, skipped?: Skipped): Uint8Array;
}
export type CompileCodec = (message: Message, context: CodecContext) => Codec;
