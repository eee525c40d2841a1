/** JSON → the records of a message: objects, fields, lists, maps. A position in the text goes in, the one behind comes out. */
import type { Bound, BoundValue } from "./codec.ts";
import { equalBytes } from "./equal-bytes.ts";
import {
  double,
  endLength,
  halves,
  IRREGULAR,
  io,
  isZeroSince,
  reserve,
  skipSpace,
  writeRaw,
  writeVarint,
  writeVarint64,
} from "./fast-io.ts";
import { endOfName, isTokenAt, type Name, skipColon } from "./fast-name.ts";
import { readQuotableDouble, readSigned, readUnsigned } from "./fast-number.ts";
import { type FieldPlan, Kind, type MessagePlan, planOf, Shape } from "./fast-plan.ts";
import { closeFields, closeKeys, isSeen, openFields, openKeys, see, seeKey } from "./fast-seen.ts";
import { writeBase64, writeString } from "./fast-text.ts";
import { writeDuration, writeTimestamp } from "./fast-time.ts";
import { isNullAt, writeBoolean, writeListValue, writeStruct, writeValue } from "./fast-value.ts";

// Constants of this module, so that the optimizer sees numbers: about 3% of a call.
const {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  ENUM,
  FIXED32,
  FIXED64,
  FLOAT,
  GROUP,
  INT32,
  INT64,
  OTHER,
  LIST_VALUE,
  MESSAGE,
  SFIXED32,
  SFIXED64,
  SINT32,
  SINT64,
  STRING,
  STRUCT,
  TIMESTAMP,
  UINT32,
  UINT64,
  VALUE,
  WRAPPER,
} = Kind;
const { SINGULAR, PACKED, MAP } = Shape;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_N = 0x6e;

/** @param depth level of the message. @param bound values for its fields from elsewhere. */
export function writeObject(plan: MessagePlan, start: number, depth: number, bound?: Bound): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACE || depth > io.maxDepth) throw IRREGULAR;
  io.opened[depth] = start;
  const seen = openFields(plan.words);
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACE) {
    p++;
  } else {
    let previous: { next: Name<FieldPlan> | undefined } = plan.start;
    for (;;) {
      let name = previous.next;
      if (name !== undefined && isTokenAt(name, p)) {
        p = skipSpace(p + name.tokenLength);
      } else {
        const end = endOfName(p);
        name = plan.table.find(p, end);
        if (name === undefined) throw IRREGULAR;
        previous.next = name;
        p = skipColon(end);
      }
      previous = name;
      const field = name.value;
      see(seen, field.bit);
      const value = bound?.fields.get(field.field);
      if (value !== undefined) {
        p = writeComparedField(field, value, p, depth);
      } else if (src[p] === LETTER_N && field.kind !== VALUE && field.kind !== OTHER) {
        p = skipNull(p);
      } else {
        if (field.oneofBit >= 0) see(seen, field.oneofBit);
        p = writeField(field, p, depth);
      }
      p = skipSpace(p);
      const byte = src[p++];
      if (byte === COMMA) p = skipSpace(p);
      else if (byte === CLOSE_BRACE) break;
      else throw IRREGULAR;
    }
  }
  if (bound !== undefined) writeBound(plan, bound, depth, seen);
  closeFields(seen);
  return p;
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
  if (!keepsZero && isZeroSince(content)) io.at = record;
  return end;
}

function writeList(field: FieldPlan, start: number, depth: number): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACKET) throw IRREGULAR;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACKET) return p + 1;
  const packed = field.shape === PACKED;
  const kept = field.lengthBytes;
  reserve(0);
  if (packed) {
    writeVarint(field.tag);
    io.at += kept;
  }
  const content = io.at;
  for (;;) {
    reserve(0);
    if (!packed) writeVarint(field.tag);
    p = skipSpace(writeContent(field, p, depth));
    if (src[p] !== COMMA) break;
    p = skipSpace(p + 1);
  }
  if (src[p] !== CLOSE_BRACKET) throw IRREGULAR;
  if (packed) field.lengthBytes = endLength(content, kept);
  return p + 1;
}

