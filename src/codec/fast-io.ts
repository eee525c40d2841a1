/**
 * The state of the fast encoder: one input, one output, both reused from call to call. Encoding is synchronous, so one
 * of each is enough for an isolate.
 *
 * The input is copied in with zeros behind it. A zero byte stands in no JSON, so whatever scans stops there and no
 * place needs to ask for the end; nor are the bytes of an earlier call ever reached. The copy costs under 3% of a call.
 */

import type { Registry } from "../schema/model.ts";
import type { CodecContext } from "./codec.ts";

/** The text is wrong, or unusual: the slow encoder shall do the message again. Never leaves the codec. */
export const IRREGULAR = new Error("not for the fast encoder");

/** Zeros behind the input: the longest look ahead. */
const PADDING = 16;
/** Room that every value but strings may take without asking: two tags and a varint are less. */
const SLACK = 64;
/** Larger buffers do not outlive their call; those for a text of a megabyte do. */
const MAX_KEPT = 1 << 21;
const INITIAL = 1 << 14;
/** Levels below these are not noted. */
const MAX_NOTED = 128;

class FastIo {
  /** The JSON, then zeros. */
  src = new Uint8Array(INITIAL);
  srcView = new DataView(this.src.buffer);
  /** Where the JSON ends. */
  end = 0;
  /** The wire, up to `at`. */
  out = new Uint8Array(INITIAL);
  outView = new DataView(this.out.buffer);
  at = 0;
  /** Up to here there is slack. */
  limit = INITIAL - SLACK;
  maxDepth = 0;
  ignoresUnknown = false;
  /** What was skipped so far (`Skipped`). */
  skipped = 0;
  /** Whether the enum value last read is unknown and to be ignored: its record shall go. */
  isUnknown = false;
  registry: Registry | undefined;
  /** Offset of the object last opened on each level. After giving up it tells which objects need not be tried again. */
  readonly opened = new Int32Array(MAX_NOTED);
  /** Whether the integer last read has a minus. */
  negative = false;
}

export const io = new FastIo();
/** The number last read. In arrays, because numbers in fields are boxed and leave garbage. */
export const double = new Float64Array(1);
/** The integer last read, of 64 bits: low, high. */
export const halves = new Int32Array(2);

export function openInput(json: Uint8Array, { options, registry }: CodecContext): void {
  const { length } = json;
  if (length + PADDING > io.src.length) {
    setSrc(new Uint8Array(length + (length >> 2) + PADDING));
  }
  io.src.set(json);
  for (let i = 0; i < PADDING; i += 4) io.srcView.setInt32(length + i, 0);
  io.end = length;
  io.at = 0;
  io.maxDepth = options.maxDepth;
  io.ignoresUnknown = options.unknownFields === "ignore";
  io.skipped = 0;
  io.registry = registry;
}

/** A view of what was written, good until the next write. */
export function writtenSoFar(): Uint8Array {
  return io.out.subarray(0, io.at);
}

/** How much was skipped (`Skipped`). */
export function skippedSoFar(): number {
  return io.skipped;
}

/** A copy of what was written. */
export function finish(): Uint8Array {
  return io.out.slice(0, io.at);
}

/** To be called after every call, whatever came of it. */
export function dropLarge(): void {
  if (io.src.length > MAX_KEPT) setSrc(new Uint8Array(INITIAL));
  if (io.out.length > MAX_KEPT) setOut(new Uint8Array(INITIAL));
}

/** Makes room for that many bytes, and the slack. */
export function reserve(count: number): void {
  if (io.at + count <= io.limit) return;
  const out = new Uint8Array(Math.max(io.out.length * 2, io.at + count + SLACK));
  out.set(io.out.subarray(0, io.at));
  setOut(out);
}

function setSrc(src: Uint8Array<ArrayBuffer>): void {
  io.src = src;
  io.srcView = new DataView(src.buffer);
}

function setOut(out: Uint8Array<ArrayBuffer>): void {
  io.out = out;
  io.outView = new DataView(out.buffer);
  io.limit = out.length - SLACK;
}

/** An unsigned varint of up to 32 bits. */
export function writeVarint(value: number): void {
  const { out } = io;
  let { at } = io;
  let rest = value;
  while (rest > 0x7f) {
    out[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[at++] = rest;
  io.at = at;
}

/** A varint of 64 bits in two halves. */
export function writeVarint64(low: number, high: number): void {
  const { out } = io;
  let { at } = io;
  let rest = low;
  let above = high;
  while (above !== 0) {
    out[at++] = (rest & 0x7f) | 0x80;
    rest = (rest >>> 7) | (above << 25);
    above >>>= 7;
  }
  io.at = at;
  writeVarint(rest >>> 0);
}

export function writeRaw(bytes: Uint8Array): void {
  reserve(bytes.length);
  io.out.set(bytes, io.at);
  io.at += bytes.length;
}

/**
 * Writes the length of what was written from `start` on into the bytes kept free before it. Where these are too many or
 * too few the content moves.
 *
 * @param kept how many bytes were kept free.
 * @returns how many were needed.
 */
export function endLength(start: number, kept: number): number {
  const size = io.at - start;
  const needed = size < 0x80 ? 1 : size < 0x4000 ? 2 : size < 0x20_0000 ? 3 : size < 0x1000_0000 ? 4 : 5;
  const from = start - kept;
  if (needed !== kept) {
    reserve(needed);
    io.out.copyWithin(from + needed, start, io.at);
  }
  io.at = from;
  writeVarint(size);
  io.at = from + needed + size;
  return needed;
}

/** Whether the scalar written from `start` on is zero or empty. Minus zero is not. */
export function isZeroSince(start: number): boolean {
  const { outView } = io;
  switch (io.at - start) {
    case 1:
      return outView.getInt8(start) === 0;
    case 4:
      return outView.getInt32(start, true) === 0;
    case 8:
      return outView.getInt32(start, true) === 0 && outView.getInt32(start + 4, true) === 0;
    default:
      return false;
  }
}

/** @returns where the next byte is that is no white space. */
export function skipSpace(from: number): number {
  const { src } = io;
  let p = from;
  let byte = src[p] as number;
  // One comparison where there is none, which is the rule.
  while (byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) byte = src[++p] as number;
  return p;
}
