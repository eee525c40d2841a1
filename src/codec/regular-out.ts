/** Where regular.ts writes. */
import { tape } from "./print-tape.ts";

/** Longer content gets the room of any length, in which a short one is written longer than it needs. */
const SHORT_CONTENT = 64;
const LENGTH_BYTES = 5;

let out = new Uint8Array(0);
let length = 0;

/** @param bytes that it will be, about. */
export function open(bytes: number): void {
  out = new Uint8Array(bytes);
  length = 0;
}

/** @returns what was written. Nothing is kept of it. */
export function close(): Uint8Array {
  const written = out.subarray(0, length);
  out = new Uint8Array(0);
  return written;
}

export function writeTag(number: number, wireType: number): void {
  writeVarint(((number << 3) | wireType) >>> 0);
}

/** Of 32 bits. */
export function writeVarint(value: number): void {
  if (length + LENGTH_BYTES > out.length) grow(LENGTH_BYTES);
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) out[length++] = (rest & 0x7f) | 0x80;
  out[length++] = rest;
}

/** A piece of the wire. */
export function copy(start: number, end: number): void {
  const { wire } = tape;
  if (length + end - start > out.length) grow(end - start);
  if (end - start > SHORT_CONTENT) out.set(wire.subarray(start, end), length);
  else for (let at = start, to = length; at < end; at++, to++) out[to] = wire[at] as number;
  length += end - start;
}

/** Leaves room for a length. @param bytes that it will be, about. @returns what `finish` wants to know. */
export function begin(bytes: number): number {
  const room = bytes > SHORT_CONTENT ? LENGTH_BYTES : 1;
  if (length + room > out.length) grow(room);
  length += room;
  return room === 1 ? -length : length;
}

/** Writes the length of what was written since `begin`. */
export function finish(mark: number): void {
  let start = Math.abs(mark);
  const size = length - start;
  if (mark < 0 && size < 0x80) {
    out[start - 1] = size;
    return;
  }
  if (mark < 0) {
    if (length + LENGTH_BYTES > out.length) grow(LENGTH_BYTES);
    out.copyWithin(start + LENGTH_BYTES - 1, start, length);
    start += LENGTH_BYTES - 1;
    length += LENGTH_BYTES - 1;
  }
  for (let i = 0; i < LENGTH_BYTES - 1; i++) out[start - LENGTH_BYTES + i] = ((size >>> (7 * i)) & 0x7f) | 0x80;
  out[start - 1] = size >>> 28;
}

function grow(count: number): void {
  const grown = new Uint8Array(Math.max(length + count, out.length * 2));
  grown.set(out.subarray(0, length));
  out = grown;
}
