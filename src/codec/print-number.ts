/** Numbers as JSON text, from machine numbers straight to bytes. The caller has reserved `NUMBER_BYTES`. */
import { formatDouble, formatFloat32 } from "./float.ts";
import { halves, tape } from "./print-tape.ts";

/** No number is longer, quotes and one byte before or behind included. */
export const NUMBER_BYTES = 32;

const QUOTE = 0x22;
const MINUS = 0x2d;
const POINT = 0x2e;
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

/** An integer from 0 to 2⁵³. */
export function printNatural(value: number): void {
  if (value < BILLION) {
    printSmall(value | 0);
    return;
  }
  const billions = Math.floor(value / BILLION);
  printSmall(billions);
  printPadded(value - billions * BILLION, 9);
}

export function printInt32(value: number): void {
  if (value >= 0) {
    printSmall(value);
    return;
  }
  printByte(MINUS);
  printNatural(-value);
}

/** In quotes, from `halves`. */
export function printInt64(): void {
  printByte(QUOTE);
  let low = halves[0] as number;
  let high = halves[1] as number;
  if (high < 0) {
    printByte(MINUS);
    low = -low | 0;
    high = (~high + (low === 0 ? 1 : 0)) | 0;
  }
  printHalves(low, high);
  printByte(QUOTE);
}

/** In quotes, from `halves`. */
export function printUint64(): void {
  printByte(QUOTE);
  printHalves(halves[0] as number, halves[1] as number);
  printByte(QUOTE);
}

/** Unsigned. Without BigInt, of which every operation makes an object. */
function printHalves(low: number, high: number): void {
  if (high >= 0 && high < 0x20_0000) {
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
    printPadded(billions - whole * BILLION, 9);
  }
  printPadded(rest - third * BILLION, 9);
}

/** As `formatDouble`. */
export function printDouble(value: number): void {
  const whole = value | 0;
  if (whole === value && (whole !== 0 || 1 / value > 0)) {
    printInt32(whole);
    return;
  }
  const size = Math.abs(value);
  if (size >= 1e-6 && size < 1e6) {
    // At most 12 digits. No other decimal of up to 15 digits reads back as the same double, so it is the shortest.
    const millionths = Math.round(size * 1e6);
    if (millionths / 1e6 === size) {
      if (value < 0) printByte(MINUS);
      printMillionths(millionths);
      return;
    }
  }
  printAscii(formatDouble(value));
}

/** As `formatFloat32`. */
export function printFloat32(value: number): void {
  const size = Math.abs(value);
  if (size < 1e6 && size >= 1e-6) {
    // At most six digits. No other decimal of up to six digits reads back as the same float, so it is the shortest.
    const scale = size < 10 ? (size < 1 ? 1e6 : 1e5) : size < 1000 ? (size < 100 ? 1e4 : 1e3) : size < 1e4 ? 100 : 10;
    const scaled = Math.round(size * scale);
    if (Math.fround(scaled / scale) === size) {
      if (value < 0) printByte(MINUS);
      printMillionths(scaled * (1e6 / scale));
      return;
    }
  } else if (Object.is(value, 0)) {
    printByte(ZERO);
    return;
  }
  printAscii(formatFloat32(value));
}

/** A whole number of millionths, as a decimal without trailing zeros. */
function printMillionths(millionths: number): void {
  const whole = Math.floor(millionths / 1e6);
  const rest = millionths - whole * 1e6;
  printSmall(whole);
  if (rest === 0) return;
  printByte(POINT);
  printPadded(rest, 6);
  const { json } = tape;
  let end = tape.length;
  while (json[end - 1] === ZERO) end--;
  tape.length = end;
}
