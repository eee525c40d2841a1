/** Protobuf's wire types (encoding guide, "Message Structure"). */
import { utf8 } from "./utf8.ts";
import type * as WireType from "./wire-type.ts";

/** Up to this length ASCII is written faster byte by byte than by a TextEncoder. */
const SHORT = 24;
/** A varint of 32 bits. */
const MAX_LENGTH_BYTES = 5;

/** A growing buffer of wire bytes. Nothing is checked here: whoever writes knows the ranges. */
export class WireWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes written so far. A mark for `truncate` and `since`. */
  get length(): number {
    return this.#length;
  }

  tag(number: number, wireType: WireType.Value): void {
    this.varint(((number << 3) | wireType) >>> 0);
  }

  /** An unsigned varint of up to 32 bits. */
  varint(value: number): void {
    this.#reserve(MAX_LENGTH_BYTES);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A varint of 64 bits; a negative value is written as its two's complement. */
  varint64(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    while (rest > 0xffff_ffffn) {
      this.#byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    // What is left may still hold 32 bits, which `varint` takes.
    this.varint(Number(rest));
  }

  fixed32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  fixed64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, value, true);
    this.#length += 8;
  }

  float(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Bytes with their length before them. */
  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  /** Well-formed text as UTF-8, with its length before it. */
  string(text: string): void {
    if (text.length > SHORT || !this.#shortAscii(text)) this.bytes(utf8.encode(text));
  }

  /** Bytes as they are. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Begins content whose length is not known yet. @returns where it starts, for `end`. */
  begin(): number {
    this.#byte(0);
    return this.#length;
  }

  /** Writes the length of what was written since `begin`. Content over 127 bytes moves up to make room for it. */
  end(start: number): void {
    const size = this.#length - start;
    const extra = size < 0x80 ? 0 : size < 0x4000 ? 1 : size < 0x20_0000 ? 2 : size < 0x1000_0000 ? 3 : 4;
    // All the room that the length may ask for: the buffer must not grow while #length is before the content.
    this.#reserve(MAX_LENGTH_BYTES);
    if (extra > 0) this.#bytes.copyWithin(start + extra, start, start + size);
    this.#length = start - 1;
    this.varint(size);
    this.#length += size;
  }

  /** Forgets what was written after the mark. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** A view of what was written after the mark; good until the next write. */
  since(mark: number): Uint8Array {
    return this.#bytes.subarray(mark, this.#length);
  }

  /** Whether the scalar written after the mark is zero or empty. Minus zero is not. */
  isZeroSince(mark: number): boolean {
    for (let i = mark; i < this.#length; i++) if (this.#bytes[i] !== 0) return false;
    return true;
  }

  /** A copy of all that was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** @returns false, with nothing written, when the text is not ASCII. */
  #shortAscii(text: string): boolean {
    const mark = this.#length;
    this.#byte(text.length);
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) {
        this.#length = mark;
        return false;
      }
      this.#bytes[this.#length++] = code;
    }
    return true;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
