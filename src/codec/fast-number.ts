/** Numbers from the bytes of JSON, without a string in between: the result stands in `double` or `halves` (`fast-io.ts`). */

import { double, halves, IRREGULAR, io } from "./fast-io.ts";
import { lenientUtf8 } from "./utf8.ts";

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
/** So many decimal digits fit in 31 bits, and twice as many in a sum of two doubles. */
const CHUNK = 9;

/** Powers of ten that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const POWERS_OF_TEN = Float64Array.from(POWERS);
const MAX_EXACT = 2 ** 53;
const TWO_32 = 2 ** 32;

/**
 * A number of JSON: up to 18 significant digits exactly rounded here (17 are what JSON.stringify writes), any other
 * by the engine from a string.
 *
 * @returns where it ends.
 */
export function readDouble(start: number): number {
  const { src } = io;
  const negative = src[start] === MINUS;
  const first = negative ? start + 1 : start;
  let p = first;
  let byte = src[p] as number;
  // The first nine digits that count, and up to nine more.
  let upper = 0;
  let lower = 0;
  let upperDigits = 0;
  let lowerDigits = 0;
  if (byte === ZERO) {
    byte = src[++p] as number;
    if (byte >= ZERO && byte <= 0x39) throw IRREGULAR;
  } else {
    const stop = p + CHUNK;
    while (byte >= ZERO && byte <= 0x39 && p < stop) {
      upper = (upper * 10 + byte - ZERO) | 0;
      byte = src[++p] as number;
    }
    upperDigits = p - first;
    if (upperDigits === 0) throw IRREGULAR;
    const middle = p;
    // More than nine digits overflow, and are not used then.
    while (byte >= ZERO && byte <= 0x39) {
      lower = (lower * 10 + byte - ZERO) | 0;
      byte = src[++p] as number;
    }
    lowerDigits = p - middle;
  }
  let exponent = 0;
  if (byte === DOT) {
    const point = ++p;
    byte = src[p] as number;
    if (byte < ZERO || byte > 0x39) throw IRREGULAR;
    if (upper === 0) while (byte === ZERO) byte = src[++p] as number;
    if (lowerDigits === 0) {
      const stop = p + CHUNK - upperDigits;
      while (byte >= ZERO && byte <= 0x39 && p < stop) {
        upper = (upper * 10 + byte - ZERO) | 0;
        byte = src[++p] as number;
      }
    }
    const middle = p;
    while (byte >= ZERO && byte <= 0x39) {
      lower = (lower * 10 + byte - ZERO) | 0;
      byte = src[++p] as number;
    }
    lowerDigits += p - middle;
    exponent = p - point;
  }
  if ((byte | 0x20) === 0x65) return readPower(start, p, lowerDigits === 0 ? upper : -1, exponent);
  let value = upper;
  if (lowerDigits > CHUNK || exponent > 22) {
    double[0] = readByEngine(start, p);
    return p;
  }
  const divisor = POWERS_OF_TEN[exponent] as number;
  if (lowerDigits === 0) {
    if (exponent !== 0) value /= divisor;
  } else {
    // Exact: the factor of five in 10^9 has 21 bits, `upper` has 30.
    const shifted = upper * (POWERS_OF_TEN[lowerDigits] as number);
    value = shifted + lower;
    if (value < MAX_EXACT) value /= divisor;
    else if (divideExactly(value, lower - (value - shifted), divisor)) value = double[0] as number;
    else value = Math.abs(readByEngine(start, p));
  }
  double[0] = negative ? -value : value;
  return p;
}

/**
 * (high + low) / divisor, correctly rounded: quotient and remainder in twice the precision (Dekker), and then Ziv's
 * test, whether the error left over could change the rounding. It halves the time of a message of doubles of 17 digits
 * (bench codec), against the engine and a string.
 *
 * @returns false when it could; else the result stands in `double`, because a number returned is often boxed.
 */
function divideExactly(high: number, low: number, divisor: number): boolean {
  const quotient = high / divisor;
  const product = quotient * divisor;
  // The rounding error of the product, from halves of 26 bits.
  const splitQuotient = quotient * 134217729;
  const quotientHigh = splitQuotient - (splitQuotient - quotient);
  const quotientLow = quotient - quotientHigh;
  const splitDivisor = divisor * 134217729;
  const divisorHigh = splitDivisor - (splitDivisor - divisor);
  const divisorLow = divisor - divisorHigh;
  const error =
    quotientHigh * divisorHigh -
    product +
    quotientHigh * divisorLow +
    quotientLow * divisorHigh +
    quotientLow * divisorLow;
  const correction = (high - product - error + low) / divisor;
  const margin = correction * 2 ** -45;
  const result = quotient + correction;
  double[0] = result;
  return quotient + (correction + margin) === result && quotient + (correction - margin) === result;
}

/**
 * A number with an exponent. A product or quotient of two numbers that doubles hold is rounded once, as it should be.
 *
 * @param e place of the letter. @param digits all of the mantissa without the point; negative: more than nine.
 * @param decimals how many of them stand behind the point.
 * @returns where it ends.
 */
