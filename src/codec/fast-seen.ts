/**
 * What an object has had already. Fields and oneofs are bits on a stack; keys of maps are hashes, of which two equal
 * ones are suspicion enough.
 */

import { IRREGULAR, io } from "./fast-io.ts";
import { hashOf } from "./fast-name.ts";

/** Fields of all objects that are open. */
const bits = new Int32Array(1 << 13);
let top = 0;

/** Up to so many keys are looked for one by one, which is faster than a Set and leaves no garbage. */
const FEW = 16;
/** Hashes of the first keys of all maps that are open. */
const hashes = new Int32Array(1 << 12);
let hashesTop = 0;

/**
 * V8 hashes small numbers without a seed, so a Set of hashes that a caller can foretell could be made slow. Drawn when
 * first needed: a Worker that starts has no chance yet.
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
export function seeKey(place: number, start: number, many: Set<number> | undefined): Set<number> | undefined {
  // 30 bits, which no engine puts in a box.
  const hash = hashOf(io.out, start, io.at, basis) & 0x3fff_ffff;
  if (many === undefined && hashesTop - place < FEW) {
    for (let i = place; i < hashesTop; i++) if (hashes[i] === hash) throw IRREGULAR;
    hashes[hashesTop++] = hash;
    return undefined;
  }
  const all = many ?? new Set(hashes.subarray(place, hashesTop));
  if (all.has(hash)) throw IRREGULAR;
  return all.add(hash);
}
