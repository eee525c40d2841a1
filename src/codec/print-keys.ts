/**
 * Whether a map that was printed has a key twice. Keys are noted by where they stand in the JSON; maps may lie in the
 * values of maps, so the notes are a stack.
 */
import { hashOf } from "./fast-name.ts";
import { giveUp, tape } from "./print-tape.ts";

/** So many keys are compared each with each, which is cheaper than to hash them. */
const FEW_KEYS = 8;
/** Keys that were made to collide are left to the careful decoder. */
const MAX_PROBES_PER_KEY = 8;

/** Start and end of each key, flat. */
let spans = new Int32Array(256);
/** Open addressing: offsets in `spans`, plus one; 0 is free. */
let table = new Int32Array(64);

/** The key that begins at `start` and ends here. */
export function noteKey(start: number): void {
  const at = tape.keyCount * 2;
  if (at === spans.length) {
    const grown = new Int32Array(at * 2);
    grown.set(spans);
    spans = grown;
  }
  spans[at] = start;
  spans[at + 1] = tape.length;
  tape.keyCount++;
}

/** Forgets the keys from number `first` on. Gives up when two are the same. */
export function checkKeys(first: number): void {
  const count = tape.keyCount - first;
  if (count > FEW_KEYS) checkMany(first * 2, tape.keyCount * 2);
  else if (count > 1) checkFew(first * 2, tape.keyCount * 2);
  tape.keyCount = first;
}

function checkFew(first: number, end: number): void {
  for (let a = first; a < end; a += 2) {
    for (let b = first; b < a; b += 2) if (areEqual(a, b)) giveUp();
  }
}

function checkMany(first: number, end: number): void {
  const count = (end - first) >> 1;
  // A power of two, at most half full.
  const size = 1 << (32 - Math.clz32(count * 2 - 1));
  if (size > table.length) table = new Int32Array(size);
  else table.fill(0, 0, size);
  let probes = count * MAX_PROBES_PER_KEY;
  for (let key = first; key < end; key += 2) {
    let place = hash(key) & (size - 1);
    for (let taken = table[place] as number; taken !== 0; taken = table[place] as number) {
      if (--probes < 0 || areEqual(taken - 1, key)) giveUp();
      place = (place + 1) & (size - 1);
    }
    table[place] = key + 1;
  }
}

function areEqual(a: number, b: number): boolean {
  const { json } = tape;
  const aStart = spans[a] as number;
  const bStart = spans[b] as number;
  const length = (spans[a + 1] as number) - aStart;
  if ((spans[b + 1] as number) - bStart !== length) return false;
  for (let i = length - 1; i >= 0; i--) if (json[aStart + i] !== json[bStart + i]) return false;
  return true;
}

/** With the upper bits folded in. */
function hash(key: number): number {
  const value = hashOf(tape.json, spans[key] as number, spans[key + 1] as number);
  return value ^ (value >>> 15);
}
