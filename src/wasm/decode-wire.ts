/** What a wire is made of: tags, varints, lengths. */
import { giveUp, inputEnd } from "./memory.ts";

/** Where the next byte of the wire is. */
export let next: usize = 0;

// @inline
export function setNext(p: usize): void {
  next = p;
}

/** Bits beyond the 64th are dropped. */
// @inline
export function readVarint(): u64 {
  const byte = <u64>load<u8>(next);
  if (byte < 0x80) {
    next++;
    return byte;
  }
  return readLongVarint();
}

/** Of more than one byte: up to eight are put together at once, since a loop over so few is mispredicted. */
function readLongVarint(): u64 {
  const word = load<u64>(next);
  const ends = ~word & 0x8080808080808080;
  if (ends === 0) return readLongestVarint();
  next += (<usize>ctz(ends) >> 3) + 1;
  const own = word & (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7f;
  const pairs = ((own & 0x7f007f007f007f00) >> 1) | (own & 0x007f007f007f007f);
  const fours = ((pairs & 0x3fff00003fff0000) >> 2) | (pairs & 0x00003fff00003fff);
  return ((fours >> 4) & 0x00fffffff0000000) | (fours & 0x0fffffff);
}

function readLongestVarint(): u64 {
  let p = next;
  let value: u64 = 0;
  let shift: u64 = 0;
  let byte: u64;
  do {
    if (shift > 63) giveUp();
    byte = load<u8>(p++);
    value |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte >= 0x80);
  next = p;
  return value;
}

/** Field number times eight, plus the wire type. */
// @inline
export function readTag(): u32 {
  const byte = <u32>load<u8>(next);
  if (byte < 0x80) {
    next++;
    return byte;
  }
  return readLongTag();
}

function readLongTag(): u32 {
  const start = next;
  const tag = readLongVarint();
  if (next - start > 5 || tag > 0xffffffff) giveUp();
  return <u32>tag;
}

/** The end of length-delimited content, of which the length is next. Not behind `limit`. */
// @inline
export function readEnd(limit: usize): usize {
  const length = readVarint();
  if (length > <u64>(limit - next) || next > limit) giveUp();
  return next + <usize>length;
}

/** Whether this tag is next; it is read then. */
// @inline
export function follows(tag: u32, end: usize): bool {
  const start = next;
  if (start >= end) return false;
  if (tag < 0x80) {
    if (<u32>load<u8>(start) !== tag) return false;
    next = start + 1;
    return true;
  }
  if (readTag() === tag) return true;
  next = start;
  return false;
}

/** Moves past the value behind this tag, which belongs to no field. It may end behind the message. */
export function skip(tag: u32): void {
  if (tag < 8) giveUp();
  const wireType = tag & 7;
  if (wireType === 0) readVarint();
  else if (wireType === 1) next += 8;
  else if (wireType === 2) next = readEnd(inputEnd);
  else if (wireType === 5) next += 4;
  else giveUp();
}
