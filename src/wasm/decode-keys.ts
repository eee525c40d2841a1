/** Whether a map on the wire has a key twice, told from its entries: all behind one another. */
import { follows, next, readEnd, readTag, readVarint, setNext } from "./decode-wire.ts";
import { BOOL, INT32, SINT32, STRING, UINT32 } from "./kind.ts";
import { areEqual, at, giveUp, hashOf, reserve } from "./memory.ts";

/** So many keys are compared each with each, which is cheaper than to hash them. */
const FEW_KEYS: u32 = 8;
/** Keys that were made to collide are for the other engine. */
const PROBES_PER_KEY = 8;

/** The key of the entry last looked at: where a string stands and its length, or a number. */
let keyStart: usize = 0;
let keyBytes: usize = 0;
let keyNumber: u64 = 0;

/**
 * @param first entry, at its length. @param end of the last. @param keyTag of the keys in the entries.
 * @param kind of the keys.
 */
export function checkKeys(first: usize, end: usize, count: u32, keyTag: u32, kind: i32): void {
  if (count < 2) return;
  const back = next;
  if (count > FEW_KEYS) checkMany(first, end, count, keyTag, kind);
  else checkFew(first, end, keyTag, kind);
  setNext(back);
}

function checkFew(first: usize, end: usize, keyTag: u32, kind: i32): void {
  for (let a = first; a < end; ) {
    const following = readEntry(a, end, keyTag, kind);
    const start = keyStart;
    const length = keyBytes;
    const number = keyNumber;
    for (let b = first; b < a; ) {
      b = readEntry(b, end, keyTag, kind);
      if (isSame(start, length, number)) giveUp();
    }
    a = following;
  }
}

/** In a hash table behind all that was printed: addresses of entries, open addressing, at most half full. */
function checkMany(first: usize, end: usize, count: u32, keyTag: u32, kind: i32): void {
  const size: usize = (<usize>1) << (32 - clz(count * 2 - 1));
  reserve((size << 2) + 4);
  const table = (at + 3) & ~3;
  memory.fill(table, 0, size << 2);
  let probes = count * PROBES_PER_KEY;
  for (let entry = first; entry < end; ) {
    const following = readEntry(entry, end, keyTag, kind);
    const start = keyStart;
    const length = keyBytes;
    const number = keyNumber;
    const hash = kind === STRING ? hashOf(start, length) : (<u32>number ^ <u32>(number >> 32)) * 0x9e3779b1;
    let place = <usize>(hash ^ (hash >> 16)) & (size - 1);
    for (let other = load<u32>(table + (place << 2)); other !== 0; other = load<u32>(table + (place << 2))) {
      readEntry(other, end, keyTag, kind);
      if (--probes === 0 || isSame(start, length, number)) giveUp();
      place = (place + 1) & (size - 1);
    }
    store<u32>(table + (place << 2), <u32>entry);
    entry = following;
  }
}

// @inline
function isSame(start: usize, length: usize, number: u64): bool {
  return keyNumber === number && keyBytes === length && areEqual(keyStart, start, length);
}

/** @param entry at its length. @returns the next one, at its length too. */
function readEntry(entry: usize, limit: usize, keyTag: u32, kind: i32): usize {
  setNext(entry);
  const end = readEnd(limit);
  keyBytes = 0;
  keyNumber = 0;
  if (follows(keyTag, end)) {
    if (kind === STRING) {
      const keyEnd = readEnd(end);
      keyStart = next;
      keyBytes = keyEnd - next;
    } else {
      keyNumber = readNumber(kind, keyTag & 7);
    }
  }
  setNext(end);
  if (end < limit) readTag();
  return next;
}

/** Two that are the same key are the same number. */
function readNumber(kind: i32, wireType: u32): u64 {
  if (wireType === 1) return load<u64>(next);
  if (wireType === 5) return load<u32>(next);
  const value = readVarint();
  if (kind === BOOL) return value !== 0 ? 1 : 0;
  return kind === INT32 || kind === UINT32 || kind === SINT32 ? value & 0xffffffff : value;
}
