/** Messages that the host makes when they are first needed. */
import { FIELD_ID, FIELD_MESSAGE } from "./layout.ts";
import { areEqual, giveUp } from "./memory.ts";

/** Makes the message of a field. @returns its address, which stands in the field then. */
// @external("host", "messageOf")
declare function hostMessageOf(id: u32): usize;

/** @returns the message with the full name that stands there, or 0. */
// @external("host", "messageNamed")
declare function hostMessageNamed(start: usize, length: usize): usize;

// @inline
export function messageOf(field: usize): usize {
  const message = <usize>load<u32>(field, FIELD_MESSAGE);
  return message !== 0 ? message : hostMessageOf(load<u32>(field, FIELD_ID));
}

/** What was asked for last in this call, and where its name stands in the input: the same type often follows. */
let lastType: usize = 0;
let lastStart: usize = 0;
let lastBytes: usize = 0;

export function forgetTypes(): void {
  lastType = 0;
}

/** The message that the URL of an Any names: behind its last slash. Gives up on one that nobody knows. */
export function typeOf(url: usize, end: usize): usize {
  let start = end;
  while (start > url && load<u8>(start - 1) !== 0x2f) start--;
  const length = end - start;
  if (length === 0) giveUp();
  if (lastType !== 0 && lastBytes === length && areEqual(lastStart, start, length)) return lastType;
  const type = hostMessageNamed(start, length);
  if (type === 0) giveUp();
  lastType = type;
  lastStart = start;
  lastBytes = length;
  return type;
}
