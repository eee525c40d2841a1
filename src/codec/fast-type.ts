/** Where an Any says what it holds: `"@type"`, wherever it stands in its object. */
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./ascii.ts";
import { IRREGULAR, io, skipSpace } from "./fast-io.ts";
import { endOfName, skipColon } from "./fast-name.ts";

/** `"@ty` and `ype"` as words of four bytes. */
const KEY_HEAD = 0x7974_4022;
const KEY_TAIL = 0x2265_7079;
const KEY_LENGTH = 7;

export function isTypeKey(p: number): boolean {
  const { srcView } = io;
  return srcView.getInt32(p, true) === KEY_HEAD && srcView.getInt32(p + 3, true) === KEY_TAIL;
}

/** @param key its place. @param type where the value stands that counts. @returns where that ends. */
export function endOfType(key: number, type: number): number {
  if (skipColon(key + KEY_LENGTH) !== type) throw IRREGULAR;
  return endOfName(type);
}

/** Of the objects in the text before `scannedEnd`, by their place: where the value of their `@type` stands. */
const types = new Map<number, number>();
let scannedEnd = 0;

/** To be called when there is a new text. */
export function forgetTypes(): void {
  if (scannedEnd > 0) types.clear();
  scannedEnd = 0;
}

/** @param start of an object that is not empty. @param first its first key. @returns where the value of its `@type` stands. */
export function findType(start: number, first: number): number {
  if (isTypeKey(first)) return skipColon(first + KEY_LENGTH);
  // One pass notes those of all objects inside as well, so that an Any in an Any needs none of its own.
  if (start >= scannedEnd) scan(start);
  const type = types.get(start);
  if (type === undefined) throw IRREGULAR;
  return type;
}

/** Levels of JSON: an Any in an Any and so on may have a list or a map around each. */
const MAX_LEVELS = 1 << 10;
/** What is open on each level: the place of an object, or no place for a list. */
const open = new Int32Array(MAX_LEVELS);
const LIST = -1;

/** Brackets and strings only: whether all is JSON, whoever writes it will see. */
function scan(start: number): void {
  const { src } = io;
  let level = 0;
  let p = start;
  do {
    switch (src[p]) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (level === MAX_LEVELS) throw IRREGULAR;
        open[level++] = src[p] === OPEN_BRACE ? p : LIST;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        level--;
        break;
      case QUOTE:
        p = scanString(p, open[level - 1] as number);
        break;
      case 0:
        throw IRREGULAR;
    }
    p++;
  } while (level > 0);
  scannedEnd = p;
}

/** @param object it stands in. @returns the place of its last quote. */
function scanString(start: number, object: number): number {
  const { src } = io;
  let p = start + 1;
  for (let byte = src[p] as number; byte !== QUOTE; byte = src[++p] as number) {
    if (byte === BACKSLASH) p++;
    else if (byte === 0) throw IRREGULAR;
  }
  if (object !== LIST && isTypeKey(start)) {
    const colon = skipSpace(p + 1);
    if (src[colon] === COLON) types.set(object, skipSpace(colon + 1));
  }
  return p;
}
