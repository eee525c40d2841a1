/**
 * The state of one call: an input, and an output behind it, which is the last thing in memory and may grow.
 *
 * Zeros stand behind the input, as far as one look ahead goes. A zero stands in no JSON, and ends every varint, so
 * whatever scans stops there; lengths are checked against the end of what holds them. So the bytes of an earlier call,
 * which lie behind the zeros, are never reached.
 */
import { PADDING } from "./layout.ts";

/** Throws in the host, where this call ends: it is for the other engine. */
// @external("host", "giveUp")
declare function hostGiveUp(): void;

/** Room that every value but strings may take without asking. */
export const SLACK: usize = 64;

/** Where the input ends. */
export let inputEnd: usize = 0;
/** Where the next byte of output goes. */
export let at: usize = 0;
/** Levels of messages that may be opened. */
export let levels: i32 = 0;

let outStart: usize = 0;
let maxBytes: usize = 0;
/** Up to here there is slack. */
let limit: usize = 0;

/** @returns nothing, ever. */
export function giveUp(): usize {
  hostGiveUp();
  unreachable();
  return 0;
}

export function open(input: usize, length: usize, output: usize, maxLevels: i32, maxOutput: usize): void {
  inputEnd = input + length;
  for (let i: usize = 0; i < <usize>PADDING; i += 16) v128.store(inputEnd + i, i64x2.splat(0));
  outStart = output;
  at = output;
  levels = maxLevels;
  maxBytes = maxOutput;
  limit = ((<usize>memory.size()) << 16) - SLACK;
}

/** @returns how many bytes were written. */
export function close(): usize {
  const length = at - outStart;
  return length > maxBytes ? giveUp() : length;
}

// @inline
export function setAt(address: usize): void {
  at = address;
}

// @inline
export function setLevels(count: i32): void {
  levels = count;
}

/** Makes room for that many bytes, and the slack. */
// @inline
export function reserve(count: usize): void {
  if (at + count > limit) grow(count);
}

function grow(count: usize): void {
  if (at - outStart > maxBytes) giveUp();
  const pages = <i32>memory.size();
  const needed = <i32>((at + count + SLACK + 0xffff) >> 16) - pages;
  const wished = max(needed, pages >> 1);
  if (memory.grow(wished) < 0 && memory.grow(needed) < 0) giveUp();
  limit = ((<usize>memory.size()) << 16) - SLACK;
}

// @inline
export function writeByte(byte: u32): void {
  store<u8>(at++, byte);
}

// @inline
export function writeVarint(value: u64): void {
  if (value < 0x80) writeByte(<u32>value);
  else writeLongVarint(value);
}

/** Up to eight bytes at once, since a loop over so few is mispredicted. */
function writeLongVarint(value: u64): void {
  if (value >> 56 !== 0) {
    writeBytewise(value);
    return;
  }
  const fours = (value & 0x0fffffff) | ((value << 4) & 0x0fffffff00000000);
  const pairs = (fours & 0x00003fff00003fff) | ((fours << 2) & 0x3fff00003fff0000);
  const sevens = (pairs & 0x007f007f007f007f) | ((pairs << 1) & 0x7f007f007f007f00);
  const last = (63 - clz(sevens)) >> 3;
  store<u64>(at, sevens | (0x8080808080808080 & (((<u64>1) << (last << 3)) - 1)));
  at += <usize>last + 1;
}

function writeBytewise(value: u64): void {
  let o = at;
  while (value > 0x7f) {
    store<u8>(o++, (<u32>value & 0x7f) | 0x80);
    value >>= 7;
  }
  store<u8>(o++, <u32>value);
  at = o;
}

/**
 * Writes the length of what was written from `start` on into the bytes kept free before it. Where these are too many or
 * too few the content moves.
 *
 * @returns how many were needed.
 */
export function endLength(start: usize, kept: usize): usize {
  const size = at - start;
  const from = start - kept;
  if (size < 0x80 && kept === 1) {
    store<u8>(from, <u32>size);
    return 1;
  }
  const needed: usize = size < 0x80 ? 1 : size < 0x4000 ? 2 : size < 0x200000 ? 3 : size < 0x10000000 ? 4 : 5;
  if (needed !== kept) {
    reserve(needed);
    memory.copy(from + needed, start, size);
  }
  at = from;
  // Byte by byte: the content begins right behind.
  writeBytewise(size);
  at = from + needed + size;
  return needed;
}

/** Whether the same bytes stand at both places. */
export function areEqual(a: usize, b: usize, length: usize): bool {
  while (length >= 8) {
    if (load<u64>(a) !== load<u64>(b)) return false;
    a += 8;
    b += 8;
    length -= 8;
  }
  for (; length > 0; length--) if (load<u8>(a++) !== load<u8>(b++)) return false;
  return true;
}

/** One bit of 64, the same for the same text. @param last of its bytes, two at the most. */
// @inline
export function bitOf(start: usize, length: usize, last: u32): u64 {
  const mixed = <u32>load<u8>(start + (length >> 1)) * 0x9e37 + last * 0x85eb + <u32>length * 0xc2b3;
  return (<u64>1) << (<u64>((mixed >> 10) & 63));
}

/** Of up to twelve bytes: the first four, the last four, and four between. Bytes behind the text do not count. */
export function hashOf(start: usize, length: usize): u32 {
  let hash: u32 = <u32>length * 0x9e3779b1;
  if (length >= 4) {
    hash ^= load<u32>(start) * 0x85ebca77;
    hash = rotl(hash, 13) ^ (load<u32>(start + length - 4) * 0xc2b2ae3d);
    hash = rotl(hash, 13) ^ (load<u32>(start + ((length - 4) >> 1)) * 0x27d4eb2f);
  } else {
    for (let i: usize = 0; i < length; i++) hash = (hash ^ load<u8>(start + i)) * 0x01000193;
  }
  return hash ^ (hash >> 15);
}
