/** Names as they stand in JSON, found by their bytes: no string is made of a key. */

import { IRREGULAR, io, skipSpace } from "./fast-io.ts";
import { utf8 } from "./utf8.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

export class Name<T> {
  readonly value: T;
  readonly bytes: Uint8Array;
  readonly hash: number;
  /** `"name":`, as most writers put it, in words of four bytes; the last may overlap the one before. */
  readonly token: Int32Array;
  readonly tokenLength: number;
  /** The key that came after this one the last time: writers keep to an order. Only a guess. */
  next: Name<T> | undefined = undefined;

  constructor(name: string, value: T) {
    this.value = value;
    this.bytes = utf8.encode(name);
    this.hash = hashOf(this.bytes, 0, this.bytes.length);
    const token = utf8.encode(`"${name}":`);
    this.tokenLength = token.length;
    const view = new DataView(token.buffer, token.byteOffset, token.length);
    const last = token.length - 4;
    this.token = Int32Array.from({ length: last < 0 ? 0 : (token.length + 3) >> 2 }, (_, i) =>
      view.getInt32(Math.min(4 * i, last), true),
    );
  }
}

/** A hash table with open addressing, at most a quarter full. */
export class NameTable<T> {
  readonly #slots: (Name<T> | undefined)[];
  readonly #mask: number;

  /** @param entries no name twice. */
  constructor(entries: readonly (readonly [name: string, value: T])[]) {
    let size = 8;
    while (size < entries.length * 4) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Array<Name<T> | undefined>(size).fill(undefined);
    for (const [text, value] of entries) {
      const name = new Name(text, value);
      let i = name.hash & this.#mask;
      while (this.#slots[i] !== undefined) i = (i + 1) & this.#mask;
      this.#slots[i] = name;
    }
  }

  /** The name with the quotes at `start` and before `end`. @returns undefined for none, and where escapes are in it. */
  find(start: number, end: number): Name<T> | undefined {
    const { src } = io;
    const first = start + 1;
    const length = end - 1 - first;
    let i = hashOf(src, first, end - 1) & this.#mask;
    for (let name = this.#slots[i]; name !== undefined; name = this.#slots[i]) {
      const { bytes } = name;
      if (bytes.length === length) {
        let j = 0;
        while (j < length && bytes[j] === src[first + j]) j++;
        if (j === length) return name;
      }
      i = (i + 1) & this.#mask;
    }
    return undefined;
  }
}

/** Whether `"name":` stands at `p`, without white space. The zeros behind the input end the comparison in time. */
export function isTokenAt(name: Name<unknown>, p: number): boolean {
  const { srcView } = io;
  const { token } = name;
  const last = token.length - 1;
  if (last < 0) return false;
  let q = p;
  for (let i = 0; i < last; i++, q += 4) if (srcView.getInt32(q, true) !== token[i]) return false;
  return srcView.getInt32(p + name.tokenLength - 4, true) === token[last];
}

/** @returns where the string at `start` ends, behind its quote. One with a backslash is not for here. */
export function endOfName(start: number): number {
  const { src } = io;
  if (src[start] !== QUOTE) throw IRREGULAR;
  let p = start + 1;
  for (let byte = src[p] as number; byte !== QUOTE; byte = src[++p] as number) {
    if (byte < 0x20 || byte === BACKSLASH) throw IRREGULAR;
  }
  return p + 1;
}

/** @returns where the value begins after a key that ends at `end`. */
export function skipColon(end: number): number {
  const { src } = io;
  const p = src[end] === COLON ? end : skipSpace(end);
  if (src[p] !== COLON) throw IRREGULAR;
  return skipSpace(p + 1);
}

/** FNV-1a. @param basis another than the usual one gives hashes that nobody outside can foretell. */
export function hashOf(bytes: Uint8Array, start: number, end: number, basis = 0x811c_9dc5 | 0): number {
  let hash = basis;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x0100_0193);
  return hash;
}
