/** Which entries of a map count: one for each key, with the value that came last, in the place of the first. */
import { hashOf } from "./fast-name.ts";
import * as Kind from "./kind.ts";
import type { PlanMap } from "./print-plan.ts";
import { giveUp, readTag, skip, skipContent, tape } from "./print-tape.ts";
import { entries, hasName, records } from "./regular-notes.ts";

/** A power of two. */
const FIRST_PLACES = 16;
/** Keys that were made to collide are left to the careful decoder. */
const MAX_PROBES_PER_KEY = 8;

/** Entries by the hash of their key: open addressing, 0 is free. */
let places = new Int32Array(FIRST_PLACES);

/**
 * Notes them behind the entries that are there.
 *
 * @param first of the records.
 * @returns how many unknown fields they have.
 */
export function noteEntries({ key, keyTag, value, valueTag }: PlanMap, first: number): number {
  const firstEntry = entries.top;
  let unknownFields = 0;
  places.fill(0, 0, FIRST_PLACES);
  let size = FIRST_PLACES;
  let probes = 0;
  for (let record = first; record !== 0; record = records.values[record + 2] as number) {
    tape.at = records.values[record] as number;
    const end = records.values[record + 1] as number;
    let [keyStart, keyEnd, valueFirst, valueLast] = [0, 0, 0, 0];
    while (tape.at < end) {
      const tag = readTag();
      if (tag === keyTag) {
        keyStart = skipContent(tag, end);
        keyEnd = tape.at;
      } else if (tag === valueTag) {
        const start = skipContent(tag, end);
        if (valueFirst !== 0 && value.kind < Kind.MESSAGE) {
          records.values[valueFirst] = start;
          records.values[valueFirst + 1] = tape.at;
        } else {
          const next = records.push(start, tape.at, 0);
          if (valueFirst === 0) valueFirst = next;
          else records.values[valueLast + 2] = next;
          valueLast = next;
        }
      } else {
        skip(tag);
        unknownFields++;
      }
    }
    if (tape.at !== end) giveUp();
    if (value.names?.closed && (valueFirst === 0 || !hasName(value.names, records.values[valueFirst] as number))) {
      // Which number stands for no record the careful decoder knows.
      if (valueFirst === 0) giveUp();
      unknownFields++;
      continue;
    }
    // Zero is as good as no key.
    if (key.kind !== Kind.STRING && isZero(keyStart, keyEnd)) keyEnd = keyStart;
    if ((entries.top - firstEntry) / 3 >= size / 2) {
      size *= 2;
      probes = rehash(firstEntry, size);
    }
    let place = hash(keyStart, keyEnd) & (size - 1);
    let entry = places[place] as number;
    while (entry !== 0 && !isEntryOf(entry, keyStart, keyEnd)) {
      if (++probes > size * MAX_PROBES_PER_KEY) giveUp();
      place = (place + 1) & (size - 1);
      entry = places[place] as number;
    }
    if (entry === 0) places[place] = entries.push(keyStart, keyEnd, valueFirst);
    else entries.values[entry + 2] = valueFirst;
  }
  return unknownFields;
}

/** Makes room for so many. @returns the probes that it took. */
function rehash(firstEntry: number, size: number): number {
  if (size > places.length) places = new Int32Array(size);
  else places.fill(0, 0, size);
  let probes = 0;
  for (let entry = firstEntry; entry < entries.top; entry += 3) {
    let place = hash(entries.values[entry] as number, entries.values[entry + 1] as number) & (size - 1);
    for (; places[place] !== 0; probes++) {
      if (probes > size * MAX_PROBES_PER_KEY) giveUp();
      place = (place + 1) & (size - 1);
    }
    places[place] = entry;
  }
  return probes;
}

/** With the upper bits folded in. */
function hash(start: number, end: number): number {
  const value = hashOf(tape.wire, start, end);
  return value ^ (value >>> 15);
}

function isEntryOf(entry: number, start: number, end: number): boolean {
  const { wire } = tape;
  const from = entries.values[entry] as number;
  if ((entries.values[entry + 1] as number) - from !== end - start) return false;
  for (let i = end - start - 1; i >= 0; i--) if (wire[from + i] !== wire[start + i]) return false;
  return true;
}

function isZero(start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (tape.wire[at] !== 0) return false;
  return true;
}
