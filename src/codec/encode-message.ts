/** JSON → the records of a message: objects, fields, lists, maps, and what is bound beside them. */

import { hashKey } from "../schema/hash-key.ts";
import { findField } from "../schema/lookup.ts";
import type { Field, Message } from "../schema/model.ts";
import { type Special, specialOf } from "../schema/special.ts";
import * as Type from "../schema/type.ts";
import { encodeAny } from "./encode-any.ts";
import { claimBound, writeBound } from "./encode-bound.ts";
import { type EncodeJob, joinPath, type Place } from "./encode-job.ts";
import { encodeScalar, takesNull } from "./encode-scalar.ts";
import { encodeListValue, encodeStruct, encodeValue } from "./encode-value.ts";
import { equalBytes } from "./equal-bytes.ts";
import { quote, shorten } from "./error.ts";
import { skippedSoFar, writtenSoFar } from "./fast-io.ts";
import { OneofClaims } from "./oneof-claims.ts";
import { writeMessageRecord } from "./record.ts";
import { scalarOf, typeName } from "./scalar.ts";
import { textFault, wrapped, writeTextContent } from "./text-content.ts";
import * as WireType from "./wire-type.ts";

/** Writes the content of a message from the JSON value that follows. */
export function encodeMessage(job: EncodeJob, message: Message, place: Place): void {
  job.reader.peek();
  const fault = job.depthFault(place.depth);
  if (fault) throw job.error(fault);
  const special = specialOf(message);
  if (special === undefined) {
    if (!encodeFast(job, message, place)) encodeObject(job, message, place);
  } else if (place.bound === undefined) encodeSpecial(job, special, message, place.depth, false);
  else encodeSpecialAndBound(job, special, message, place);
}

/**
 * Writes the records of one field from the JSON value that follows. Null leaves it unset.
 *
 * @param place of the message that has the field.
 * @param claims of that message.
 * @param mask the field's own path among the leaf paths, when they are collected.
 * @returns whether a record was written. A value that is bound to the field was compared with it then.
 * @throws ConnectError when the value differs from the bound one.
 */
export function encodeField(job: EncodeJob, field: Field, place: Place, claims: OneofClaims, mask?: string): boolean {
  const { reader, writer } = job;
  const bound = place.bound?.fields.get(field);
  const isList = field.repeated || field.map !== undefined;
  job.path.push(field);
  const isNull = reader.peek() === "null" && (isList || !takesNull(field));
  const mark = writer.length;
  let taken = true;
  if (isNull) {
    reader.readNull();
  } else {
    const fault = claims.claim(field);
    if (fault) throw job.error(fault);
    if (field.map) encodeMap(job, field.number, field.map, place.depth);
    // A bound value is written in the plainest form: not packed, and zero kept. So is what is compared with it.
    else if (field.repeated) encodeList(job, field, place.depth, field.packed && bound === undefined);
    else {
      const below = bound?.kind === "message" ? bound.bound : undefined;
      const keepsZero = field.presence || bound !== undefined;
      taken = encodeSingular(job, field, { depth: place.depth + 1, bound: below, mask }, keepsZero);
    }
  }
  const written = writer.length > mark;
  if (written && bound?.kind === "record" && !equalBytes(writer.since(mark), bound.wire)) {
    throw job.error(`the body has another value than the ${bound.from}`);
  }
  const isLeaf = isNull || isList || !field.message || specialOf(field.message) !== undefined;
  if (mask && taken && isLeaf && bound === undefined) job.addLeaf(mask);
  job.path.pop();
  return written;
}

/** Where nothing but the JSON counts. @returns false, with nothing written, where it does not work. */
function encodeFast(job: EncodeJob, message: Message, { depth, bound, mask, any }: Place): boolean {
  if (bound !== undefined || mask !== undefined || any) return false;
  const end = job.parts?.encode(message, job.reader.tokenStart, depth);
  if (end === undefined) return false;
  job.writer.raw(writtenSoFar());
  job.unknownFields += skippedSoFar();
  job.reader.seek(end);
  return true;
}

function encodeObject(job: EncodeJob, message: Message, place: Place): void {
  const { reader } = job;
  const { bound, mask } = place;
  const kind = reader.peek();
  if (kind !== "object") throw job.wrongKind("an object", kind);
  /** Fields, and keys that are none. */
  const seen = new Set<Field | string>();
  const written = bound && new Set<Field>();
  const claims = new OneofClaims();
  if (bound) claimBound(job, claims, bound);
  reader.openObject();
  let key = reader.firstKey();
  // An object without keys is a leaf itself.
  if (key === undefined && mask && bound === undefined) job.addLeaf(mask);
  for (; key !== undefined; key = reader.nextKey()) {
    const member = place.any && key === "@type" ? key : findField(message, key);
    if (member === undefined && !job.ignoresUnknown) {
      throw job.error(`no such field in ${message.name}`, job.pathTo(shorten(key)));
    }
    const name = typeof member === "object" ? member.name : key;
    const identity = member ?? hashKey(key);
    if (seen.has(identity)) throw job.error("given more than once", job.pathTo(shorten(name)));
    seen.add(identity);
    if (member === undefined) job.skipUnknown(place.depth);
    else if (member === "@type") reader.readString();
    else if (encodeField(job, member, place, claims, mask === undefined ? undefined : joinPath(mask, name))) {
      written?.add(member);
    }
  }
  if (bound && written) writeBound(job, bound, place.depth, written);
}

