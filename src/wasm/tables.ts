/**
 * Tables of messages and enums, from what the host says of them: words of 32 bits (`layout.ts`, "Descriptions") and one
 * text of all names, one behind the other. To do this here and not there makes a cold start one millisecond shorter.
 */
import { findName } from "./encode-name.ts";
import {
  DESCRIBED_ENUM,
  DESCRIBED_FIELD,
  DESCRIBED_ID,
  DESCRIBED_INNER,
  DESCRIBED_JSON_NAME_BYTES,
  DESCRIBED_KINDS,
  DESCRIBED_NAME_BYTES,
  DESCRIBED_NUMBER,
  DESCRIBED_ONEOF,
  DESCRIBED_VALUE,
  ENUM_DEFAULT,
  ENUM_IS_CLOSED,
  ENUM_NEAR,
  ENUM_NEAR_COUNT,
  ENUM_SIZE,
  ENUM_SLOT_MASK,
  ENUM_SLOTS,
  ENUM_VALUE_COUNT,
  ENUM_VALUE_NAME,
  ENUM_VALUE_NAME_BYTES,
  ENUM_VALUE_NUMBER,
  ENUM_VALUE_SIZE,
  ENUM_VALUES,
  FIELD_ENUM,
  FIELD_ID,
  FIELD_INDEX,
  FIELD_JSON_KEY,
  FIELD_JSON_KEY_BYTES,
  FIELD_KEY,
  FIELD_KIND,
  FIELD_LENGTH_BYTES,
  FIELD_NUMBER,
  FIELD_ONEOF,
  FIELD_PROTO_KEY,
  FIELD_PROTO_KEY_BYTES,
  FIELD_SHAPE,
  FIELD_SIZE,
  FIELD_TAG,
  FIELD_TAG_BYTES,
  FIELD_VALUE,
  FIELD_WIRE_TYPE,
  IS_ESCAPED,
  MAX_NEAR,
  MESSAGE_FIELD_COUNT,
  MESSAGE_FIELDS,
  MESSAGE_KIND,
  MESSAGE_NEAR,
  MESSAGE_NEAR_COUNT,
  MESSAGE_SEEN_BYTES,
  MESSAGE_SIZE,
  MESSAGE_SLOT_MASK,
  MESSAGE_SLOTS,
  NAME_FIELD,
  NAME_HEAD,
  NAME_MASK,
  NAME_SIZE,
  NAME_TOKEN,
  NAME_TOKEN_BYTES,
} from "./layout.ts";
import { hashOf } from "./memory.ts";
import { PACKED } from "./shape.ts";

/** What is read of a text is read sixteen bytes at a time. */
const TEXT_PADDING: usize = 16;

/** Where the next table goes. */
let free: usize = 0;
/** Where the next name is read. */
let names: usize = 0;

/** @returns the address of so many zeros: an input may have stood there. */
function take(count: usize): usize {
  const address = free;
  free = (address + count + 15) & ~15;
  memory.fill(address, 0, free - address);
  return address;
}

/**
 * Writes a message at `start`.
 *
 * @param kind of the message. @param described its fields, in order of their numbers, and then those inside of them.
 * @param text all names: of each field its JSON name and, where that is another, its own.
 * @returns where the next table may begin.
 */
export function placeMessage(
  start: usize,
  kind: i32,
  described: usize,
  count: u32,
  innerCount: u32,
  oneofs: u32,
  text: usize,
): usize {
  free = start;
  names = text;
  const message = take(MESSAGE_SIZE);
  const fields = take(<usize>(count + innerCount) * FIELD_SIZE);
  store<u32>(message, kind, MESSAGE_KIND);
  store<u32>(message, <u32>fields, MESSAGE_FIELDS);
  store<u32>(message, count, MESSAGE_FIELD_COUNT);
  store<u32>(message, ((count + oneofs + 63) >> 6) << 3, MESSAGE_SEEN_BYTES);
  for (let i: u32 = 0; i < count + innerCount; i++) placeField(fields, i, described + <usize>i * DESCRIBED_FIELD);
  placeNear(message + MESSAGE_NEAR, message + MESSAGE_NEAR_COUNT, fields, count, FIELD_SIZE, FIELD_NUMBER);
  placeNames(message, fields, described, count);
  return free;
}

