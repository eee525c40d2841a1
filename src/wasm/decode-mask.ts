/** google.protobuf.FieldMask, from wire to JSON: paths in lowerCamelCase, with commas between. */
import { next, readEnd, setNext } from "./decode-wire.ts";
import { at, giveUp, reserve, setAt } from "./memory.ts";

const PATHS = 10;

/** Gives up on paths that hold more than lower-case letters, digits, points, and underscores before letters. */
export function printMask(end: usize): void {
  // Tag and length of a path are longer than its comma.
  reserve(end - next + 2);
  const start = at + 1;
  let o = start;
  store<u8>(at, 0x22);
  while (next < end) {
    if (load<u8>(next) !== PATHS) giveUp();
    setNext(next + 1);
    const pathEnd = readEnd(end);
    let p = next;
    if (p === pathEnd) giveUp();
    if (o !== start) store<u8>(o++, 0x2c);
    while (p < pathEnd) {
      let byte = <u32>load<u8>(p++);
      if (byte === 0x5f) {
        byte = load<u8>(p++);
        if (p > pathEnd || !isLetter(byte)) giveUp();
        byte -= 0x20;
      } else if (!isLetter(byte) && byte - 0x30 > 9 && byte !== 0x2e) {
        giveUp();
      }
      store<u8>(o++, byte);
    }
    setNext(pathEnd);
  }
  store<u8>(o, 0x22);
  setAt(o + 1);
}

function isLetter(byte: u32): bool {
  return byte - 0x61 < 26;
}
