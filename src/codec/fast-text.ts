/** Strings and base64 from the bytes of JSON to those of the wire, in one pass. */
import { endLength, IRREGULAR, io, reserve } from "./fast-io.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const PADDING = 0x3d;

/** What a letter behind a backslash stands for; 0 for those that stand for nothing, and for `u`. */
const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = JSON.parse(`"\\${letter}"`).charCodeAt(0);

const NO_SEXTET = 0xff;
/** The six bits of each character, in both alphabets of base64. */
const SEXTETS = new Uint8Array(256).fill(NO_SEXTET);
for (const alphabet of ["+/", "-_"]) {
  const letters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let i = 0; i < letters.length; i++) SEXTETS[letters.charCodeAt(i)] = i;
}

/**
 * Writes a string with its length before it.
 *
 * @param start of the opening quote.
 * @returns where it ends, behind the closing quote.
 */
export function writeString(start: number): number {
  const { src, srcView } = io;
  if (src[start] !== QUOTE) throw IRREGULAR;
  // No character grows on its way to UTF-8, so there is room for all that is left.
  reserve(io.end - start);
  const { out, outView } = io;
  const content = io.at + 1;
  let p = start + 1;
  let at = content;
  for (;;) {
    // Four bytes at a time. Of those that are not plain the first has its high bit set in `found`.
    let word = srcView.getInt32(p, true);
    let found = findSpecial(word);
    while (found === 0) {
      outView.setInt32(at, word, true);
      at += 4;
      p += 4;
      word = srcView.getInt32(p, true);
      found = findSpecial(word);
    }
    outView.setInt32(at, word, true);
    const plain = (31 - Math.clz32(found & -found)) >> 3;
    at += plain;
    p += plain;
    let byte = src[p] as number;
    if (byte === QUOTE) break;
    if (byte >= 0x80) {
      do {
        const second = src[p + 1] as number;
        if ((second & 0xc0) === 0x80 && byte >= 0xc2 && byte < 0xe0) {
          out[at] = byte;
          out[at + 1] = second;
          at += 2;
          p += 2;
        } else if (isPlainTriple(byte, second, src[p + 2] as number)) {
          out[at] = byte;
          out[at + 1] = second;
          out[at + 2] = src[p + 2] as number;
          at += 3;
          p += 3;
        } else {
          let length = sequenceLength(p);
          do out[at++] = src[p++] as number;
          while (--length > 0);
        }
        byte = src[p] as number;
      } while (byte >= 0x80);
      continue;
    }
    if (byte !== BACKSLASH) throw IRREGULAR;
    const escaped = ESCAPES[src[p + 1] as number] as number;
    if (escaped !== 0) {
      out[at++] = escaped;
      p += 2;
    } else {
      io.at = at;
      p = writeUnicodeEscape(p);
      at = io.at;
    }
  }
  io.at = at;
  const size = at - content;
  if (size < 0x80) out[content - 1] = size;
  else endLength(content, 1);
  return p + 1;
}

/**
 * Where a quote, a backslash, a control or a byte that is not ASCII is among four: by the high bits of the result. Those
 * above the lowest may be wrong, by a borrow.
 */
function findSpecial(word: number): number {
  const quote = word ^ 0x2222_2222;
  const backslash = word ^ 0x5c5c_5c5c;
  return (
    (((quote - 0x0101_0101) & ~quote) | ((backslash - 0x0101_0101) & ~backslash) | (word - 0x2020_2020) | word) &
    0x8080_8080
  );
}

/** Three bytes that are a character, whatever they are exactly: the first bytes e0 and ed ask for more. */
function isPlainTriple(first: number, second: number, third: number): boolean {
  return first > 0xe0 && first < 0xf0 && first !== 0xed && (second & 0xc0) === 0x80 && (third & 0xc0) === 0x80;
}