function placeField(fields: usize, index: u32, from: usize): void {
  const field = fields + <usize>index * FIELD_SIZE;
  const wireType = <u32>load<u8>(from, DESCRIBED_KINDS + FIELD_WIRE_TYPE);
  const shape = <u32>load<u8>(from, DESCRIBED_KINDS + FIELD_SHAPE);
  const number = load<u32>(from, DESCRIBED_NUMBER);
  // Kind, shape, flags and wire type.
  store<u32>(field, load<u32>(from, DESCRIBED_KINDS), FIELD_KIND);
  store<u32>(field, number, FIELD_NUMBER);
  store<u32>(field, index, FIELD_INDEX);
  store<u32>(field, load<u32>(from, DESCRIBED_ONEOF), FIELD_ONEOF);
  store<u32>(field, load<u32>(from, DESCRIBED_ID), FIELD_ID);
  store<u32>(field, load<u32>(from, DESCRIBED_ENUM), FIELD_ENUM);
  store<u32>(field, 1, FIELD_LENGTH_BYTES);
  const key = load<i32>(from, DESCRIBED_INNER);
  if (key >= 0) store<u32>(field, <u32>fields + <u32>key * FIELD_SIZE, FIELD_KEY);
  const value = load<i32>(from, DESCRIBED_VALUE);
  if (value >= 0) store<u32>(field, <u32>fields + <u32>value * FIELD_SIZE, FIELD_VALUE);
  let rest = ((<u64>number) << 3) | (shape === PACKED ? 2 : wireType);
  let length: usize = 0;
  for (; rest > 0x7f; rest >>= 7) store<u8>(field + length++, (<u32>rest & 0x7f) | 0x80, FIELD_TAG);
  store<u8>(field + length++, <u32>rest, FIELD_TAG);
  store<u32>(field, <u32>length, FIELD_TAG_BYTES);
  const jsonBytes = load<u32>(from, DESCRIBED_JSON_NAME_BYTES) & ~IS_ESCAPED;
  const jsonKey = placeKey(jsonBytes);
  store<u32>(field, jsonKey, FIELD_JSON_KEY);
  store<u32>(field, jsonBytes + 4, FIELD_JSON_KEY_BYTES);
  const bytes = load<u32>(from, DESCRIBED_NAME_BYTES) & ~IS_ESCAPED;
  store<u32>(field, bytes === 0 ? jsonKey : placeKey(bytes), FIELD_PROTO_KEY);
  store<u32>(field, (bytes === 0 ? jsonBytes : bytes) + 4, FIELD_PROTO_KEY_BYTES);
}

/** `,"name":` of the next name. */
function placeKey(bytes: usize): u32 {
  const key = take(bytes + 4 + TEXT_PADDING);
  store<u16>(key, 0x222c);
  memory.copy(key + 2, names, bytes);
  store<u16>(key + 2 + bytes, 0x3a22);
  names += bytes;
  return <u32>key;
}

/** A list of addresses by number, as far as that is small, and its length. Of those with one number the first counts. */
function placeNear(listAt: usize, countAt: usize, entries: usize, count: u32, size: usize, numberAt: usize): void {
  let end: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(entries + <usize>i * size + numberAt);
    if (number < <u32>MAX_NEAR) end = max(end, number + 1);
  }
  const list = take((<usize>end) << 2);
  for (let i: u32 = count; i > 0; i--) {
    const entry = entries + <usize>(i - 1) * size;
    const number = load<u32>(entry + numberAt);
    if (number < <u32>MAX_NEAR) store<u32>(list + ((<usize>number) << 2), <u32>entry);
  }
  store<u32>(listAt, <u32>list);
  store<u32>(countAt, end);
}

/** JSON names first; a field's own name counts where it is no other's JSON name. Of names with escapes none is found. */
function placeNames(message: usize, fields: usize, described: usize, count: u32): void {
  placeSlots(message + MESSAGE_SLOTS, message + MESSAGE_SLOT_MASK, count * 2);
  for (let i: u32 = 0; i < count; i++) {
    const field = fields + <usize>i * FIELD_SIZE;
    const name = load<u32>(described + <usize>i * DESCRIBED_FIELD, DESCRIBED_JSON_NAME_BYTES);
    if ((name & IS_ESCAPED) === 0) placeName(message, field, FIELD_JSON_KEY, true);
  }
  for (let i: u32 = 0; i < count; i++) {
    const field = fields + <usize>i * FIELD_SIZE;
    const name = load<u32>(described + <usize>i * DESCRIBED_FIELD, DESCRIBED_NAME_BYTES);
    if (name !== 0 && (name & IS_ESCAPED) === 0) placeName(message, field, FIELD_PROTO_KEY, false);
  }
}

