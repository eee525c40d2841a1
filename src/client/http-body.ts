/** google.api.HttpBody: bodies that are not JSON. Their bytes and content type pass as they are. */
import { Code, ConnectError } from "@connectrpc/connect";
import { writeMessageRecord } from "../codec/record.ts";
import { readRecords, type WireRecord } from "../codec/wire-records.ts";
import * as WireType from "../codec/wire-type.ts";
import { WireWriter } from "../codec/wire-writer.ts";
import type { Field, Message } from "../schema/model.ts";

/** Field numbers of google.api.HttpBody. */
const CONTENT_TYPE = 1;
const DATA = 2;

/** What a field value of a header can be (RFC 9110 §5.5), in ASCII. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

export interface HttpBody {
  readonly contentType: string;
  readonly data: Uint8Array;
}

export function isHttpBody(message: Message): boolean {
  return message.name === "google.api.HttpBody";
}

/** A google.api.HttpBody in wire form. */
export function httpBodyContent(contentType: string | null, data: Uint8Array): Uint8Array {
  const wire = new WireWriter();
  if (contentType) {
    wire.tag(CONTENT_TYPE, WireType.LEN);
    wire.string(contentType);
  }
  if (data.length > 0) {
    wire.tag(DATA, WireType.LEN);
    wire.bytes(data);
  }
  return wire.finish();
}

/** The record of a message field, around the message in wire form. */
export function bodyRecord(field: Field, content: Uint8Array): Uint8Array {
  const wire = new WireWriter();
  writeMessageRecord(wire, field, () => wire.raw(content));
  return wire.finish();
}

/**
 * @param wire a google.api.HttpBody.
 * @throws ConnectError internal when it is none, or when its content type is no header value.
 */
export function readHttpBody(wire: Uint8Array): HttpBody {
  let contentType = "";
  let data: Uint8Array = new Uint8Array(0);
  for (const { number, content } of recordsOf(wire)) {
    if (content === undefined) continue;
    if (number === CONTENT_TYPE) contentType = new TextDecoder().decode(content);
    else if (number === DATA) data = content;
  }
  if (!HEADER_VALUE.test(contentType)) {
    throw new ConnectError("google.api.HttpBody.content_type of the answer is no header value", Code.Internal);
  }
  return { contentType: contentType || "application/octet-stream", data };
}

/**
 * The message that a singular field holds, in wire form; records of it are joined, which merges them. Empty when the
 * field is unset.
 *
 * @throws ConnectError internal when the bytes are no message.
 */
export function takeField(wire: Uint8Array, field: Field): Uint8Array {
  const joined = new WireWriter();
  for (const { number, content } of recordsOf(wire)) {
    if (number === field.number && content) joined.raw(content);
  }
  return joined.finish();
}

function recordsOf(wire: Uint8Array): readonly WireRecord[] {
  try {
    return [...readRecords(wire)];
  } catch (error) {
    throw new ConnectError("the answer is not a protobuf message", Code.Internal, undefined, undefined, error);
  }
}
