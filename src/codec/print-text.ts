/** Strings and bytes, from wire to JSON. */
import { refuse, reserve, tape } from "./print-tape.ts";
import { sequenceEnd, utf8 } from "./utf8.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const PAD = 0x3d;

/** By byte: 1 for those that cannot be copied without a look: quotes, backslashes, control characters, non-ASCII. */
const special = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte >= 0x80 ? 1 : 0,
);

/** By byte: what stands for it in a string. */
const escapes: readonly Uint8Array[] = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  utf8.encode(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);
const ESCAPE_BYTES = 8;

/**
 * Not 0 where one of the four bytes is special, in its upper bit or in those of bytes behind it: the widest integer
 * that JS has without BigInt. Looking at bytes one by one takes twice as long.
 */
function findSpecial(word: number): number {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  const found = ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | (word - 0x20202020) | word;
  return found & 0x80808080;
}

/** By number of bytes: those of a word that count. */
const counting = Int32Array.of(0, 0xff, 0xffff, 0xff_ffff);

/**
 * Of the character at the start of a word, if it has two bytes or three: all bits of one are looked at together (Unicode
 * §3.9, table 3-7). 0 for others.
 */
function sequenceLength(word: number): number {
  if ((word & 0xc0e0) === 0x80c0) return (word & 0x1e) === 0 ? 0 : 2;
  if ((word & 0xc0c0f0) !== 0x8080e0) return 0;
  // E0 and a second byte below A0 is too long a form; ED and one from A0 on is half of a surrogate pair.
  const narrow = word & 0x200f;
  return narrow === 0 || narrow === 0x200d ? 0 : 3;
}

/** The bytes from here to `end` as a JSON string. Gives up on what is not UTF-8. */
export function printString(end: number): void {
  const { wire, wireView } = tape;
  let p = tape.at;
  reserve(end - p + ESCAPE_BYTES);
  let { json, jsonView } = tape;
  let o = tape.length;
  json[o++] = QUOTE;
  const lastWord = end - 4;
  for (;;) {
    while (p <= lastWord) {
      const word = wireView.getInt32(p, true);
      if (findSpecial(word) !== 0) break;
      jsonView.setInt32(o, word, true);
      o += 4;
      p += 4;
    }
    if (p > lastWord) {
      // One to three bytes. What is written behind them gives way to what comes next.
      const word = wireView.getInt32(p, true);
      if ((findSpecial(word) & (counting[end - p] as number)) === 0) {
        jsonView.setInt32(o, word, true);
        o += end - p;
        break;
      }
    }
    // There is one before the end.
    let byte = wire[p] as number;
    while (special[byte] === 0) {
      json[o++] = byte;
      byte = wire[++p] as number;
    }
    if (byte >= 0x80) {
      do {
        const word = wireView.getInt32(p, true);
        const length = sequenceLength(word) || (sequenceEnd(wire, p, end) ?? refuse()) - p;
        if (p + length > end) refuse();
        jsonView.setInt32(o, word, true);
        o += length;
        p += length;
        byte = wire[p] as number;
      } while (byte >= 0x80 && p < end);
      continue;
    }
    const escaped = escapes[byte] as Uint8Array;
    p++;
    tape.length = o;
    reserve(end - p + 2 * ESCAPE_BYTES);
    json = tape.json;
    jsonView = tape.jsonView;
    for (let i = 0; i < escaped.length; i++) json[o++] = escaped[i] as number;
  }
  json[o++] = QUOTE;
  tape.length = o;
  tape.at = end;
}

const letters = utf8.encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/** The bytes from here to `end` in base64 (standard alphabet, padded), in quotes. */
export function printBytes(end: number): void {
  const { wire } = tape;
  let p = tape.at;
  reserve(Math.ceil((end - p) / 3) * 4 + 2);
  const { json } = tape;
  let o = tape.length;
  json[o++] = QUOTE;
  for (; p + 3 <= end; p += 3) {
    const bits = ((wire[p] as number) << 16) | ((wire[p + 1] as number) << 8) | (wire[p + 2] as number);
    json[o] = letters[bits >> 18] as number;
    json[o + 1] = letters[(bits >> 12) & 63] as number;
    json[o + 2] = letters[(bits >> 6) & 63] as number;
    json[o + 3] = letters[bits & 63] as number;
    o += 4;
  }
  if (p < end) {
    const bits = ((wire[p] as number) << 16) | (p + 1 < end ? (wire[p + 1] as number) << 8 : 0);
    json[o] = letters[bits >> 18] as number;
    json[o + 1] = letters[(bits >> 12) & 63] as number;
    json[o + 2] = p + 1 < end ? (letters[(bits >> 6) & 63] as number) : PAD;
    json[o + 3] = PAD;
    o += 4;
  }
  json[o++] = QUOTE;
  tape.length = o;
  tape.at = end;
}
