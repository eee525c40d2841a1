/** Integers as JSON text, from machine numbers straight to bytes. The caller has reserved `NUMBER_BYTES`. */
import { halves, tape } from "./print-tape.ts";

/** No number is longer, quotes and one byte before or behind included. */
export const NUMBER_BYTES = 32;

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const BILLION = 1_000_000_000;

/** `00` to `99`, as the 16 bits that a little-endian store wants: two digits a store is twice as fast as one. */
const pairs = Uint16Array.from({ length: 100 }, (_, n) => (ZERO + Math.floor(n / 10)) | ((ZERO + (n % 10)) << 8));

export function printByte(byte: number): void {
  tape.json[tape.length++] = byte;
}

/** Text of ASCII characters only. */
export function printAscii(text: string): void {
  const { json } = tape;
  let at = tape.length;
  for (let i = 0; i < text.length; i++) json[at++] = text.charCodeAt(i);
  tape.length = at;
}

/** Below 2³¹. */
function printSmall(value: number): void {
  if (value < 10) {
    tape.json[tape.length++] = ZERO + value;
    return;
  }
  const end = tape.length + digitsOf(value);
  printDigits(value, end);
  tape.length = end;
}

/** Of a number from 10 to below 2³¹. */
function digitsOf(value: number): number {
  if (value < 100_000) return value < 1000 ? (value < 100 ? 2 : 3) : value < 10_000 ? 4 : 5;
  if (value < 10_000_000) return value < 1_000_000 ? 6 : 7;
  return value < 100_000_000 ? 8 : value < BILLION ? 9 : 10;
}

/** From the last digit, which goes before `end`, to the first. */
function printDigits(value: number, end: number): void {
  const { jsonView } = tape;
  let at = end;
  let rest = value;
  while (rest >= 100) {
    const hundreds = (rest / 100) | 0;
    at -= 2;
    jsonView.setUint16(at, pairs[rest - hundreds * 100] as number, true);
    rest = hundreds;
  }
  if (rest >= 10) jsonView.setUint16(at - 2, pairs[rest] as number, true);
  else tape.json[at - 1] = ZERO + rest;
}

/** With leading zeros. */
export function printPadded(value: number, digits: number): void {
  const { jsonView, length } = tape;
  let rest = value;
  let at = length + digits;
  tape.length = at;
  for (; at > length + 1; at -= 2) {
    const hundreds = (rest / 100) | 0;
    jsonView.setUint16(at - 2, pairs[rest - hundreds * 100] as number, true);
    rest = hundreds;
  }
  if (at > length) tape.json[length] = ZERO + rest;
}

/** With leading zeros, eight digits: no step waits for the one before, which makes it twice as fast as `printPadded`. */
export function printEight(value: number): void {
  const { jsonView, length } = tape;
  const upper = (value / 10_000) | 0;
  const lower = value - upper * 10_000;
  const first = (upper / 100) | 0;
  const third = (lower / 100) | 0;
  jsonView.setUint16(length, pairs[first] as number, true);
  jsonView.setUint16(length + 2, pairs[upper - first * 100] as number, true);
  jsonView.setUint16(length + 4, pairs[third] as number, true);
  jsonView.setUint16(length + 6, pairs[lower - third * 100] as number, true);
  tape.length = length + 8;
}

/** With leading zeros, nine digits. */
export function printNine(value: number): void {
  const first = (value / 100_000_000) | 0;
  tape.json[tape.length++] = ZERO + first;
  printEight(value - first * 100_000_000);
}

/** An integer from 0 to 2⁵³. */
export function printNatural(value: number): void {
  if (value < BILLION) {
    printSmall(value | 0);
    return;
  }
  const billions = Math.floor(value / BILLION);
  printSmall(billions);
  printNine((value - billions * BILLION) | 0);
}

export function printInt32(value: number): void {
  if (value >= 0) {
    printSmall(value);
    return;
  }
  printByte(MINUS);
  printNatural(-value);
}

/** From `halves`, in quotes. @param bare without them where the number is exact as a double. */
export function printInt64(bare: boolean): void {
  let low = halves[0] as number;
  let high = halves[1] as number;
  const negative = high < 0;
  if (negative) {
    low = -low | 0;
    high = (~high + (low === 0 ? 1 : 0)) | 0;
  }
  const quoted = !(bare && isExact(high));
  if (quoted) printByte(QUOTE);
  if (negative) printByte(MINUS);
  printHalves(low, high);
  if (quoted) printByte(QUOTE);
}

/** From `halves`, in quotes. @param bare without them where the number is exact as a double. */
export function printUint64(bare: boolean): void {
  const high = halves[1] as number;
  const quoted = !(bare && isExact(high));
  if (quoted) printByte(QUOTE);
  printHalves(halves[0] as number, high);
  if (quoted) printByte(QUOTE);
}

/** Whether a number with this upper half is below 2⁵³. */
function isExact(high: number): boolean {
  return high >= 0 && high < 0x20_0000;
}

/** Unsigned. Without BigInt, of which every operation makes an object. */
function printHalves(low: number, high: number): void {
  if (isExact(high)) {
    printNatural(high * 0x1_0000_0000 + (low >>> 0));
    return;
  }
  // Long division by a billion, 32 and then twice 16 bits at a time, so that no step needs more than 53.
  const upper = high >>> 0;
  const first = Math.floor(upper / BILLION);
  let rest = (upper - first * BILLION) * 0x1_0000 + (low >>> 16);
  const second = Math.floor(rest / BILLION);
  rest = (rest - second * BILLION) * 0x1_0000 + (low & 0xffff);
  const third = Math.floor(rest / BILLION);
  const billions = first * 0x1_0000_0000 + second * 0x1_0000 + third;
  const whole = Math.floor(billions / BILLION);
  if (whole === 0) {
    printSmall(billions);
  } else {
    printSmall(whole);
    printNine((billions - whole * BILLION) | 0);
  }
  printNine((rest - third * BILLION) | 0);
}