function readPower(start: number, e: number, digits: number, decimals: number): number {
  const { src } = io;
  const sign = src[e + 1] as number;
  const first = sign === MINUS || sign === 0x2b ? e + 2 : e + 1;
  let p = first;
  let exponent = 0;
  for (let byte = src[p] as number; byte >= ZERO && byte <= 0x39; byte = src[++p] as number) {
    if (exponent < 1000) exponent = exponent * 10 + byte - ZERO;
  }
  if (p === first) throw IRREGULAR;
  const power = (sign === MINUS ? -exponent : exponent) - decimals;
  if (digits < 0 || power > 22 || power < -22) {
    double[0] = readByEngine(start, p);
    return p;
  }
  const value = power < 0 ? digits / (POWERS_OF_TEN[-power] as number) : digits * (POWERS_OF_TEN[power] as number);
  double[0] = src[start] === MINUS ? -value : value;
  return p;
}

function readByEngine(start: number, end: number): number {
  const value = Number(asciiText(start, end));
  if (!Number.isFinite(value)) throw IRREGULAR;
  return value;
}

/** Text of bytes that are known to be ASCII. */
export function asciiText(start: number, end: number): string {
  const { src } = io;
  return lenientUtf8.decode(src.subarray(start, end));
}

/** A double as ProtoJSON has it: quoted or not, or a name in quotes. @returns where it ends. */
export function readQuotableDouble(start: number): number {
  const { src, srcView } = io;
  if (src[start] !== QUOTE) return readDouble(start);
  // N, a, N, quote.
  if (srcView.getInt32(start + 1, true) === 0x224e_614e) {
    double[0] = Number.NaN;
    return start + 5;
  }
  const end = readDouble(start + 1);
  if (src[end] !== QUOTE) throw IRREGULAR;
  return end + 1;
}

/** An int32 (`bits` 32) or int64, quoted or not: sign-extended in `halves`. @returns where it ends. */
export function readSigned(start: number, bits: number): number {
  const p = readInteger(start);
  const low = halves[0] as number;
  const high = halves[1] as number;
  const fits = bits === 64 ? high >= 0 : high === 0 && low >= 0;
  if (!fits) {
    const isMin = bits === 64 ? high === -0x8000_0000 && low === 0 : high === 0 && low === -0x8000_0000;
    if (!isMin || !io.negative) throw IRREGULAR;
  }
  if (io.negative) {
    halves[0] = -low;
    halves[1] = low === 0 ? -high : ~high;
  }
  return p;
}

/** An uint32 (`bits` 32) or uint64, quoted or not. @returns where it ends. */
export function readUnsigned(start: number, bits: number): number {
  const p = readInteger(start);
  if (io.negative || (bits === 32 && halves[1] !== 0)) throw IRREGULAR;
  return p;
}

/** Sign to `io.negative`, magnitude to `halves`. */
function readInteger(start: number): number {
  const { src } = io;
  let p = start;
  const quoted = src[p] === QUOTE;
  if (quoted) p++;
  io.negative = src[p] === MINUS;
  if (io.negative) p++;
  const first = p;
  const stop = p + CHUNK;
  let byte = src[p] as number;
  let value = 0;
  while (byte >= ZERO && byte <= 0x39 && p < stop) {
    value = (value * 10 + byte - ZERO) | 0;
    byte = src[++p] as number;
  }
  if (p === first || (src[first] === ZERO && p > first + 1)) throw IRREGULAR;
  halves[0] = value;
  halves[1] = 0;
  if (byte >= ZERO && byte <= 0x39) {
    p = readMoreDigits(p, value);
    byte = src[p] as number;
  }
  if (byte === DOT || (byte | 0x20) === 0x65) {
    p = readWhole(first);
    byte = src[p] as number;
  }
  if (!quoted) return p;
  if (byte !== QUOTE) throw IRREGULAR;
  return p + 1;
}

/** Two numbers of up to so many digits are never the same double: when that is whole, so is what was read. */
const TOLD_APART = 15;

/** An integer with a point or an exponent, like 1.0e1; its magnitude to `halves`. @param first its first digit. */
function readWhole(first: number): number {
  const { src } = io;
  const end = readDouble(first);
  const value = double[0] as number;
  let digits = 0;
  for (let p = first; p < end && (src[p] as number | 0x20) !== 0x65; p++) digits++;
  // The point counts as a digit. Zero is also what is too small.
  if (digits > TOLD_APART + 1 || value === 0 || !Number.isSafeInteger(value)) throw IRREGULAR;
  halves[0] = value % TWO_32;
  halves[1] = Math.floor(value / TWO_32);
  return end;
}

/** What follows the first nine digits, up to 64 bits. @param upper the value of these nine. */
function readMoreDigits(start: number, upper: number): number {
  const { src } = io;
  const stop = start + CHUNK;
  let p = start;
  let byte = src[p] as number;
  let lower = 0;
  while (byte >= ZERO && byte <= 0x39 && p < stop) {
    lower = (lower * 10 + byte - ZERO) | 0;
    byte = src[++p] as number;
  }
  // upper * power + lower has 60 bits: multiplied in two parts of 45, which doubles hold.
  const power = POWERS_OF_TEN[p - start] as number;
  const top = (upper >>> 15) * power;
  const bottom = (upper & 0x7fff) * power + lower + (top % 0x2_0000) * 0x8000;
  let high = Math.floor(top / 0x2_0000) + Math.floor(bottom / TWO_32);
  let low = bottom % TWO_32;
  for (; byte >= ZERO && byte <= 0x39; byte = src[++p] as number) {
    const next = low * 10 + byte - ZERO;
    high = high * 10 + Math.floor(next / TWO_32);
    low = next % TWO_32;
    if (high >= TWO_32) throw IRREGULAR;
  }
  halves[0] = low;
  halves[1] = high;
  return p;
}
