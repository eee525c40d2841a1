/** Strings and base64 from the bytes of JSON to those of the wire, in one pass. */
import { specialBytes } from "./encode-name.ts";
import { at, endLength, giveUp, inputEnd, reserve, setAt } from "./memory.ts";

/** What a letter behind a backslash stands for; 0 for those that stand for nothing, and for `u`. */
const ESCAPES: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x22, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5c, 0, 0, 0, 0, 0, 0x08, 0, 0, 0, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0x0a,
  0, 0, 0, 0x0d, 0, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** Writes a string with its length before it. @param p of the opening quote. @returns where it ends, behind the other. */
export function writeString(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  // No character grows on its way to UTF-8, so there is room for all that is left.
  reserve(inputEnd - p + 16);
  const content = at + 1;
  let o = content;
  for (;;) {
    let bytes = v128.load(p);
    let special = specialBytes(bytes);
    v128.store(o, bytes);
    while (special === 0) {
      p += 16;
      o += 16;
      bytes = v128.load(p);
      special = specialBytes(bytes);
      v128.store(o, bytes);
    }
    const plain = <usize>ctz(special);
    p += plain;
    o += plain;
    let byte = <u32>load<u8>(p);
    if (byte === 0x22) break;
    if (byte >= 0x80) {
      do {
        const length = sequenceLength(p, byte);
        store<u32>(o, load<u32>(p));
        o += length;
        p += length;
        byte = load<u8>(p);
      } while (byte >= 0x80);
      continue;
    }
    if (byte !== 0x5c) giveUp();
    byte = load<u8>(p, 1);
    const escaped = byte < 0x80 ? <u32>load<u8>(ESCAPES + byte) : 0;
    if (escaped !== 0) {
      store<u8>(o++, escaped);
      p += 2;
    } else {
      setAt(o);
      p = writeUnicodeEscape(p);
      o = at;
    }
  }
  setAt(o);
  endLength(content, 1);
  return p + 1;
}

/**
 * Of the multi-byte character that begins with this byte (Unicode §3.9, table 3-7). It ends before the first byte that
 * does not continue it, so before whatever ends the text.
 */
// @inline
export function sequenceLength(p: usize, first: u32): usize {
  const word = load<u32>(p);
  if (first < 0xe0) {
    if (first < 0xc2 || (word & 0xc000) !== 0x8000) giveUp();
    return 2;
  }
  const second = (word >> 8) & 0xff;
  if (first < 0xf0) {
    if ((word & 0xc0c000) !== 0x808000 || (first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f))
      giveUp();
    return 3;
  }
  if (first > 0xf4 || (word & 0xc0c0c000) !== 0x80808000) giveUp();
  if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) giveUp();
  return 4;
}

/** `\uXXXX` at `p`, or a pair of them, as UTF-8. @returns where it ends. */
function writeUnicodeEscape(p: usize): usize {
  let code = readHex(p);
  p += 6;
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00) giveUp();
    const lower = readHex(p);
    if (lower < 0xdc00 || lower > 0xdfff) giveUp();
    code = 0x10000 + ((code - 0xd800) << 10) + (lower - 0xdc00);
    p += 6;
  }
  let o = at;
  if (code < 0x80) {
    store<u8>(o++, code);
  } else {
    if (code < 0x800) {
      store<u8>(o++, 0xc0 | (code >> 6));
    } else {
      if (code < 0x10000) {
        store<u8>(o++, 0xe0 | (code >> 12));
      } else {
        store<u8>(o++, 0xf0 | (code >> 18));
        store<u8>(o++, 0x80 | ((code >> 12) & 0x3f));
      }
      store<u8>(o++, 0x80 | ((code >> 6) & 0x3f));
    }
    store<u8>(o++, 0x80 | (code & 0x3f));
  }
  setAt(o);
  return p;
}

/** @param p of a backslash, after which `u` and four digits must stand. */
function readHex(p: usize): u32 {
  if (load<u16>(p) !== 0x755c) giveUp();
  let code: u32 = 0;
  for (let i: usize = 2; i < 6; i++) {
    const byte = <u32>load<u8>(p + i);
    const letter = (byte | 0x20) - 0x61;
    if (byte - 0x30 < 10) code = (code << 4) | (byte - 0x30);
    else if (letter < 6) code = (code << 4) | (letter + 10);
    else giveUp();
  }
  return code;
}

const NO_SEXTET: u32 = 0xff;
/** The six bits of each character from 0x20 on, in both alphabets of base64; `NO_SEXTET` for others. */
const SEXTETS: usize = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 62, 255, 62, 255, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61,
  255, 255, 255, 255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
  23, 24, 25, 255, 255, 255, 255, 63, 255, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
  45, 46, 47, 48, 49, 50, 51, 255, 255, 255, 255, 255,
]);

// @inline
function sextetOf(byte: u32): u32 {
  return byte - 0x20 < 0x60 ? <u32>load<u8>(SEXTETS + (byte - 0x20)) : NO_SEXTET;
}

/** Writes what a base64 string stands for, either alphabet, padded or not, with its length. @returns where it ends. */
export function writeBase64(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  reserve(inputEnd - p);
  const content = at + 1;
  let o = content;
  for (;;) {
    const a = sextetOf(load<u8>(p));
    const b = sextetOf(load<u8>(p, 1));
    const c = sextetOf(load<u8>(p, 2));
    const d = sextetOf(load<u8>(p, 3));
    if ((a | b | c | d) === NO_SEXTET) break;
    store<u32>(o, bswap((a << 26) | (b << 20) | (c << 14) | (d << 8)));
    o += 3;
    p += 4;
  }
  // Up to three characters are left, which stand for one byte less.
  let bits: u32 = 0;
  let left: i32 = 0;
  for (let sextet = sextetOf(load<u8>(p)); sextet !== NO_SEXTET; left++) {
    bits = (bits << 6) | sextet;
    sextet = sextetOf(load<u8>(++p));
  }
  if (left === 1) giveUp();
  if (left === 2) {
    store<u8>(o++, bits >> 4);
  } else if (left === 3) {
    store<u8>(o++, bits >> 10);
    store<u8>(o++, bits >> 2);
  }
  if (load<u8>(p) === 0x3d) {
    if (left === 0) giveUp();
    for (let missing = 4 - left; missing > 0; missing--) if (load<u8>(p++) !== 0x3d) giveUp();
  }
  if (load<u8>(p) !== 0x22) giveUp();
  setAt(o);
  endLength(content, 1);
  return p + 1;
}
