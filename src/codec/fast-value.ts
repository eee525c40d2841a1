/** google.protobuf.Struct, Value and ListValue (struct.proto): any JSON → the content of the message. */
import { endLength, IRREGULAR, io, reserve, skipSpace } from "./fast-io.ts";
import { skipColon } from "./fast-name.ts";
import { readDouble } from "./fast-number.ts";
import { writeDouble } from "./fast-scalar.ts";
import { closeKeys, type ManyKeys, openKeys, seeKey } from "./fast-seen.ts";
import { writeString } from "./fast-text.ts";

const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** `null`, `true`, and `alse` as words of four bytes. */
const NULL = 0x6c6c_756e;
const TRUE = 0x6575_7274;
const ALSE = 0x6573_6c61;

/** Tags of the members of Value's oneof `kind`. */
const NULL_VALUE = 1 << 3;
const NUMBER_VALUE = (2 << 3) | 1;
const STRING_VALUE = (3 << 3) | 2;
const BOOL_VALUE = 4 << 3;
const STRUCT_VALUE = (5 << 3) | 2;
const LIST_VALUE = (6 << 3) | 2;
/** Fields 1 and 2 of length-delimited type: Struct.fields, ListValue.values, and the key and value of an entry. */
const FIRST = (1 << 3) | 2;
const SECOND = (2 << 3) | 2;

export function isNullAt(p: number): boolean {
  return io.srcView.getInt32(p, true) === NULL;
}

/** Writes 1 or 0. @returns where it ends. */
export function writeBoolean(p: number): number {
  const { srcView } = io;
  if (srcView.getInt32(p, true) === TRUE) {
    io.out[io.at++] = 1;
    return p + 4;
  }
  if (io.src[p] !== 0x66 || srcView.getInt32(p + 1, true) !== ALSE) throw IRREGULAR;
  io.out[io.at++] = 0;
  return p + 5;
}

/** @param depth level of the Value; a Struct or ListValue in it is one deeper. @returns where it ends. */
export function writeValue(start: number, depth: number): number {
  const { src } = io;
  if (depth > io.maxDepth) throw IRREGULAR;
  reserve(0);
  switch (src[start]) {
    case 0x22:
      io.out[io.at++] = STRING_VALUE;
      return writeString(start);
    case OPEN_BRACE:
      return writeInner(STRUCT_VALUE, start, depth + 1);
    case OPEN_BRACKET:
      return writeInner(LIST_VALUE, start, depth + 1);
    case 0x6e:
      if (!isNullAt(start)) throw IRREGULAR;
      io.out[io.at++] = NULL_VALUE;
      io.out[io.at++] = 0;
      return start + 4;
    case 0x74:
    case 0x66:
      io.out[io.at++] = BOOL_VALUE;
      return writeBoolean(start);
    default: {
      const end = readDouble(start);
      io.out[io.at++] = NUMBER_VALUE;
      return writeDouble(end);
    }
  }
}

function writeInner(tag: number, start: number, depth: number): number {
  io.out[io.at++] = tag;
  const content = ++io.at;
  const end = tag === STRUCT_VALUE ? writeStruct(start, depth) : writeListValue(start, depth);
  endLength(content, 1);
  return end;
}

/** @param depth level of the Struct; the values in it are one deeper. @returns where it ends. */
export function writeStruct(start: number, depth: number): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACE || depth > io.maxDepth) throw IRREGULAR;
  const place = openKeys();
  let many: ManyKeys | undefined;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACE) return p + 1;
  for (;;) {
    reserve(0);
    io.out[io.at++] = FIRST;
    const entry = ++io.at;
    io.out[io.at++] = FIRST;
    const key = io.at;
    p = skipColon(writeString(p));
    many = seeKey(place, key, many);
    io.out[io.at++] = SECOND;
    const value = ++io.at;
    p = skipSpace(writeValue(p, depth + 1));
    endLength(value, 1);
    endLength(entry, 1);
    if (src[p] !== COMMA) break;
    p = skipSpace(p + 1);
  }
  if (src[p] !== CLOSE_BRACE) throw IRREGULAR;
  closeKeys(place);
  return p + 1;
}

/** @param depth level of the ListValue; the values in it are one deeper. @returns where it ends. */
export function writeListValue(start: number, depth: number): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACKET || depth > io.maxDepth) throw IRREGULAR;
  let p = skipSpace(start + 1);
  if (src[p] === CLOSE_BRACKET) return p + 1;
  for (;;) {
    reserve(0);
    io.out[io.at++] = FIRST;
    const value = ++io.at;
    p = skipSpace(writeValue(p, depth + 1));
    endLength(value, 1);
    if (src[p] !== COMMA) break;
    p = skipSpace(p + 1);
  }
  if (src[p] !== CLOSE_BRACKET) throw IRREGULAR;
  return p + 1;
}
