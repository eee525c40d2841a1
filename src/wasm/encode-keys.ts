/** Whether a map has a key twice, told from its entries as they were written: all behind one another. */
import { areEqual, at, giveUp, hashOf, reserve } from "./memory.ts";

/** So many keys are compared each with each, which is cheaper than to hash them. */
const FEW_KEYS: u32 = 8;
/** Keys that were made to collide are for the other engine. */
const PROBES_PER_KEY = 8;

/** Where the key of the entry last looked at begins, its length, and where the entry ends. */
let keyStart: usize = 0;
let keyBytes: usize = 0;
let entryEnd: usize = 0;

/**
 * @param start of the first entry. @param tagBytes of every entry. @param count of entries.
 * @param isText whether keys are strings; others are of one length where they are the same.
 */
export function checkKeys(start: usize, tagBytes: usize, count: u32, isText: bool): void {
  if (count < 2) return;
  if (count > FEW_KEYS) {
    checkMany(start, tagBytes, count, isText);
    return;
  }
  const end = at;
  for (let a = start; a < end; a = entryEnd) {
    readEntry(a, tagBytes, isText);
    const length = keyBytes;
    const key = keyStart;
    const next = entryEnd;
    for (let b = start; b < a; b = entryEnd) {
      readEntry(b, tagBytes, isText);
      if (keyBytes === length && areEqual(keyStart, key, length)) giveUp();
    }
    entryEnd = next;
  }
}

/** In a hash table behind all that was written: addresses of entries, open addressing, at most half full. */
function checkMany(start: usize, tagBytes: usize, count: u32, isText: bool): void {
  const size: usize = (<usize>1) << (32 - clz(count * 2 - 1));
  reserve((size << 2) + 4);
  const end = at;
  const table = (end + 3) & ~3;
  memory.fill(table, 0, size << 2);
  let probes = count * PROBES_PER_KEY;
  for (let entry = start; entry < end; ) {
    readEntry(entry, tagBytes, isText);
    const key = keyStart;
    const length = keyBytes;
    const next = entryEnd;
    let place = <usize>hashOf(key, length) & (size - 1);
    for (let other = load<u32>(table + (place << 2)); other !== 0; other = load<u32>(table + (place << 2))) {
      readEntry(other, tagBytes, isText);
      if (--probes === 0 || (keyBytes === length && areEqual(keyStart, key, length))) giveUp();
      place = (place + 1) & (size - 1);
    }
    store<u32>(table + (place << 2), <u32>entry);
    entry = next;
  }
}

/** Tag, length, tag of the key, key. Of a number the bytes are looked at up to the tag of the value. */
function readEntry(entry: usize, tagBytes: usize, isText: bool): void {
  readLength(entry + tagBytes);
  entryEnd = keyStart + keyBytes;
  const key = keyStart + 1;
  if (isText) {
    readLength(key);
    return;
  }
  // A varint, or four or eight bytes.
  keyStart = key;
  const wireType = load<u8>(key - 1) & 7;
  if (wireType !== 0) {
    keyBytes = wireType === 1 ? 8 : 4;
    return;
  }
  let p = key;
  while (load<u8>(p++) >= 0x80);
  keyBytes = p - key;
}

/** To `keyStart` and `keyBytes`: what is length-delimited at `p`. */
function readLength(p: usize): void {
  let length: usize = 0;
  let shift: usize = 0;
  let byte: usize;
  do {
    byte = load<u8>(p++);
    length |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte >= 0x80);
  keyStart = p;
  keyBytes = length;
}
