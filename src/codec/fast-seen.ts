/**
 * What an object has had already. Fields and oneofs are bits on a stack; keys of maps are hashes, of which two equal
 * ones are suspicion enough.
 */

import { IRREGULAR, io } from "./fast-io.ts";
import { hashOf } from "./fast-name.ts";

/** Fields of all objects that are open. */
const bits = new Int32Array(1 << 13);
let top = 0;

/** Up to so many keys are looked for one by one, which is faster than a table and leaves no garbage. */
const FEW = 16;
/** Hashes of the first keys of all maps that are open. */
const hashes = new Int32Array(1 << 12);
let hashesTop = 0;

/**
 * Hashes that a caller can foretell could be made equal. Drawn when first needed: a Worker that starts has no chance
 * yet.
 */
let basis = 0;

export function forgetSeen(): void {
  top = 0;
  hashesTop = 0;
}

/** @param words how many words of bits the message needs. @returns the place of its bits. */
export function openFields(words: number): number {
  const place = top;
  top += words;
  if (top > bits.length) throw IRREGULAR;
  for (let i = place; i < top; i++) bits[i] = 0;
  return place;
}

export function closeFields(place: number): void {
  top = place;
}

export function isSeen(place: number, bit: number): boolean {
  return ((bits[place + (bit >> 5)] as number) & (1 << (bit & 31))) !== 0;
}

/** Notes a field or oneof that must not come twice. */
export function see(place: number, bit: number): void {
  const word = place + (bit >> 5);
  const before = bits[word] as number;
  const after = before | (1 << (bit & 31));
  if (after === before) throw IRREGULAR;
  bits[word] = after;
}

/** @returns the place of a map's keys. */
export function openKeys(): number {
  if (hashesTop + FEW > hashes.length) throw IRREGULAR;
  if (basis === 0) basis = (Math.random() * 2 ** 32) | 1;
  return hashesTop;
}

export function closeKeys(place: number): void {
  hashesTop = place;
}

/**
 * Notes the key that was written from `start` on: the bytes of the wire, where two spellings of a key are one.
 *
 * @param many what was returned for the key before it in the map.
 */
export function seeKey(place: number, start: number, many: ManyKeys | undefined): ManyKeys | undefined {
  if (many !== undefined) {
    many.add(start);
    return many;
  }
  const hash = hashOf(io.out, start, io.at, basis);
  for (let i = place; i < hashesTop; i++) if (hashes[i] === hash) throw IRREGULAR;
  hashes[hashesTop++] = hash;
  return hashesTop - place < FEW ? undefined : new ManyKeys(hashes.subarray(place, hashesTop));
}

/**
 * The keys of one object that has many. One hash of 32 bits would take two of half a million keys for the same, so each
 * has a second. V8's own Set took three times as long (bench codec).
 */
export class ManyKeys {
  /** At most half full. Of each key both hashes; a pair of zeros is free. */
  #slots = new Int32Array(128);
  #count = 0;
  /** The first keys have one hash only. */
  readonly #first: Int32Array;

  constructor(first: Int32Array) {
    this.#first = first.slice();
  }

  /** Notes the key that was written from `start` on. */
  add(start: number): void {
    const hash = hashOf(io.out, start, io.at, basis);
    if (this.#first.includes(hash)) throw IRREGULAR;
    if (this.#count * 4 === this.#slots.length) this.#grow();
    this.#put(hash, hashOf(io.out, start, io.at, ~basis) | 1);
    this.#count++;
  }

  #put(hash: number, second: number): void {
    const slots = this.#slots;
    const last = slots.length - 2;
    // The upper bits: in the lower ones of FNV a difference of the highest bit can be undone.
    let i = (hash >>> 7) & last;
    while (slots[i + 1] !== 0) {
      if (slots[i] === hash && slots[i + 1] === second) throw IRREGULAR;
      i = (i + 2) & last;
    }
    slots[i] = hash;
    slots[i + 1] = second;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 2);
    for (let i = 0; i < before.length; i += 2) {
      if (before[i + 1] !== 0) this.#put(before[i] as number, before[i + 1] as number);
    }
  }
}
