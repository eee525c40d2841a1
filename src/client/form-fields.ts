/** Binds the fields of forms to those of the request message. */
import { ConnectError } from "@connectrpc/connect";
import type { Bound } from "../codec/codec.ts";
import { fieldError, quote } from "../codec/error.ts";
import { encodeText } from "../codec/text.ts";
import { wrapped } from "../codec/text-content.ts";
import { strictUtf8 } from "../codec/utf8.ts";
import * as WireType from "../codec/wire-type.ts";
import { WireWriter } from "../codec/wire-writer.ts";
import { isJson, parseMediaType } from "../protocol/media-type.ts";
import type { Field } from "../schema/model.ts";
import { hasTextForm } from "../schema/special.ts";
import * as Type from "../schema/type.ts";
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
  readonly #leaves: Set<string> | undefined;
  /** Of a request message that is a google.api.HttpBody: the one part of its form. */
  #whole: Uint8Array | undefined;

  /** @param leaves gets the leaf paths of what the form has, in proto names, from the target on. */
  constructor(target: FormTarget, codecs: MethodCodecs, options: FormOptions, leaves?: Set<string>) {
    this.#target = target;
    this.#codecs = codecs;
    this.#options = options;
    this.#leaves = leaves;
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
    this.#put(path, encodeText(leaf, text, name), name);
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
    const type = contentType === null ? undefined : parseMediaType(contentType);
    if (type && isJson(type) && !takesBytes(leaf)) this.#putJson(path, leaf, data, name);
    else this.#put(path, partRecord(leaf, head, data), name);
  }

  #putJson(path: readonly Field[], body: Field, json: Uint8Array, name: string): void {
    if (json.length === 0) throw fieldError(name, "is empty, which is no JSON");
    const request = { json, body, above: path.slice(0, -1), bound: { fields: new Map() } };
    try {
      const { wire, mask = [] } = this.#codecs.input.encodeRequest({ ...request, mask: this.#leaves !== undefined });
      // None: it was null, or a list of nothing.
      if (wire.length > 0) put(this.#bound, path, wire, { name, from: "form" });
      const start = namesOf(this.#target.above).length;
      for (const leaf of mask) this.#leaves?.add(start === 0 ? leaf : leaf.slice(start + 1));
    } catch (error) {
      // What is no JSON at all says nothing of a field, and a form has several texts.
      if (error instanceof ConnectError && error.details.length === 0) throw fieldError(name, error.rawMessage);
      throw error;
    }
  }

  #put(path: readonly Field[], wire: Uint8Array, name: string): void {
    put(this.#bound, path, wire, { name, from: "form" });
    this.#leaves?.add(namesOf(path.slice(this.#target.above.length)));
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

function namesOf(path: readonly Field[]): string {
  return path.map(({ name }) => name).join(".");
}

/** Fields that are the bytes of a part, whatever its type. */
function takesBytes({ type, message }: Field): boolean {
  if (type === Type.BYTES) return true;
  return message !== undefined && (isHttpBody(message) || message.name === "google.protobuf.BytesValue");
}

/** The record of a part that is not JSON to its field. */
function partRecord(field: Field, { name, contentType }: PartHead, data: Uint8Array): Uint8Array {
  const { message } = field;
  if (takesBytes(field)) {
    if (!message) return bytesRecord(field, data);
    return bodyRecord(
      field,
      isHttpBody(message) ? httpBodyContent(contentType ?? null, data) : bytesRecord(wrapped(message), data),
    );
  }
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

/** @throws ConnectError invalid_argument naming the field when the bytes are not UTF-8. */
export function decodeText(data: Uint8Array, name: string): string {
  try {
    return strictUtf8.decode(data);
  } catch {
    throw fieldError(name, "the text is not UTF-8");
  }
}
