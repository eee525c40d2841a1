/** JSON → the records of a message: objects, fields, lists, maps. A position in the text goes in, the one behind comes out. */
import type { Message } from "../schema/model.ts";
import type { Bound, BoundValue } from "./codec.ts";
import { equalBytes } from "./equal-bytes.ts";
import { writeAny } from "./fast-any.ts";
import { writeBound } from "./fast-bound.ts";
import { endLength, IRREGULAR, io, isZeroSince, reserve, skipSpace, writeVarint } from "./fast-io.ts";
import { writeMask } from "./fast-mask.ts";
import { endOfName, isTokenAt, type Name, skipColon } from "./fast-name.ts";
import { readQuotableDouble, readSigned, readUnsigned } from "./fast-number.ts";
import type { FieldPlan, MessagePlan } from "./fast-plan.ts";
import { writeDouble, writeEnum, writeFixed, writeFloat, writeInteger, writeZigzag } from "./fast-scalar.ts";
import { closeFields, closeKeys, type ManyKeys, openFields, openKeys, see, seeKey } from "./fast-seen.ts";
import { writeBase64, writeString } from "./fast-text.ts";
import { writeDuration, writeTimestamp } from "./fast-time.ts";
import { UnknownMembers } from "./fast-unknown.ts";
import { isNullAt, writeBoolean, writeListValue, writeStruct, writeValue } from "./fast-value.ts";
import * as Kind from "./kind.ts";
import * as Shape from "./shape.ts";

// Constants of this module, so that the optimizer sees numbers also where nothing was bundled: 8% of a call in Node.
const ANY = Kind.ANY;
const BOOL = Kind.BOOL;
const BYTES = Kind.BYTES;
const DOUBLE = Kind.DOUBLE;
const DURATION = Kind.DURATION;
const ENUM = Kind.ENUM;
const FIELD_MASK = Kind.FIELD_MASK;
const FIXED32 = Kind.FIXED32;
const FIXED64 = Kind.FIXED64;
const FLOAT = Kind.FLOAT;
const GROUP = Kind.GROUP;
const INT32 = Kind.INT32;
const INT64 = Kind.INT64;
const LIST_VALUE = Kind.LIST_VALUE;
const MESSAGE = Kind.MESSAGE;
const OTHER = Kind.OTHER;
const SFIXED32 = Kind.SFIXED32;
const SFIXED64 = Kind.SFIXED64;
const SINT32 = Kind.SINT32;
const SINT64 = Kind.SINT64;
const STRING = Kind.STRING;
const STRUCT = Kind.STRUCT;
const TIMESTAMP = Kind.TIMESTAMP;
const UINT32 = Kind.UINT32;
const UINT64 = Kind.UINT64;
const VALUE = Kind.VALUE;
const WRAPPER = Kind.WRAPPER;
const MAP = Shape.MAP;
const PACKED = Shape.PACKED;
const SINGULAR = Shape.SINGULAR;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_N = 0x6e;

/**
 * @param depth level of the message. @param bound values for its fields from elsewhere.
 * @param type where the `@type` of the Any stands whose object this is. Default: it is none.
 */
export function writeObject(plan: MessagePlan, start: number, depth: number, bound?: Bound, type = -1): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACE || depth > io.maxDepth) throw IRREGULAR;
  io.opened[depth] = start;
  const seen = openFields(plan.words);
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACE) {
    p++;
  } else {
    let previous: { next: Name<FieldPlan> | undefined } = plan.start;
    let unknown: UnknownMembers | undefined;
    for (;;) {
      let name = previous.next;
      if (name !== undefined && isTokenAt(name, p)) {
        p = skipSpace(p + name.tokenLength);
      } else {
        const end = endOfName(p);
        name = plan.table.find(p, end);
        if (name === undefined) {
          unknown ??= new UnknownMembers(type);
          p = unknown.skip(p, depth);
        } else {
          previous.next = name;
          p = skipColon(end);
        }
      }
      if (name !== undefined) {
        previous = name;
        p = writeMember(name.value, p, depth, seen, bound);
      }
      p = skipSpace(p);
      const byte = src[p++];
      if (byte === COMMA) p = skipSpace(p);
      else if (byte === CLOSE_BRACE) break;
      else throw IRREGULAR;
    }
    unknown?.close();
  }
  if (bound !== undefined) writeBound(plan, bound, depth, seen);
  closeFields(seen);
  return p;
}

