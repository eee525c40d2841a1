/** Names as they stand in JSON, found by their bytes. */
import {
  ENUM_SLOT_MASK,
  ENUM_SLOTS,
  ENUM_VALUE_NAME,
  ENUM_VALUE_NAME_BYTES,
  MESSAGE_SLOT_MASK,
  MESSAGE_SLOTS,
  NAME_HEAD,
  NAME_MASK,
  NAME_TOKEN,
  NAME_TOKEN_BYTES,
} from "./layout.ts";
import { areEqual, giveUp, hashOf } from "./memory.ts";

/** @returns where the next byte is that is no white space. */
// @inline
export function skipSpace(p: usize): usize {
  return load<u8>(p) <= 0x20 ? skipSpaces(p) : p;
}

function skipSpaces(p: usize): usize {
  let byte = load<u8>(p);
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = load<u8>(++p);
  return p;
}

/** @returns where the value begins, after a key that ends at `p`. */
export function skipColon(p: usize): usize {
  p = skipSpace(p);
  if (load<u8>(p) !== 0x3a) giveUp();
  return skipSpace(p + 1);
}

/** Bits of those bytes of sixteen that are no plain text: quotes, backslashes, controls and, where signed, non-ASCII. */
// @inline
export function specialBytes(bytes: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      i8x16.lt_s(bytes, i8x16.splat(0x20)),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
    ),
  );
}

/** @returns where the string at `p` ends, behind its quote. One with a backslash is not for here. */
export function endOfName(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  while (true) {
    const special = specialBytes(v128.load(p));
    if (special === 0) {
      p += 16;
      continue;
    }
    p += ctz(special);
    const byte = load<u8>(p);
    if (byte === 0x22) return p + 1;
    if (byte < 0x80) giveUp();
    p++;
  }
}

/** Whether the key of this name stands at `p`, without white space. */
// @inline
export function isNameAt(name: usize, p: usize): bool {
  const differs = v128.and(v128.xor(v128.load(p), v128.load(name, NAME_HEAD)), v128.load(name, NAME_MASK));
  if (v128.any_true(differs)) return false;
  const length = <usize>load<u32>(name, NAME_TOKEN_BYTES);
  return length <= 16 || areEqual(<usize>load<u32>(name, NAME_TOKEN) + 16, p + 16, length - 16);
}

/** The name of the message with the quotes at `start` and before `end`; 0 for none. */
export function findName(message: usize, start: usize, end: usize): usize {
  const mask = load<u32>(message, MESSAGE_SLOT_MASK);
  const slots = <usize>load<u32>(message, MESSAGE_SLOTS);
  const length = end - start;
  let i = hashOf(start, length) & mask;
  while (true) {
    const name = <usize>load<u32>(slots + ((<usize>i) << 2));
    if (name === 0) return 0;
    if (
      <usize>load<u32>(name, NAME_TOKEN_BYTES) === length + 1 &&
      areEqual(load<u32>(name, NAME_TOKEN), start, length)
    ) {
      return name;
    }
    i = (i + 1) & mask;
  }
}

/** The value of the enum with the quotes at `start` and before `end`; 0 for none. */
export function findEnumValue(enumeration: usize, start: usize, end: usize): usize {
  const mask = load<u32>(enumeration, ENUM_SLOT_MASK);
  const slots = <usize>load<u32>(enumeration, ENUM_SLOTS);
  const length = end - start;
  let i = hashOf(start, length) & mask;
  while (true) {
    const value = <usize>load<u32>(slots + ((<usize>i) << 2));
    if (value === 0) return 0;
    if (
      <usize>load<u32>(value, ENUM_VALUE_NAME_BYTES) === length &&
      areEqual(load<u32>(value, ENUM_VALUE_NAME), start, length)
    ) {
      return value;
    }
    i = (i + 1) & mask;
  }
}
