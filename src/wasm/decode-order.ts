/**
 * Members of an object whose records were not in order of field numbers: each is printed where its record is met, and
 * noted, and at the end of the object they change places. Objects lie in objects, so the notes are a stack.
 */
import { at, giveUp, reserve, setAt } from "./memory.ts";

/** Of a note: rank, then start and end. */
const NOTE_BYTES = 12;
const MAX_NOTES = 2048;
/** Places that a member may be moved by. More than that takes the square of their number, and is for the other engine. */
const MAX_MOVE: usize = 64;
const NOTES: usize = memory.data(NOTE_BYTES * MAX_NOTES, 8);

let top: usize = 0;

export function forgetNotes(): void {
  top = NOTES;
}

export function notesTop(): usize {
  return top;
}

/** Forgets the notes from there on. */
export function dropNotes(first: usize): void {
  top = first;
}

/** Where the member of a record belongs. @param index of the field. */
export function rankOfSet(index: u32): u32 {
  return index * 2 + 1;
}

/** Where the member of a field without a record, so far, belongs. */
export function rankOfUnset(index: u32): u32 {
  return index * 2;
}

/**
 * The member that begins at `start` and ends here. It goes among the others by its rank, from behind: most come in
 * order. Gives up when it is the second of a field that had a record, or far from its place.
 */
export function noteMember(first: usize, rank: u32, start: usize): void {
  if (top === NOTES + NOTE_BYTES * MAX_NOTES) giveUp();
  let note = top;
  const last = top - min(top - first, MAX_MOVE * NOTE_BYTES);
  top += NOTE_BYTES;
  while (note > first && load<u32>(note - NOTE_BYTES) >= rank) {
    if (load<u32>(note - NOTE_BYTES) === rank) giveUp();
    store<u32>(note, load<u32>(note - NOTE_BYTES));
    store<u64>(note, load<u64>(note - NOTE_BYTES, 4), 4);
    note -= NOTE_BYTES;
    if (note === last && note > first) giveUp();
  }
  store<u32>(note, rank);
  store<u32>(note, <u32>start, 4);
  store<u32>(note, <u32>at, 8);
}

/** Puts the members noted from `first` on, which are the last that was printed, from `start` on, in order. */
export function sortMembers(first: usize, start: usize): void {
  const printed = at;
  reserve(printed - start + 16);
  let o = printed;
  for (let note = first; note < top; note += NOTE_BYTES) {
    // Of a field that had a record after all, that one stays.
    if (
      note + NOTE_BYTES < top &&
      load<u32>(note, NOTE_BYTES) === (load<u32>(note) | 1) &&
      (load<u32>(note) & 1) === 0
    ) {
      continue;
    }
    const from = <usize>load<u32>(note, 4);
    const length = <usize>load<u32>(note, 8) - from;
    memory.copy(o, from, length);
    o += length;
  }
  memory.copy(start, printed, o - printed);
  setAt(start + (o - printed));
}