/** Each entry is a message { key = 1; value = 2; }, both always written. */
function writeMap(field: FieldPlan, start: number, depth: number): number {
  const { src } = io;
  const key = field.key as FieldPlan;
  const value = field.inner as FieldPlan;
  if (src[start] !== OPEN_BRACE) throw IRREGULAR;
  const place = openKeys();
  let many: Set<number> | undefined;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACE) return p + 1;
  for (;;) {
    reserve(0);
    writeVarint(field.tag);
    const entry = ++io.at;
    writeVarint(key.tag);
    const content = io.at;
    p = skipColon(writeMapKey(key, p));
    many = seeKey(place, content, many);
    reserve(0);
    writeVarint(value.tag);
    p = skipSpace(writeContent(value, p, depth));
    endLength(entry, 1);
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
  let end: number;
  switch (field.kind) {
    case STRING:
      return writeString(start);
    case BYTES:
      return writeBase64(start);
    case BOOL:
      return writeBoolean(start);
    case INT32:
      end = readSigned(start, 32);
      writeVarint64(halves[0] as number, halves[1] as number);
      return end;
    case INT64:
      end = readSigned(start, 64);
      writeVarint64(halves[0] as number, halves[1] as number);
      return end;
    case UINT32:
      end = readUnsigned(start, 32);
      writeVarint64(halves[0] as number, halves[1] as number);
      return end;
    case UINT64:
      end = readUnsigned(start, 64);
      writeVarint64(halves[0] as number, halves[1] as number);
      return end;
    case SINT32:
      end = readSigned(start, 32);
      writeZigzag();
      return end;
    case SINT64:
      end = readSigned(start, 64);
      writeZigzag();
      return end;
    case FIXED32:
      end = readUnsigned(start, 32);
      return writeFixed(end, 4);
    case FIXED64:
      end = readUnsigned(start, 64);
      return writeFixed(end, 8);
    case SFIXED32:
      end = readSigned(start, 32);
      return writeFixed(end, 4);
    case SFIXED64:
      end = readSigned(start, 64);
      return writeFixed(end, 8);
    case FLOAT:
      end = readQuotableDouble(start);
      writeFloat(double[0] as number);
      return end;
    case DOUBLE:
      end = readQuotableDouble(start);
      io.outView.setFloat64(io.at, double[0] as number, true);
      io.at += 8;
      return end;
    case ENUM:
      return writeEnum(field, start);
    case GROUP:
      end = writeObject(field.message, start, depth + 1);
      reserve(0);
      writeVarint(field.endTag);
      return end;
    default:
      return writeMessage(field, start, depth + 1);
  }
}

/** A length-delimited message. @param depth its level. */
function writeMessage(field: FieldPlan, start: number, depth: number, bound?: Bound): number {
  if (depth > io.maxDepth) throw IRREGULAR;
  const kept = field.lengthBytes;
  io.at += kept;
  const content = io.at;
  let end: number;
  switch (field.kind) {
    case MESSAGE:
      end = writeObject(field.message, start, depth, bound);
      break;
    case WRAPPER:
      end = writeSingular(field.inner as FieldPlan, start, depth, false);
      break;
    case TIMESTAMP:
      end = writeTimestamp(start);
      break;
    case DURATION:
      end = writeDuration(start);
      break;
    case STRUCT:
      end = writeStruct(start, depth);
      break;
    case VALUE:
      end = writeValue(start, depth);
      break;
    case LIST_VALUE:
      end = writeListValue(start, depth);
      break;
    default:
      throw IRREGULAR;
  }
  field.lengthBytes = endLength(content, kept);
  return end;
}

function writeZigzag(): void {
  const low = halves[0] as number;
  const high = halves[1] as number;
  const sign = high >> 31;
  writeVarint64((low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign);
}

function writeFixed(end: number, size: number): number {
  io.outView.setInt32(io.at, halves[0] as number, true);
  if (size === 8) io.outView.setInt32(io.at + 4, halves[1] as number, true);
  io.at += size;
  return end;
}

function writeFloat(value: number): void {
  if (!Number.isFinite(Math.fround(value)) && Number.isFinite(value)) throw IRREGULAR;
  io.outView.setFloat32(io.at, value, true);
  io.at += 4;
}

/** By name or, when it is open, by number. */
function writeEnum(field: FieldPlan, start: number): number {
  if (io.src[start] !== QUOTE) {
    if (field.field.enum?.closed) throw IRREGULAR;
    const end = readSigned(start, 32);
    writeVarint64(halves[0] as number, halves[1] as number);
    return end;
  }
  const end = endOfName(start);
  const name = field.names?.find(start, end);
  if (name === undefined) throw IRREGULAR;
  const number = name.value;
  writeVarint64(number, number >> 31);
  return end;
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

/** Writes the bound values of a message but those that its JSON had. Oneofs are not for here. */
export function writeBound(plan: MessagePlan, bound: Bound, depth: number, seen: number): void {
  for (const [field, value] of bound.fields) {
    const own = plan.byField.get(field);
    if (own === undefined || field.oneof !== undefined) throw IRREGULAR;
    if (isSeen(seen, own.bit)) continue;
    if (value.kind === "record") writeRaw(value.wire);
    else writeBoundMessage(own, value.bound, depth + 1);
  }
}

/** @param depth its level. */
function writeBoundMessage(field: FieldPlan, bound: Bound, depth: number): void {
  if (field.kind !== MESSAGE || field.shape !== SINGULAR || depth > io.maxDepth) throw IRREGULAR;
  reserve(0);
  writeVarint(field.tag);
  const kept = field.lengthBytes;
  io.at += kept;
  const content = io.at;
  const plan = planOf(field.field.message as NonNullable<typeof field.field.message>);
  const seen = openFields(plan.words);
  writeBound(plan, bound, depth, seen);
  closeFields(seen);
  field.lengthBytes = endLength(content, kept);
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
