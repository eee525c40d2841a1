/** JSON → the records of a message: objects, fields, lists, maps. A position in the text goes in, the one behind comes out. */
import { checkKeys } from "./encode-keys.ts";
import { writeMask } from "./encode-mask.ts";
import { endOfName, findName, isNameAt, skipColon, skipSpace } from "./encode-name.ts";
import { writeScalar } from "./encode-scalar.ts";
import { writeString } from "./encode-text.ts";
import { writeDuration, writeTimestamp } from "./encode-time.ts";
import { isNullAt, writeBoolean, writeListValue, writeStruct, writeValue } from "./encode-value.ts";
import {
  ANY,
  BOOL,
  DURATION,
  FIELD_MASK,
  GROUP,
  LIST_VALUE,
  MESSAGE,
  STRING,
  STRUCT,
  TIMESTAMP,
  VALUE,
  WRAPPER,
} from "./kind.ts";
import {
  FIELD_FLAGS,
  FIELD_INDEX,
  FIELD_KEY,
  FIELD_KIND,
  FIELD_LENGTH_BYTES,
  FIELD_ONEOF,
  FIELD_SHAPE,
  FIELD_TAG,
  FIELD_TAG_BYTES,
  FIELD_VALUE,
  HAS_PRESENCE,
  MESSAGE_FIELDS,
  MESSAGE_KIND,
  MESSAGE_SEEN_BYTES,
  MESSAGE_START,
  NAME_FIELD,
  NAME_NEXT,
  NAME_TOKEN_BYTES,
  TAKES_NULL,
} from "./layout.ts";
import { at, bitOf, endLength, giveUp, levels, reserve, setAt, writeByte } from "./memory.ts";
import { MAP, PACKED, SINGULAR } from "./shape.ts";
import { messageOf, typeOf } from "./types.ts";

/** Bits of the fields and oneofs that were seen, of all objects that are open. */
const SEEN_BYTES = 1 << 15;
export const SEEN: usize = memory.data(SEEN_BYTES, 8);
let seenTop: usize = 0;

export function forgetSeen(): void {
  seenTop = SEEN;
}

/** @returns the place of the bits of one more object. */
function openSeen(bytes: usize): usize {
  const place = seenTop;
  seenTop += bytes;
  if (seenTop > SEEN + SEEN_BYTES) giveUp();
  for (let word = place; word < seenTop; word += 8) store<u64>(word, 0);
  return place;
}

function closeSeen(place: usize): void {
  seenTop = place;
}

/** Notes a field or oneof that must not come twice. */
// @inline
function see(place: usize, bit: u32): void {
  const word = place + ((<usize>(bit >> 6)) << 3);
  const before = load<u64>(word);
  const mask = (<u64>1) << (<u64>(bit & 63));
  if ((before & mask) !== 0) giveUp();
  store<u64>(word, before | mask);
}

/** Tags of Any's two fields. */
const ANY_TYPE = 10;
const ANY_VALUE = 18;
/** `"@type"` and `"value"`. */
const TYPE_KEY: u64 = 0x22657079744022;
const VALUE_KEY: u64 = 0x2265756c617622;

// @inline
function writeTag(field: usize): void {
  store<u64>(at, load<u64>(field, FIELD_TAG));
  setAt(at + load<u32>(field, FIELD_TAG_BYTES));
}

/** @param depth level of the message. */
export function writeObject(message: usize, p: usize, depth: i32): usize {
  if (load<u8>(p) !== 0x7b || depth > levels) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x7d) {
    // No field of the message itself was seen.
    if (depth === 1) closeSeen(openSeen(load<u32>(message, MESSAGE_SEEN_BYTES)));
    return p + 1;
  }
  return writeMembers(message, p, depth);
}

