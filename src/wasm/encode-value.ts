/** google.protobuf.Struct, Value and ListValue (struct.proto): any JSON → the content of the message. */
import { checkKeys } from "./encode-keys.ts";
import { skipColon, skipSpace } from "./encode-name.ts";
import { double, readDouble } from "./encode-number.ts";
import { writeString } from "./encode-text.ts";
import { at, endLength, giveUp, levels, reserve, setAt, writeByte } from "./memory.ts";

/** Tags of the members of Value's oneof `kind`. */
const NULL_VALUE = 8;
const NUMBER_VALUE = 17;
const STRING_VALUE = 26;
const BOOL_VALUE = 32;
const STRUCT_VALUE = 42;
const LIST_VALUE = 50;
/** Fields 1 and 2, length-delimited: Struct.fields, ListValue.values, and the key and value of an entry. */
const FIRST = 10;
const SECOND = 18;

/** `null`, `true`, and `alse`. */
const NULL_WORD: u32 = 0x6c6c756e;
const TRUE_WORD: u32 = 0x65757274;
const ALSE_WORD: u32 = 0x65736c61;

// @inline
export function isNullAt(p: usize): bool {
  return load<u32>(p) === NULL_WORD;
}

/** Writes 1 or 0. @returns where it ends. */
export function writeBoolean(p: usize): usize {
  if (load<u32>(p) === TRUE_WORD) {
    writeByte(1);
    return p + 4;
  }
  if (load<u8>(p) !== 0x66 || load<u32>(p, 1) !== ALSE_WORD) giveUp();
  writeByte(0);
  return p + 5;
}

/** @param depth level of the Value; a Struct or ListValue in it is one deeper. @returns where it ends. */
export function writeValue(p: usize, depth: i32): usize {
  if (depth > levels) giveUp();
  reserve(0);
  const byte = load<u8>(p);
  if (byte === 0x22) {
    writeByte(STRING_VALUE);
    return writeString(p);
  }
  if (byte === 0x7b || byte === 0x5b) {
    writeByte(byte === 0x7b ? STRUCT_VALUE : LIST_VALUE);
    setAt(at + 1);
    const content = at;
    p = byte === 0x7b ? writeStruct(p, depth + 1) : writeListValue(p, depth + 1);
    endLength(content, 1);
    return p;
  }
  if (byte === 0x6e) {
    if (!isNullAt(p)) giveUp();
    writeByte(NULL_VALUE);
    writeByte(0);
    return p + 4;
  }
  if (byte === 0x74 || byte === 0x66) {
    writeByte(BOOL_VALUE);
    return writeBoolean(p);
  }
  p = readDouble(p);
  writeByte(NUMBER_VALUE);
  store<f64>(at, double);
  setAt(at + 8);
  return p;
}

/** @param depth level of the Struct; the values in it are one deeper. @returns where it ends. */
export function writeStruct(p: usize, depth: i32): usize {
  if (load<u8>(p) !== 0x7b || depth > levels) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x7d) return p + 1;
  const start = at;
  let count: u32 = 0;
  for (;;) {
    reserve(0);
    store<u8>(at, FIRST);
    store<u8>(at, FIRST, 2);
    const entry = at + 2;
    setAt(at + 3);
    p = skipColon(writeString(p));
    store<u8>(at, SECOND);
    const value = at + 2;
    setAt(value);
    p = skipSpace(writeValue(p, depth + 1));
    endLength(value, 1);
    endLength(entry, 1);
    count++;
    if (load<u8>(p) !== 0x2c) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== 0x7d) giveUp();
  checkKeys(start, 1, count, true);
  return p + 1;
}

/** @param depth level of the ListValue; the values in it are one deeper. @returns where it ends. */
export function writeListValue(p: usize, depth: i32): usize {
  if (load<u8>(p) !== 0x5b || depth > levels) giveUp();
  p = skipSpace(p + 1);
  if (load<u8>(p) === 0x5d) return p + 1;
  for (;;) {
    reserve(0);
    writeByte(FIRST);
    setAt(at + 1);
    const value = at;
    p = skipSpace(writeValue(p, depth + 1));
    endLength(value, 1);
    if (load<u8>(p) !== 0x2c) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== 0x5d) giveUp();
  return p + 1;
}
