/** google.protobuf.FieldMask: `"fooBar,baz.quxQuux"`, each path a record of paths = 1, in proto names. */
import { at, endLength, giveUp, reserve, setAt } from "./memory.ts";

const PATHS = 10;

/** @returns where it ends. */
export function writeMask(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  if (load<u8>(p) === 0x22) return p + 1;
  do p = writePath(p);
  while (load<u8>(p++) === 0x2c);
  return p;
}

/** @returns where its comma or the quote stands. */
function writePath(p: usize): usize {
  let end = p;
  for (let byte = load<u8>(end); byte !== 0x2c && byte !== 0x22; byte = load<u8>(++end)) {
    // An underscore would not come back from the way out.
    if (byte < 0x20 || byte >= 0x80 || byte === 0x5c || byte === 0x5f) giveUp();
  }
  if (end === p) giveUp();
  // Each capital becomes two bytes.
  reserve(2 * (end - p));
  store<u8>(at, PATHS);
  const content = at + 2;
  let o = content;
  for (; p < end; p++) {
    const byte = load<u8>(p);
    if (byte >= 0x41 && byte <= 0x5a) {
      store<u8>(o++, 0x5f);
      store<u8>(o++, byte | 0x20);
    } else {
      store<u8>(o++, byte);
    }
  }
  setAt(o);
  endLength(content, 1);
  return end;
}