/** From the first key on. */
function writeMembers(message: usize, p: usize, depth: i32): usize {
  const seen = openSeen(load<u32>(message, MESSAGE_SEEN_BYTES));
  /** Where the address of the name that is likely next stands. */
  let guess = message + MESSAGE_START;
  for (;;) {
    let name = <usize>load<u32>(guess);
    if (name !== 0 && isNameAt(name, p)) {
      p += load<u32>(name, NAME_TOKEN_BYTES);
    } else {
      const end = endOfName(p);
      name = findName(message, p, end);
      if (name === 0) giveUp();
      store<u32>(guess, <u32>name);
      p = skipSpace(end);
      if (load<u8>(p) !== 0x3a) giveUp();
      p++;
    }
    p = skipSpace(p);
    guess = name + NAME_NEXT;
    const field = <usize>load<u32>(name, NAME_FIELD);
    see(seen, load<u32>(field, FIELD_INDEX));
    if (isUnset(field, p)) {
      p += 4;
    } else {
      const oneof = load<i32>(field, FIELD_ONEOF);
      if (oneof >= 0) see(seen, oneof);
      p = writeField(field, p, depth);
    }
    p = skipSpace(p);
    const byte = load<u8>(p++);
    if (byte === 0x7d) break;
    if (byte !== 0x2c) giveUp();
    p = skipSpace(p);
  }
  closeSeen(seen);
  return p;
}

/** Whether the value at `p` is null, and stands for none. */
// @inline
export function isUnset(field: usize, p: usize): bool {
  if (load<u8>(p) !== 0x6e || (load<u8>(field, FIELD_FLAGS) & TAKES_NULL) !== 0) return false;
  if (!isNullAt(p)) giveUp();
  return true;
}

/** The records of one field, whose value is not null unless null is one of its values. @param depth of its message. */
export function writeField(field: usize, p: usize, depth: i32): usize {
  const shape = <i32>load<u8>(field, FIELD_SHAPE);
  if (shape === SINGULAR) return writeSingular(field, p, depth, (load<u8>(field, FIELD_FLAGS) & HAS_PRESENCE) !== 0);
  if (shape === MAP) return writeMap(field, p, depth);
  return writeList(field, p, depth, shape === PACKED);
}

function writeSingular(field: usize, p: usize, depth: i32, keepsZero: bool): usize {
  reserve(0);
  const record = at;
  writeTag(field);
  const content = at;
  p = writeContent(field, p, depth);
  if (!keepsZero && isZeroSince(content)) setAt(record);
  return p;
}

/** Whether the scalar written from `start` on is zero or empty. Minus zero is not. */
// @inline
function isZeroSince(start: usize): bool {
  const length = at - start;
  if (length === 1) return load<u8>(start) === 0;
  if (length === 8) return load<u64>(start) === 0;
  return length === 4 && load<u32>(start) === 0;
}

function writeList(field: usize, p: usize, depth: i32, packed: bool): usize {
  if (load<u8>(p) !== 0x5b) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x5d) return p + 1;
  const kept = <usize>load<u32>(field, FIELD_LENGTH_BYTES);
  reserve(0);
  if (packed) {
    writeTag(field);
    setAt(at + kept);
  }
  const content = at;
  for (;;) {
    reserve(0);
    if (!packed) writeTag(field);
    p = skipSpace(writeContent(field, p, depth));
    if (load<u8>(p) !== 0x2c) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== 0x5d) giveUp();
  if (packed) store<u32>(field, <u32>endLength(content, kept), FIELD_LENGTH_BYTES);
  return p + 1;
}

/** Each entry is a message { key = 1; value = 2; }, both always written. */
function writeMap(field: usize, p: usize, depth: i32): usize {
  if (load<u8>(p) !== 0x7b) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x7d) return p + 1;
  const key = <usize>load<u32>(field, FIELD_KEY);
  const value = <usize>load<u32>(field, FIELD_VALUE);
  const isText = load<u8>(key, FIELD_KIND) === STRING;
  const start = at;
  let count: u32 = 0;
  /** Bits of the keys so far. Where each has one of its own, no two are the same. */
  let known: u64 = 0;
  let isUnique = true;
  for (;;) {
    reserve(0);
    writeTag(field);
    const entry = at + 1;
    setAt(entry);
    writeTag(key);
    const keyStart = at;
    p = skipColon(isText ? writeString(p) : writeMapKey(key, p));
    // The byte before a key is its tag.
    const bit = bitOf(keyStart, at - keyStart, load<u16>(at - 2));
    isUnique = isUnique && (known & bit) === 0;
    known |= bit;
    reserve(0);
    writeTag(value);
    p = skipSpace(writeContent(value, p, depth));
    endLength(entry, 1);
    count++;
    if (load<u8>(p) !== 0x2c) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== 0x7d) giveUp();
  if (!isUnique) checkKeys(start, load<u32>(field, FIELD_TAG_BYTES), count, isText);
  return p + 1;
}