/** @param depth of the message that has the field. */
function writeMember(field: FieldPlan, start: number, depth: number, seen: number, bound: Bound | undefined): number {
  see(seen, field.bit);
  const value = bound?.fields.get(field.field);
  if (value !== undefined) return writeComparedField(field, value, start, depth);
  if (io.src[start] === LETTER_N && field.kind !== VALUE && field.kind !== OTHER) return skipNull(start);
  if (field.oneofBit >= 0) see(seen, field.oneofBit);
  return writeField(field, start, depth);
}

function skipNull(p: number): number {
  if (!isNullAt(p)) throw IRREGULAR;
  return p + 4;
}

/** The records of one field, whose value is not null unless null is one of its values. @param depth of its message. */
export function writeField(field: FieldPlan, start: number, depth: number): number {
  switch (field.shape) {
    case SINGULAR:
      return writeSingular(field, start, depth, field.keepsZero);
    case MAP:
      return writeMap(field, start, depth);
    default:
      return writeList(field, start, depth);
  }
}

function writeSingular(field: FieldPlan, start: number, depth: number, keepsZero: boolean): number {
  reserve(0);
  const record = io.at;
  writeVarint(field.tag);
  const content = io.at;
  const end = writeContent(field, start, depth);
  if (field.kind === ENUM && takeUnknown()) io.at = record;
  else if (!keepsZero && isZeroSince(content)) io.at = record;
  return end;
}

/** Whether the enum value just read is one to leave out. */
function takeUnknown(): boolean {
  const { isUnknown } = io;
  io.isUnknown = false;
  return isUnknown;
}

function writeList(field: FieldPlan, start: number, depth: number): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACKET) throw IRREGULAR;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACKET) return p + 1;
  const packed = field.shape === PACKED;
  const kept = field.lengthBytes;
  reserve(0);
  const list = io.at;
  if (packed) {
    writeVarint(field.tag);
    io.at += kept;
  }
  const content = io.at;
  for (;;) {
    reserve(0);
    const record = io.at;
    if (!packed) writeVarint(field.tag);
    p = skipSpace(writeContent(field, p, depth));
    if (field.kind === ENUM && takeUnknown()) io.at = record;
    if (src[p] !== COMMA) break;
    p = skipSpace(p + 1);
  }
  if (src[p] !== CLOSE_BRACKET) throw IRREGULAR;
  // All elements may have been unknown.
  if (packed && io.at === content) io.at = list;
  else if (packed) field.lengthBytes = endLength(content, kept);
  return p + 1;
}

/** Each entry is a message { key = 1; value = 2; }, both always written. */
function writeMap(field: FieldPlan, start: number, depth: number): number {
  const { src } = io;
  const key = field.key as FieldPlan;
  const value = field.inner as FieldPlan;
  if (src[start] !== OPEN_BRACE) throw IRREGULAR;
  const place = openKeys();
  let many: ManyKeys | undefined;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACE) return p + 1;
  for (;;) {
    reserve(0);
    const record = io.at;
    writeVarint(field.tag);
    const entry = ++io.at;
    writeVarint(key.tag);
    const content = io.at;
    p = skipColon(writeMapKey(key, p));
    many = seeKey(place, content, many);
    reserve(0);
    writeVarint(value.tag);
    p = skipSpace(writeContent(value, p, depth));
    if (value.kind === ENUM && takeUnknown()) io.at = record;
    else endLength(entry, 1);
    if (src[p] !== COMMA) break;
    p = skipSpace(p + 1);
  }
  if (src[p] !== CLOSE_BRACE) throw IRREGULAR;
  closeKeys(place);
  return p + 1;
}

/** Always a string in JSON. */
function writeMapKey(key: FieldPlan, start: number): number {
  if (key.kind === STRING) return writeString(start);
  if (io.src[start] !== QUOTE) throw IRREGULAR;
  if (key.kind !== BOOL) return writeContent(key, start, 0);
  const end = writeBoolean(start + 1);
  if (io.src[end] !== QUOTE) throw IRREGULAR;
  return end + 1;
}