/** Length of the multi-byte character at `p` (Unicode §3.9, table 3-7). The zeros behind the input continue none. */
function sequenceLength(p: number): number {
  const { src } = io;
  const first = src[p] as number;
  const second = src[p + 1] as number;
  if ((second & 0xc0) !== 0x80 || first < 0xc2 || first > 0xf4) throw IRREGULAR;
  if (first < 0xe0) return 2;
  if (((src[p + 2] as number) & 0xc0) !== 0x80) throw IRREGULAR;
  if (first < 0xf0) {
    if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) throw IRREGULAR;
    return 3;
  }
  if (((src[p + 3] as number) & 0xc0) !== 0x80) throw IRREGULAR;
  if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) throw IRREGULAR;
  return 4;
}

/** `\uXXXX` at `p`, or a pair of them, as UTF-8. @returns where it ends. */
function writeUnicodeEscape(p: number): number {
  const { src, out } = io;
  let code = readHex(p);
  let end = p + 6;
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00 || src[end] !== BACKSLASH) throw IRREGULAR;
    const low = readHex(end);
    if (low < 0xdc00 || low > 0xdfff) throw IRREGULAR;
    code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    end += 6;
  }
  if (code < 0x80) {
    out[io.at++] = code;
  } else {
    if (code < 0x800) {
      out[io.at++] = 0xc0 | (code >> 6);
    } else {
      if (code < 0x1_0000) {
        out[io.at++] = 0xe0 | (code >> 12);
      } else {
        out[io.at++] = 0xf0 | (code >> 18);
        out[io.at++] = 0x80 | ((code >> 12) & 0x3f);
      }
      out[io.at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    out[io.at++] = 0x80 | (code & 0x3f);
  }
  return end;
}

/** @param p of a backslash, after which `u` and four digits must stand. */
function readHex(p: number): number {
  const { src } = io;
  if (src[p + 1] !== LETTER_U) throw IRREGULAR;
  let code = 0;
  for (let i = 2; i < 6; i++) {
    const byte = src[p + i] as number;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) code = (code << 4) | (byte - 0x30);
    else if (letter >= 0x61 && letter <= 0x66) code = (code << 4) | (letter - 0x57);
    else throw IRREGULAR;
  }
  return code;
}

/** Writes what a base64 string stands for, either alphabet, padded or not, with its length. @returns where it ends. */
export function writeBase64(start: number): number {
  const { src } = io;
  if (src[start] !== QUOTE) throw IRREGULAR;
  reserve(io.end - start);
  const { out } = io;
  const content = io.at + 1;
  const first = start + 1;
  let p = first;
  let at = content;
  for (;;) {
    const a = SEXTETS[src[p] as number] as number;
    const b = SEXTETS[src[p + 1] as number] as number;
    const c = SEXTETS[src[p + 2] as number] as number;
    const d = SEXTETS[src[p + 3] as number] as number;
    if ((a | b | c | d) === NO_SEXTET) break;
    out[at++] = (a << 2) | (b >> 4);
    out[at++] = (b << 4) | (c >> 2);
    out[at++] = (c << 6) | d;
    p += 4;
  }
  // Up to three characters are left, which stand for one byte less.
  let bits = 0;
  let left = 0;
  for (let sextet = SEXTETS[src[p] as number] as number; sextet !== NO_SEXTET; left++) {
    bits = (bits << 6) | sextet;
    sextet = SEXTETS[src[++p] as number] as number;
  }
  if (left === 1) throw IRREGULAR;
  if (left === 2) {
    out[at++] = bits >> 4;
  } else if (left === 3) {
    out[at++] = bits >> 10;
    out[at++] = bits >> 2;
  }
  if (src[p] === PADDING) {
    if (left === 0) throw IRREGULAR;
    for (let missing = 4 - left; missing > 0; missing--) if (src[p++] !== PADDING) throw IRREGULAR;
  }
  if (src[p] !== QUOTE) throw IRREGULAR;
  io.at = at;
  endLength(content, 1);
  return p + 1;
}
