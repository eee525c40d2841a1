/** Strings and bytes, from wire to JSON. */
import { next, setNext } from "./decode-wire.ts";
import { specialBytes } from "./encode-name.ts";
import { sequenceLength } from "./encode-text.ts";
import { at, giveUp, reserve, setAt } from "./memory.ts";

/** The letter behind the backslash for controls, quote and backslash; 0 where it takes `\u00XX`. */
const ESCAPES: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);
const HEX: usize = memory.data<u8>([
  0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66,
]);
/** `\u00` */
const ESCAPE_WORD: u32 = 0x3030755c;
/** An escape, the quote, and what a store of sixteen writes too much. */
const MARGIN: usize = 32;

/** The bytes from here to `end` as a JSON string. Gives up on what is not UTF-8. */
export function printString(end: usize): void {
  let p = next;
  reserve(end - p + MARGIN);
  let o = at;
  store<u8>(o++, 0x22);
  for (;;) {
    let special = 0;
    while (p < end) {
      const bytes = v128.load(p);
      special = specialBytes(bytes);
      v128.store(o, bytes);
      if (special !== 0) {
        const plain = <usize>ctz(special);
        p += plain;
        o += plain;
        break;
      }
      p += 16;
      o += 16;
    }
    if (p >= end) {
      o -= p - end;
      break;
    }
    let byte = <u32>load<u8>(p);
    if (byte >= 0x80) {
      do {
        const length = sequenceLength(p, byte);
        store<u32>(o, load<u32>(p));
        o += length;
        p += length;
        byte = load<u8>(p);
      } while (byte >= 0x80 && p < end);
      if (p > end) giveUp();
      continue;
    }
    p++;
    const letter = byte < 0x20 ? <u32>load<u8>(ESCAPES + byte) : byte;
    if (letter !== 0) {
      store<u16>(o, (letter << 8) | 0x5c);
      o += 2;
    } else {
      store<u32>(o, ESCAPE_WORD);
      store<u8>(o, 0x30 + (byte >> 4), 4);
      store<u8>(o, load<u8>(HEX + (byte & 15)), 5);
      o += 6;
    }
    setAt(o);
    reserve(end - p + MARGIN);
  }
  store<u8>(o, 0x22);
  setAt(o + 1);
  setNext(end);
}

const LETTERS: usize = memory.data<u8>([
  65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 97, 98, 99,
  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 48,
  49, 50, 51, 52, 53, 54, 55, 56, 57, 43, 47,
]);

// @inline
function letterOf(bits: u32): u32 {
  return load<u8>(LETTERS + (bits & 63));
}

/** The bytes from here to `end` in base64 (standard alphabet, padded), in quotes. */
export function printBytes(end: usize): void {
  let p = next;
  reserve((((end - p) / 3) << 2) + 8);
  let o = at;
  store<u8>(o++, 0x22);
  for (; p + 3 <= end; p += 3) {
    const bits = bswap(load<u32>(p)) >> 8;
    store<u32>(
      o,
      letterOf(bits >> 18) | (letterOf(bits >> 12) << 8) | (letterOf(bits >> 6) << 16) | (letterOf(bits) << 24),
    );
    o += 4;
  }
  if (p < end) {
    const isTwo = p + 1 < end;
    const bits = ((<u32>load<u8>(p)) << 16) | (isTwo ? (<u32>load<u8>(p, 1)) << 8 : 0);
    store<u8>(o, letterOf(bits >> 18));
    store<u8>(o, letterOf(bits >> 12), 1);
    store<u8>(o, isTwo ? letterOf(bits >> 6) : 0x3d, 2);
    store<u8>(o, 0x3d, 3);
    o += 4;
  }
  store<u8>(o, 0x22);
  setAt(o + 1);
  setNext(end);
}
