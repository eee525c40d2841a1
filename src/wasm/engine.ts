/**
 * The codec's WebAssembly engine: JSON ⇄ wire over tables that the host writes into memory (`layout.ts`).
 *
 * It knows no errors: whatever is wrong or rare it gives up, and the TypeScript engine does the message again. What it does
 * write is what that one would have written, byte for byte.
 */
import { beginMessage, printMessage, printOnly, unknownFields } from "./decode-message.ts";
import { forgetNotes } from "./decode-order.ts";
import { setOptions } from "./decode-scalar.ts";
import { setNext } from "./decode-wire.ts";
import { forgetSeen, isUnset, SEEN, writeField, writeObject } from "./encode-message.ts";
import { skipSpace } from "./encode-name.ts";
import { close, giveUp, inputEnd, open } from "./memory.ts";
import { placeEnum, placeMessage } from "./tables.ts";
import { forgetTypes } from "./types.ts";

/** Where the host may put tables. */
export function tablesStart(): usize {
  return __heap_base;
}

/** Where the bits stand of the fields that the JSON of the message itself had. */
export function seenStart(): usize {
  return SEEN;
}

/** See `placeMessage`. */
export function writeMessage(
  start: usize,
  kind: i32,
  described: usize,
  count: u32,
  innerCount: u32,
  oneofs: u32,
  text: usize,
): usize {
  return placeMessage(start, kind, described, count, innerCount, oneofs, text);
}

/** See `placeEnum`. */
export function writeEnum(
  start: usize,
  isClosed: u32,
  described: usize,
  count: u32,
  defaultNumber: i32,
  text: usize,
): usize {
  return placeEnum(start, isClosed, described, count, defaultNumber, text);
}

/**
 * JSON → wire.
 *
 * @param field address of one of which the JSON is the value, its records are written then; or 0: it is the message.
 * @param maxBytes of the output.
 * @returns length of the wire.
 */
export function encode(
  message: usize,
  field: usize,
  input: usize,
  length: usize,
  output: usize,
  levels: i32,
  maxBytes: usize,
): usize {
  open(input, length, output, levels, maxBytes);
  forgetSeen();
  forgetTypes();
  const start = skipSpace(input);
  let end: usize;
  if (field === 0) end = writeObject(message, start, 1);
  else if (isUnset(field, start)) end = start + 4;
  else end = writeField(field, start, 1);
  if (skipSpace(end) !== inputEnd) giveUp();
  return close();
}

/**
 * Wire → JSON.
 *
 * @param number of the only field that is wanted, or 0: the message.
 * @param options `EMIT_DEFAULTS` and the others.
 * @param maxBytes of the output.
 * @returns length of the JSON.
 */
export function decode(
  message: usize,
  number: u32,
  input: usize,
  length: usize,
  output: usize,
  levels: i32,
  options: u32,
  maxBytes: usize,
): usize {
  open(input, length, output, levels, maxBytes);
  forgetNotes();
  forgetTypes();
  setOptions(options);
  beginMessage(options);
  setNext(input);
  if (number === 0) printMessage(message, inputEnd);
  else printOnly(message, number, inputEnd);
  return close();
}

/** Records that the last message decoded had for no field. */
export function skippedFields(): u32 {
  return unknownFields;
}
