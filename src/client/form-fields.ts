/** Binds the fields of forms to those of the request message. */
import { ConnectError } from "@connectrpc/connect";
import type { Bound } from "../codec/codec.ts";
import { fieldError, quote } from "../codec/error.ts";
import { encodeText } from "../codec/text.ts";
import { wrapped } from "../codec/text-content.ts";
import { WireType, WireWriter } from "../codec/wire-writer.ts";
import { isJson, parseMediaType } from "../protocol/media-type.ts";
import { type Field, Type } from "../schema/model.ts";
import { hasTextForm } from "../schema/special.ts";
import { kindOf, put, resolveName, unsuited } from "./bound.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import { type FormTarget, isUtf8 } from "./form.ts";
import { bodyRecord, httpBodyContent, isHttpBody } from "./http-body.ts";
import type { PartHead } from "./part-head.ts";

type FormOptions = Pick<ClientOptions, "unknownFields" | "maxDepth">;

/** The fields that a form has so far. Every method throws ConnectError invalid_argument naming the field. */
export class FormFields {
  readonly #target: FormTarget;
  readonly #codecs: MethodCodecs;
  readonly #options: FormOptions;
  readonly #bound: Bound = { fields: new Map() };
  /** Of a request message that is a google.api.HttpBody: the one part of its form. */
  #whole: Uint8Array | undefined;

  constructor(target: FormTarget, codecs: MethodCodecs, options: FormOptions) {
    this.#target = target;
    this.#codecs = codecs;
    this.#options = options;
  }

  /**
   * @returns the fields that lead to what the name means, from the request message; none when that is the message.
   *   Undefined: it means nothing, and is to be skipped.
   */
  resolve(name: string): readonly Field[] | undefined {
    const { message, above } = this.#target;
    if (isHttpBody(message)) return [];
    const { unknownFields, maxDepth } = this.#options;
    const path = resolveName(message, { name, from: "form" }, { ignoreUnknown: unknownFields === "ignore", maxDepth });
    return path && [...above, ...path];
  }

  /** True for one HttpBody: a list may have several. */
  isFile(path: readonly Field[]): boolean {
    const leaf = path.at(-1);
    return leaf === undefined || (!leaf.repeated && leaf.message !== undefined && isHttpBody(leaf.message));
  }

  putText(name: string, text: string): void {
    const path = this.resolve(name);
    const leaf = path?.at(-1);
    if (!path || !leaf) return;
    if (!hasTextForm(leaf)) throw unsuited(leaf, { name, from: "form" });
    put(this.#bound, path, encodeText(leaf, text, name), { name, from: "form" });
  }

  /** @param path as `resolve` found it. @param data its content, or the first of it. */
  putPart(path: readonly Field[], head: PartHead, data: Uint8Array): void {
    const { name, contentType = null } = head;
    const leaf = path.at(-1);
    if (!leaf) {
      if (this.#whole) throw fieldError(name, "a form for google.api.HttpBody is one part");
      this.#whole = httpBodyContent(contentType, data);
      return;
    }
    const wire = partRecords(leaf, path.slice(0, -1), head, data, this.#codecs);
    // None: the JSON was null, or a list of nothing.
    if (wire.length > 0) put(this.#bound, path, wire, { name, from: "form" });
  }

  /** The request message as far as the form has it. */
  finish(): Uint8Array {
    return this.#whole ?? this.#codecs.input.encodeRequest({ bound: this.#bound }).wire;
  }

  /** A request message that has no more than the next bytes of an HttpBody. */
  pieceOf(path: readonly Field[], data: Uint8Array): Uint8Array {
    const content = httpBodyContent(null, data);
    const leaf = path.at(-1);
    if (!leaf) return content;
    const bound: Bound = { fields: new Map() };
    put(bound, path, bodyRecord(leaf, content), { name: leaf.name, from: "form" });
    return this.#codecs.input.encodeRequest({ bound }).wire;
  }
}

/** Bytes are taken as they are; other fields have the part's text, or what it says in JSON. */
function partRecords(
  field: Field,
  above: readonly Field[],
  { name, contentType }: PartHead,
  data: Uint8Array,
  codecs: MethodCodecs,
): Uint8Array {
  if (field.type === Type.BYTES) return bytesRecord(field, data);
  if (field.message?.name === "google.protobuf.BytesValue") {
    return bodyRecord(field, bytesRecord(wrapped(field.message), data));
  }
  if (field.message && isHttpBody(field.message)) return bodyRecord(field, httpBodyContent(contentType ?? null, data));
  const type = contentType === undefined ? undefined : parseMediaType(contentType);
  if (type && isJson(type)) return jsonRecords(field, above, name, data, codecs);
  if (!hasTextForm(field)) throw fieldError(name, `${field.name} is ${kindOf(field)}: send it as application/json`);
  if (contentType !== undefined && !isUtf8(contentType)) throw fieldError(name, `${quote(contentType)} is not UTF-8`);
  return encodeText(field, decodeText(data, name), name);
}

function bytesRecord(field: Field, data: Uint8Array): Uint8Array {
  const wire = new WireWriter();
  wire.tag(field.number, WireType.LEN);
  wire.bytes(data);
  return wire.finish();
}

function jsonRecords(
  body: Field,
  above: readonly Field[],
  name: string,
  json: Uint8Array,
  codecs: MethodCodecs,
): Uint8Array {
  if (json.length === 0) throw fieldError(name, "is empty, which is no JSON");
  try {
    return codecs.input.encodeRequest({ json, body, above, bound: { fields: new Map() } }).wire;
  } catch (error) {
    // What is no JSON at all says nothing of a field, and a form has several texts.
    if (error instanceof ConnectError && error.details.length === 0) throw fieldError(name, error.rawMessage);
    throw error;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @throws ConnectError invalid_argument naming the field when the bytes are not UTF-8. */
export function decodeText(data: Uint8Array, name: string): string {
  try {
    return utf8.decode(data);
  } catch {
    throw fieldError(name, "the text is not UTF-8");
  }
}