/** One that is no string; in JSON it always is. */
function writeMapKey(key: usize, p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  if (load<u8>(key, FIELD_KIND) !== BOOL) return writeContent(key, p, 0);
  p = writeBoolean(p + 1);
  if (load<u8>(p) !== 0x22) giveUp();
  return p + 1;
}

/** What stands behind the tag of a record: one value, zero or not. @param depth of the message that has the field. */
function writeContent(field: usize, p: usize, depth: i32): usize {
  const kind = <i32>load<u8>(field, FIELD_KIND);
  return kind < MESSAGE ? writeScalar(kind, field, p) : writeMessage(kind, field, p, depth + 1);
}

/** A message in a field. @param depth its level. */
function writeMessage(kind: i32, field: usize, p: usize, depth: i32): usize {
  if (depth > levels) giveUp();
  if (kind === GROUP) {
    p = writeObject(messageOf(field), p, depth);
    reserve(0);
    writeTag(field);
    // The tag that ends it has the wire type that is next.
    const tag = at - load<u32>(field, FIELD_TAG_BYTES);
    store<u8>(tag, load<u8>(tag) + 1);
    return p;
  }
  const kept = <usize>load<u32>(field, FIELD_LENGTH_BYTES);
  const content = at + kept;
  setAt(content);
  p = kind === MESSAGE ? writeObject(messageOf(field), p, depth) : writeSpecial(kind, field, p, depth);
  store<u32>(field, <u32>endLength(content, kept), FIELD_LENGTH_BYTES);
  return p;
}

/** The content of a message that is no object of its fields. @param field that it is in. @param depth its level. */
function writeSpecial(kind: i32, field: usize, p: usize, depth: i32): usize {
  switch (kind) {
    case WRAPPER:
      return writeSingular(load<u32>(field, FIELD_VALUE), p, depth, false);
    case ANY:
      return writeAny(p, depth);
    case TIMESTAMP:
      return writeTimestamp(p);
    case DURATION:
      return writeDuration(p);
    case STRUCT:
      return writeStruct(p, depth);
    case VALUE:
      return writeValue(p, depth);
    case LIST_VALUE:
      return writeListValue(p, depth);
    case FIELD_MASK:
      return writeMask(p);
  }
  return giveUp();
}

/**
 * google.protobuf.Any: `{"@type": url, …the message…}` → type_url = 1, value = 2. One whose type does not stand first is
 * not for here. @param depth its level; the message in it is one deeper.
 */
function writeAny(p: usize, depth: i32): usize {
  if (load<u8>(p) !== 0x7b) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x7d) return p + 1;
  if (depth >= levels || load<u64>(p) << 8 !== TYPE_KEY << 8) giveUp();
  const type = skipColon(p + 7);
  const message = typeOf(type + 1, endOfName(type) - 1);
  reserve(0);
  writeByte(ANY_TYPE);
  p = skipSpace(writeString(type));
  reserve(0);
  const record = at;
  writeByte(ANY_VALUE);
  const content = at + 1;
  setAt(content);
  const byte = load<u8>(p);
  if (byte === 0x2c) p = skipSpace(p + 1);
  else if (byte !== 0x7d) giveUp();
  const kind = load<i32>(message, MESSAGE_KIND);
  if (kind !== MESSAGE) {
    // A type with a JSON form of its own stands under the key `value`.
    if (byte !== 0x2c || load<u64>(p) << 8 !== VALUE_KEY << 8) giveUp();
    p = skipColon(p + 7);
    if (kind === WRAPPER) {
      p = writeSingular(load<u32>(message, MESSAGE_FIELDS), p, depth + 1, false);
    } else {
      p = writeSpecial(kind, 0, p, depth + 1);
    }
    p = skipSpace(p);
    if (load<u8>(p) !== 0x7d) giveUp();
    p++;
  } else if (byte === 0x2c) {
    p = writeMembers(message, p, depth + 1);
  } else {
    p++;
  }
  if (at === content) setAt(record);
  else endLength(content, 1);
  return p;
}
