/**
 * Members of an object whose records were not in order of field numbers: each is printed where its record is met, and
 * noted, and at the end of the object they change places. Objects lie in objects, so the notes are a stack.
 */
import { giveUp, reserve, tape } from "./print-tape.ts";

/** Of a note: rank, then start and end in the JSON. */
const NOTE_SIZE = 3;
/** More bytes are moved by the runtime, whose call costs as much as so many. */
const FEW_BYTES = 64;
const WORD_BYTES = 4;

/** So many are sorted by insertion; beyond, the runtime is faster, and does not take the square of their number. */
const FEW_NOTES = 32;
/** More than a message has fields. */
const MAX_NOTES = 2 ** 30;

let notes = new Int32Array(NOTE_SIZE << 7);
/** Of the notes that are being sorted: rank and number, as one number. */
let keys = new Float64Array(1 << 7);

/** Where the member of a record belongs. `index` of the field among those of its message. */
export function rankOfSet(index: number): number {
  return index * 2 + 1;
}

/** Where the member of a field without a record, so far, belongs. */
export function rankOfUnset(index: number): number {
  return index * 2;
}

/** The member that begins at `start` and ends here. */
export function noteMember(rank: number, start: number): void {
  const at = tape.noteCount * NOTE_SIZE;
  if (at === notes.length) {
    const grown = new Int32Array(at * 2);
    grown.set(notes);
    notes = grown;
  }
  notes[at] = rank;
  notes[at + 1] = start;
  notes[at + 2] = tape.length;
  tape.noteCount++;
}

/**
 * Puts the members from note number `first` on, which are the last that was printed, in order of their ranks. Of a
 * field that had a record after all, that one stays. Gives up when a field had two.
 */
export function sortMembers(first: number): void {
  const count = tape.noteCount - first;
  const from = first * NOTE_SIZE;
  const start = notes[from + 1] as number;
  sortKeys(from, count);
  const top = tape.length;
  reserve(top - start + WORD_BYTES);
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number;
    const rank = Math.floor(key / MAX_NOTES);
    const note = from + (key - rank * MAX_NOTES) * NOTE_SIZE;
    const following = i + 1 < count ? Math.floor((keys[i + 1] as number) / MAX_NOTES) : -1;
    if (following === rank) giveUp();
    if (following !== (rank | 1)) copyBehind(notes[note + 1] as number, notes[note + 2] as number);
  }
  const { json, length } = tape;
  json.copyWithin(start, top, length);
  tape.length = start + (length - top);
}

function sortKeys(from: number, count: number): void {
  if (count > keys.length) keys = new Float64Array(count * 2);
  for (let i = 0; i < count; i++) keys[i] = (notes[from + i * NOTE_SIZE] as number) * MAX_NOTES + i;
  if (count > FEW_NOTES) {
    keys.subarray(0, count).sort();
    return;
  }
  for (let i = 1; i < count; i++) {
    const key = keys[i] as number;
    let to = i;
    for (; to > 0 && (keys[to - 1] as number) > key; to--) keys[to] = keys[to - 1] as number;
    keys[to] = key;
  }
}

/** Appends a piece of the JSON. A word more than its length is written. */
function copyBehind(start: number, end: number): void {
  const { json, jsonView, length } = tape;
  if (end - start > FEW_BYTES) {
    json.copyWithin(length, start, end);
  } else {
    for (let from = start, to = length; from < end; from += WORD_BYTES, to += WORD_BYTES) {
      jsonView.setInt32(to, jsonView.getInt32(from, true), true);
    }
  }
  tape.length = length + (end - start);
}
