/** google.protobuf.FieldMask, from wire to JSON: paths in lowerCamelCase, with commas between. */
import { COMMA, QUOTE, UNDERSCORE } from "./ascii.ts";
import { giveUp, readEnd, reserve, tape } from "./print-tape.ts";

const POINT = 0x2e;
const TO_UPPER = 0x20;
const PATHS_TAG = 10;

/** Gives up on paths that hold more than lower-case letters, digits, points, and underscores before letters. */
export function printMask(end: number): void {
  const { wire } = tape;
  // Tag and length of a path are longer than its comma.
  reserve(end - tape.at + 2);
  const { json } = tape;
  let o = tape.length;
  json[o++] = QUOTE;
  while (tape.at < end) {
    if (wire[tape.at++] !== PATHS_TAG) giveUp();
    const pathEnd = readEnd(end);
    let p = tape.at;
    if (p === pathEnd) giveUp();
    if (json[o - 1] !== QUOTE) json[o++] = COMMA;
    while (p < pathEnd) {
      const byte = wire[p++] as number;
      if (byte === UNDERSCORE) {
        const next = wire[p++] as number;
        if (p > pathEnd || !isLetter(next)) giveUp();
        json[o++] = next - TO_UPPER;
      } else {
        if (!isLetter(byte) && !isDigit(byte) && byte !== POINT) giveUp();
        json[o++] = byte;
      }
    }
    tape.at = pathEnd;
  }
  json[o++] = QUOTE;
  tape.length = o;
}

function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
