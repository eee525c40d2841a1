/** google.protobuf.FieldMask: `fooBar,baz.quxQuux`, each path a record of paths = 1, in proto names. */
import { BACKSLASH, COMMA, QUOTE, UNDERSCORE } from "./ascii.ts";
import { endLength, IRREGULAR, io, reserve } from "./fast-io.ts";

const PATHS = (1 << 3) | 2;

/** @returns where it ends. */
export function writeMask(start: number): number {
  const { src } = io;
  if (src[start] !== QUOTE) throw IRREGULAR;
  let p = start + 1;
  if (src[p] === QUOTE) return p + 1;
  do p = writePath(p);
  while (src[p++] === COMMA);
  return p;
}

/** @returns where its comma or the quote stands. */
function writePath(start: number): number {
  const { src } = io;
  let end = start;
  for (let byte = src[end] as number; byte !== COMMA && byte !== QUOTE; byte = src[++end] as number) {
    // An underscore would not come back from the way out.
    if (byte < 0x20 || byte >= 0x80 || byte === BACKSLASH || byte === UNDERSCORE) throw IRREGULAR;
  }
  if (end === start) throw IRREGULAR;
  // Each capital becomes two bytes.
  reserve(2 * (end - start));
  const { out } = io;
  out[io.at++] = PATHS;
  const content = ++io.at;
  let at = content;
  for (let p = start; p < end; p++) {
    const byte = src[p] as number;
    if (byte >= 0x41 && byte <= 0x5a) {
      out[at++] = UNDERSCORE;
      out[at++] = byte | 0x20;
    } else out[at++] = byte;
  }
  io.at = at;
  endLength(content, 1);
  return end;
}