/** @param place of the value. @returns false when it was an unknown enum name to be ignored. */
function encodeSingular(job: EncodeJob, field: Field, place: Place, keepsZero: boolean): boolean {
  const { writer } = job;
  const start = writer.length;
  if (field.message) {
    const { message } = field;
    writeMessageRecord(writer, field, () => encodeMessage(job, message, place));
    return true;
  }
  writer.tag(field.number, scalarOf(field).wireType);
  const mark = writer.length;
  const taken = encodeScalar(job, field);
  if (!taken || (!keepsZero && writer.isZeroSince(mark))) writer.truncate(start);
  return taken;
}

/** @param depth level of the message that has the list. */
function encodeList(job: EncodeJob, field: Field, depth: number, packed: boolean): void {
  const { reader, writer } = job;
  const kind = reader.peek();
  if (kind !== "array") throw job.wrongKind("an array", kind);
  const start = writer.length;
  let content = start;
  if (packed) {
    writer.tag(field.number, WireType.LEN);
    content = writer.begin();
  }
  reader.openArray();
  let index = 0;
  for (let more = reader.firstElement(); more; more = reader.nextElement()) {
    job.path.push(index++);
    refuseNull(job, field);
    if (packed) encodeScalar(job, field);
    else encodeSingular(job, field, { depth: depth + 1 }, true);
    job.path.pop();
  }
  if (packed && writer.length === content) writer.truncate(start);
  else if (packed) writer.end(content);
}

/** Each entry is a message { key = 1; value = 2; }, both always written. @param depth level of the message with the map. */
function encodeMap(job: EncodeJob, number: number, map: NonNullable<Field["map"]>, depth: number): void {
  const { reader, writer } = job;
  const kind = reader.peek();
  if (kind !== "object") throw job.wrongKind("an object", kind);
  const seen = new Set<string>();
  reader.openObject();
  for (let key = reader.firstKey(); key !== undefined; key = reader.nextKey()) {
    const start = writer.length;
    writer.tag(number, WireType.LEN);
    const entry = writer.begin();
    const scalar = scalarOf(map.key);
    writer.tag(map.key.number, scalar.wireType);
    const mark = writer.length;
    if (!scalar.write(writer, key)) throw job.error(`the key ${quote(key)} is not a value of type ${scalar.name}`);
    // Two texts may be one key: "1e2" and "100".
    const identity = hashKey(map.key.type === Type.STRING ? key : String(writer.since(mark)));
    job.path.push(key);
    if (seen.has(identity)) throw job.error("given more than once");
    seen.add(identity);
    refuseNull(job, map.value);
    if (encodeSingular(job, map.value, { depth: depth + 1 }, true)) writer.end(entry);
    else writer.truncate(start);
    job.path.pop();
  }
}

/** Null cannot be an element of a list or a value of a map, save for types of which it is a value. */
function refuseNull(job: EncodeJob, field: Field): void {
  if (job.reader.peek() === "null" && !takesNull(field)) throw job.error(`expected ${typeName(field)}, got null`);
}

/** @param keepsZero also a wrapper's zero is written, which its record alone would tell. */
function encodeSpecial(job: EncodeJob, special: Special, message: Message, depth: number, keepsZero: boolean): void {
  switch (special) {
    case "wrapper":
      encodeSingular(job, wrapped(message), { depth }, keepsZero);
      return;
    case "text":
      encodeTextContent(job, message);
      return;
    case "struct":
      encodeStruct(job, depth);
      return;
    case "list":
      encodeListValue(job, depth);
      return;
    case "value":
      encodeValue(job, depth);
      return;
    case "any":
      encodeAny(job, depth, encodeMessage);
  }
}

function encodeTextContent(job: EncodeJob, message: Message): void {
  const kind = job.reader.peek();
  if (kind !== "string") throw job.wrongKind("a string", kind);
  const text = job.reader.readString();
  if (!writeTextContent(job.writer, message, text)) {
    throw job.error(textFault(message, quote(text)));
  }
}

/** Such a value cannot be merged with another: what is bound below it must be all of it. */
function encodeSpecialAndBound(job: EncodeJob, special: Special, message: Message, place: Place): void {
  const { writer } = job;
  const mark = writer.length;
  encodeSpecial(job, special, message, place.depth, true);
  const own = writer.since(mark).slice();
  writer.truncate(mark);
  if (place.bound) writeBound(job, place.bound, place.depth, new Set());
  if (!equalBytes(own, writer.since(mark))) throw job.error("the body has another value than the path or query");
}
