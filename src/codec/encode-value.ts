/** google.protobuf.Struct, Value and ListValue: any JSON → the content of the message. */

import { hashKey } from "../schema/hash-key.ts";
import type { EncodeJob } from "./encode-job.ts";
import { quote } from "./error.ts";
import type { JsonKind } from "./json-reader.ts";
import { parseDouble } from "./number.ts";
import * as WireType from "./wire-type.ts";

/** The members of Value's oneof `kind` (struct.proto). */
const NULL_VALUE = 1;
const NUMBER_VALUE = 2;
const STRING_VALUE = 3;
const BOOL_VALUE = 4;
const STRUCT_VALUE = 5;
const LIST_VALUE = 6;

/** Struct { map<string, Value> fields = 1; } @param depth level of the Struct; the values in it are one deeper. */
export function encodeStruct(job: EncodeJob, depth: number): void {
  const { reader, writer } = job;
  const kind = peekAt(job, depth);
  if (kind !== "object") throw job.wrongKind("an object", kind);
  const seen = new Set<string>();
  reader.openObject();
  for (let key = reader.firstKey(); key !== undefined; key = reader.nextKey()) {
    if (!key.isWellFormed()) throw job.error(`the key ${quote(key)} is not a value of type string`);
    job.path.push(key);
    const identity = hashKey(key);
    if (seen.has(identity)) throw job.error("given more than once");
    seen.add(identity);
    writer.tag(1, WireType.LEN);
    const entry = writer.begin();
    writer.tag(1, WireType.LEN);
    writer.string(key);
    writer.tag(2, WireType.LEN);
    const value = writer.begin();
    encodeValue(job, depth + 1);
    writer.end(value);
    writer.end(entry);
    job.path.pop();
  }
}

/** ListValue { repeated Value values = 1; } @param depth level of the ListValue; the values in it are one deeper. */
export function encodeListValue(job: EncodeJob, depth: number): void {
  const { reader, writer } = job;
  const kind = peekAt(job, depth);
  if (kind !== "array") throw job.wrongKind("an array", kind);
  reader.openArray();
  let index = 0;
  for (let more = reader.firstElement(); more; more = reader.nextElement()) {
    job.path.push(index++);
    writer.tag(1, WireType.LEN);
    const value = writer.begin();
    encodeValue(job, depth + 1);
    writer.end(value);
    job.path.pop();
  }
}

/** @param depth level of the Value; a Struct or ListValue in it is one deeper. */
export function encodeValue(job: EncodeJob, depth: number): void {
  const { reader, writer } = job;
  const kind = peekAt(job, depth);
  switch (kind) {
    case "null":
      reader.readNull();
      writer.tag(NULL_VALUE, WireType.VARINT);
      writer.varint(0);
      return;
    case "number":
      writer.tag(NUMBER_VALUE, WireType.I64);
      writer.double(readDouble(job));
      return;
    case "string":
      writer.tag(STRING_VALUE, WireType.LEN);
      writer.string(readText(job));
      return;
    case "boolean":
      writer.tag(BOOL_VALUE, WireType.VARINT);
      writer.varint(reader.readBoolean() ? 1 : 0);
      return;
    case "object":
    case "array": {
      writer.tag(kind === "object" ? STRUCT_VALUE : LIST_VALUE, WireType.LEN);
      const start = writer.begin();
      if (kind === "object") encodeStruct(job, depth + 1);
      else encodeListValue(job, depth + 1);
      writer.end(start);
    }
  }
}

/** Each message on the wire is a level, so that what is accepted here can be read by those who count them there. */
function peekAt(job: EncodeJob, depth: number): JsonKind {
  const kind = job.reader.peek();
  const fault = job.depthFault(depth);
  if (fault) throw job.error(fault);
  return kind;
}

function readDouble(job: EncodeJob): number {
  const text = job.reader.readNumber();
  const value = parseDouble(text);
  if (value === undefined) throw job.error(`${quote(text)} is not a value of type double`);
  return value;
}

function readText(job: EncodeJob): string {
  const text = job.reader.readString();
  if (!text.isWellFormed()) throw job.error(`${quote(text)} is not a value of type string`);
  return text;
}