/** What stands behind the tag of a record: one value, zero or not. @param depth of the message that has the field. */
function writeContent(field: FieldPlan, start: number, depth: number): number {
  switch (field.kind) {
    case STRING:
      return writeString(start);
    case BYTES:
      return writeBase64(start);
    case BOOL:
      return writeBoolean(start);
    case INT32:
      return writeInteger(readSigned(start, 32));
    case INT64:
      return writeInteger(readSigned(start, 64));
    case UINT32:
      return writeInteger(readUnsigned(start, 32));
    case UINT64:
      return writeInteger(readUnsigned(start, 64));
    case SINT32:
      return writeZigzag(readSigned(start, 32));
    case SINT64:
      return writeZigzag(readSigned(start, 64));
    case FIXED32:
      return writeFixed(readUnsigned(start, 32), 4);
    case FIXED64:
      return writeFixed(readUnsigned(start, 64), 8);
    case SFIXED32:
      return writeFixed(readSigned(start, 32), 4);
    case SFIXED64:
      return writeFixed(readSigned(start, 64), 8);
    case FLOAT:
      return writeFloat(readQuotableDouble(start));
    case DOUBLE:
      return writeDouble(readQuotableDouble(start));
    case ENUM:
      return writeEnum(field, start);
    case GROUP:
      return writeGroup(field, start, depth + 1);
    default:
      return writeMessage(field, start, depth + 1);
  }
}

/** @param depth its level. */
function writeGroup(field: FieldPlan, start: number, depth: number): number {
  const end = writeObject(field.message, start, depth);
  reserve(0);
  writeVarint(field.endTag);
  return end;
}

/** A length-delimited message. @param depth its level. */
function writeMessage(field: FieldPlan, start: number, depth: number, bound?: Bound): number {
  if (depth > io.maxDepth) throw IRREGULAR;
  const kept = field.lengthBytes;
  io.at += kept;
  const content = io.at;
  const end = writeMessageContent(field, start, depth, bound);
  field.lengthBytes = endLength(content, kept);
  return end;
}

/** @param type as for `writeObject`, of a message in an Any. */
function writeMessageContent(field: FieldPlan, start: number, depth: number, bound?: Bound, type?: number): number {
  switch (field.kind) {
    case MESSAGE:
      return writeObject(field.message, start, depth, bound, type);
    case WRAPPER:
      return writeSingular(field.inner as FieldPlan, start, depth, false);
    case TIMESTAMP:
      return writeTimestamp(start);
    case DURATION:
      return writeDuration(start);
    case STRUCT:
      return writeStruct(start, depth);
    case VALUE:
      return writeValue(start, depth);
    case LIST_VALUE:
      return writeListValue(start, depth);
    case FIELD_MASK:
      return writeMask(start);
    case ANY:
      return writeAny(field.field.message as Message, start, depth, writeMessageContent);
    default:
      throw IRREGULAR;
  }
}

/** A field that is bound as well: both must be the same, or what is bound stands below it. @param depth of its message. */
function writeComparedField(field: FieldPlan, value: BoundValue, start: number, depth: number): number {
  if (field.shape !== SINGULAR) throw IRREGULAR;
  reserve(0);
  const record = io.at;
  if (value.kind === "message") {
    if (field.kind !== MESSAGE) throw IRREGULAR;
    writeVarint(field.tag);
    return writeMessage(field, start, depth + 1, value.bound);
  }
  if (field.kind >= MESSAGE) throw IRREGULAR;
  const end = writeSingular(field, start, depth, true);
  if (!equalBytes(io.out.subarray(record, io.at), value.wire)) throw IRREGULAR;
  return end;
}

/** The JSON is the value of one field of the message; the rest of it is bound. */
export function writeBody(plan: MessagePlan, field: FieldPlan, start: number, bound: Bound): number {
  const seen = openFields(plan.words);
  const value = bound.fields.get(field.field);
  let end: number;
  if (value !== undefined) {
    see(seen, field.bit);
    end = writeComparedField(field, value, start, 1);
  } else if (io.src[start] === LETTER_N && field.kind !== VALUE && field.kind !== OTHER) {
    end = skipNull(start);
  } else {
    end = writeField(field, start, 1);
  }
  writeBound(plan, bound, 1, seen);
  return end;
}