/** @param replaces whether the field is the one that is meant, where there was another of this name. */
function placeName(message: usize, field: usize, keyAt: usize, replaces: bool): void {
  // The key of the field, without its comma.
  const token = <usize>load<u32>(field + keyAt) + 1;
  const length = <usize>load<u32>(field + keyAt, 4) - 1;
  const known = findName(message, token, token + length - 1);
  if (known !== 0) {
    if (replaces) store<u32>(known, <u32>field, NAME_FIELD);
    return;
  }
  const name = take(NAME_SIZE);
  store<u32>(name, <u32>token, NAME_TOKEN);
  store<u32>(name, <u32>length, NAME_TOKEN_BYTES);
  store<u32>(name, <u32>field, NAME_FIELD);
  v128.store(name, v128.load(token), NAME_HEAD);
  for (let i: usize = 0; i < min(length, 16); i++) store<u8>(name + i, 0xff, NAME_MASK);
  // The colon does not belong to the string that is looked up.
  placeSlot(load<u32>(message, MESSAGE_SLOTS), load<u32>(message, MESSAGE_SLOT_MASK), name, token, length - 1);
}

/** Room for a hash table, at most half full. */
function placeSlots(slotsAt: usize, maskAt: usize, count: u32): void {
  const size = (<u32>2) << (32 - clz(count));
  store<u32>(slotsAt, <u32>take((<usize>size) << 2));
  store<u32>(maskAt, size - 1);
}

function placeSlot(slots: usize, mask: u32, entry: usize, text: usize, length: usize): void {
  let i = hashOf(text, length) & mask;
  while (load<u32>(slots + ((<usize>i) << 2)) !== 0) i = (i + 1) & mask;
  store<u32>(slots + ((<usize>i) << 2), <u32>entry);
}

/**
 * Writes an enum at `start`.
 *
 * @param described of each value its number and the length of its name, in order of the numbers; of those with one number
 *   in order of declaration.
 * @returns where the next table may begin.
 */
export function placeEnum(
  start: usize,
  isClosed: u32,
  described: usize,
  count: u32,
  defaultNumber: i32,
  text: usize,
): usize {
  free = start;
  names = text;
  const enumeration = take(ENUM_SIZE);
  const values = take(<usize>count * ENUM_VALUE_SIZE);
  store<u32>(enumeration, <u32>values, ENUM_VALUES);
  store<u32>(enumeration, count, ENUM_VALUE_COUNT);
  store<u32>(enumeration, isClosed, ENUM_IS_CLOSED);
  store<i32>(enumeration, defaultNumber, ENUM_DEFAULT);
  placeSlots(enumeration + ENUM_SLOTS, enumeration + ENUM_SLOT_MASK, count);
  for (let i: usize = 0; i < count; i++) {
    const value = values + i * ENUM_VALUE_SIZE;
    const length = <usize>load<u32>(described + (i << 3), 4);
    const name = take(length + 2 + TEXT_PADDING);
    store<u8>(name, 0x22);
    memory.copy(name + 1, names, length);
    store<u8>(name + 1 + length, 0x22);
    names += length;
    store<u32>(value, <u32>name, ENUM_VALUE_NAME);
    store<u32>(value, <u32>length + 2, ENUM_VALUE_NAME_BYTES);
    store<u32>(value, load<u32>(described + (i << 3)), ENUM_VALUE_NUMBER);
    placeSlot(load<u32>(enumeration, ENUM_SLOTS), load<u32>(enumeration, ENUM_SLOT_MASK), value, name, length + 2);
  }
  placeNear(enumeration + ENUM_NEAR, enumeration + ENUM_NEAR_COUNT, values, count, ENUM_VALUE_SIZE, ENUM_VALUE_NUMBER);
  return free;
}
