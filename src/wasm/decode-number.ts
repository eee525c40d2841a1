/** Numbers as JSON text, straight to bytes. The caller has reserved for them; none is longer than 32 bytes. */
import { multiplyHigh } from "./decimal.ts";
import { at, setAt, writeByte } from "./memory.ts";
import { MIN_POWER, POWERS } from "./powers.ts";

/** `00` to `99`: two digits a store. */
const PAIRS: usize = memory.data<u8>([
  48, 48, 48, 49, 48, 50, 48, 51, 48, 52, 48, 53, 48, 54, 48, 55, 48, 56, 48, 57, 49, 48, 49, 49, 49, 50, 49, 51, 49,
  52, 49, 53, 49, 54, 49, 55, 49, 56, 49, 57, 50, 48, 50, 49, 50, 50, 50, 51, 50, 52, 50, 53, 50, 54, 50, 55, 50, 56,
  50, 57, 51, 48, 51, 49, 51, 50, 51, 51, 51, 52, 51, 53, 51, 54, 51, 55, 51, 56, 51, 57, 52, 48, 52, 49, 52, 50, 52,
  51, 52, 52, 52, 53, 52, 54, 52, 55, 52, 56, 52, 57, 53, 48, 53, 49, 53, 50, 53, 51, 53, 52, 53, 53, 53, 54, 53, 55,
  53, 56, 53, 57, 54, 48, 54, 49, 54, 50, 54, 51, 54, 52, 54, 53, 54, 54, 54, 55, 54, 56, 54, 57, 55, 48, 55, 49, 55,
  50, 55, 51, 55, 52, 55, 53, 55, 54, 55, 55, 55, 56, 55, 57, 56, 48, 56, 49, 56, 50, 56, 51, 56, 52, 56, 53, 56, 54,
  56, 55, 56, 56, 56, 57, 57, 48, 57, 49, 57, 50, 57, 51, 57, 52, 57, 53, 57, 54, 57, 55, 57, 56, 57, 57,
]);

const HUNDRED_MILLION: u64 = 100000000;
const MAX_INT32: f64 = 2147483648;
/** 2²⁴. */
const MAX_WHOLE_FLOAT: f64 = 16777216;
const TEN_15: u64 = 1000000000000000;
const TEN_17: u64 = 100000000000000000;
const LAST_DIGIT: u64 = 1 << 56;
const EIGHT_ZEROS: u64 = 0x3030303030303030;

/** Text of 64 bits, the first character first. */
const NAN_TEXT: u64 = 0x000000224e614e22;
const INFINITY_TEXT: u64 = 0x74696e69666e4922;
const INFINITY_END: u32 = 0x2279;
const MINUS_INFINITY_TEXT: u64 = 0x696e69666e492d22;
const MINUS_INFINITY_END: u32 = 0x227974;

/** Two digits, with leading zero. */
// @inline
export function storePair(address: usize, value: u32): void {
  store<u16>(address, load<u16>(PAIRS + ((<usize>value) << 1)));
}

export function printUnsigned(value: u64): void {
  const o = at;
  if (value < HUNDRED_MILLION) {
    const digits = eightDigits(<u32>value);
    // The last digit counts in any case.
    const zeros = ctz(digits | LAST_DIGIT) & 0x38;
    store<u64>(o, (digits | EIGHT_ZEROS) >> zeros);
    setAt(o + 8 - (<usize>zeros >> 3));
    return;
  }
  const upper = value / HUNDRED_MILLION;
  if (upper >= HUNDRED_MILLION) {
    const top = upper / HUNDRED_MILLION;
    if (top < 10) {
      store<u8>(o, 0x30 + <u32>top);
      setAt(o + 1);
    } else {
      printUnsigned(top);
    }
    store<u64>(at, eightDigits(<u32>(upper - top * HUNDRED_MILLION)) | EIGHT_ZEROS);
    setAt(at + 8);
  } else {
    printUnsigned(upper);
  }
  store<u64>(at, eightDigits(<u32>(value - upper * HUNDRED_MILLION)) | EIGHT_ZEROS);
  setAt(at + 8);
}

/** A number below 10⁸ as eight digits, without what makes characters of them, the first in the lowest byte. */
// @inline
function eightDigits(value: u32): u64 {
  const upper = value / 10000;
  const fours = <u64>upper | ((<u64>(value - upper * 10000)) << 32);
  // Division by 100 and by 10 in each part, exact for all that may stand there.
  const hundreds = ((fours * 10486) >> 20) & 0x0000007f0000007f;
  const pairs = hundreds | ((fours - hundreds * 100) << 16);
  const tens = ((pairs * 103) >> 10) & 0x000f000f000f000f;
  return tens | ((pairs - tens * 10) << 8);
}

/** Of 16 or 17 digits. */
// @inline
function printSixteen(value: u64): void {
  const upper = value / HUNDRED_MILLION;
  const top = upper / HUNDRED_MILLION;
  store<u8>(at, 0x30 + <u32>top);
  const o = at + <usize>(top !== 0);
  store<u64>(o, eightDigits(<u32>(upper - top * HUNDRED_MILLION)) | EIGHT_ZEROS);
  store<u64>(o, eightDigits(<u32>(value - upper * HUNDRED_MILLION)) | EIGHT_ZEROS, 8);
  setAt(o + 16);
}

export function printSigned(value: i64): void {
  const sign = value >> 63;
  store<u8>(at, 0x2d);
  setAt(at - <usize>sign);
  printUnsigned((value ^ sign) - sign);
}

/** In quotes. @param bare without them where the number is exact as a double. */
export function printUnsigned64(value: u64, bare: bool): void {
  if (bare && value <= 0x1fffffffffffff) {
    printUnsigned(value);
    return;
  }
  writeByte(0x22);
  printUnsigned(value);
  writeByte(0x22);
}

/** In quotes. @param bare without them where the number is exact as a double. */
export function printSigned64(value: i64, bare: bool): void {
  if (bare && value <= 0x1fffffffffffff && value >= -0x1fffffffffffff) {
    printSigned(value);
    return;
  }
  writeByte(0x22);
  printSigned(value);
  writeByte(0x22);
}

/** As JSON.stringify has it; infinite ones and NaN by name. */
export function printDouble(value: f64): void {
  if (printPlain(value, MAX_INT32)) return;
  if (printMillionths(abs(value))) return;
  const bits = reinterpret<u64>(value);
  const fraction = bits & 0xfffffffffffff;
  const exponent = <i32>(bits >> 52) & 0x7ff;
  if (exponent === 0) printShortest(fraction, -1074, false, false);
  else printShortest(fraction | 0x10000000000000, exponent - 1075, fraction === 0 && exponent > 1, false);
}

/**
 * One of up to six places behind the point, and fifteen digits in all: no other decimal of as few reads back as the same
 * double, so it is the shortest. @returns false for another.
 */
// @inline
function printMillionths(size: f64): bool {
  if (!(size >= 1e-6 && size < 1e9)) return false;
  const millionths = nearest(size * 1e6);
  if (millionths / 1e6 !== size) return false;
  const all = <u64>millionths;
  const whole = <u32>(all / 1000000);
  const rest = <u32>(all - <u64>whole * 1000000);
  printUnsigned(whole);
  if (rest === 0) return true;
  // Two zeros more stand behind the six digits; none of the last are printed.
  const digits = eightDigits(rest * 100);
  const o = at;
  store<u8>(o, 0x2e);
  store<u64>(o, digits | EIGHT_ZEROS, 1);
  setAt(o + 9 - (<usize>clz(digits) >> 3));
  return true;
}

/** With no more digits than a 32-bit float needs. */
export function printFloat(value: f32): void {
  if (printPlain(value, MAX_WHOLE_FLOAT)) return;
  const bits = reinterpret<u32>(value);
  const fraction = <u64>(bits & 0x7fffff);
  const exponent = <i32>(bits >> 23) & 0xff;
  if (exponent === 0) printShortest(fraction, -149, false, true);
  else printShortest(fraction | 0x800000, exponent - 150, fraction === 0 && exponent > 1, true);
}

/**
 * What is whole or no number, or the sign of another. @returns whether that was all.
 *
 * @param max below it a whole number needs all of its digits.
 */
// @inline
function printPlain(value: f64, max: f64): bool {
  const whole = <i32>value;
  if (<f64>whole === value && abs(value) < max) {
    if (whole === 0 && reinterpret<u64>(value) !== 0) writeByte(0x2d);
    printSigned(whole);
    return true;
  }
  if (!isFinite(value)) {
    printName(value);
    return true;
  }
  store<u8>(at, 0x2d);
  setAt(at + (value < 0 ? 1 : 0));
  return false;
}

function printName(value: f64): void {
  if (isNaN(value)) {
    store<u64>(at, NAN_TEXT);
    setAt(at + 5);
    return;
  }
  if (value > 0) {
    store<u64>(at, INFINITY_TEXT);
    store<u32>(at, INFINITY_END, 8);
    setAt(at + 10);
  } else {
    store<u64>(at, MINUS_INFINITY_TEXT);
    store<u32>(at, MINUS_INFINITY_END, 8);
    setAt(at + 11);
  }
}

/** The upper of three words, of which the last bit says whether any of the word below is set, but its own last. */
// @inline
function roundToOdd(upper: u64, middle: u64): u64 {
  return upper | (middle > 1 ? 1 : 0);
}

/**
 * The shortest decimal that reads back as c · 2^q, and the nearest of these (Giulietti, "The Schubfach way to render
 * doubles", 2020).
 *
 * @param isPower whether the number below is nearer than the one above.
 * @param tiesUp of two decimals as near, the one farther from zero; else the even one.
 */
function printShortest(c: u64, q: i32, isPower: bool, tiesUp: bool): void {
  const isEven = (c & 1) === 0;
  // ⌊log10(2^q)⌋, or of ¾ · 2^q.
  const k = (q * 1262611 - (isPower ? 524031 : 0)) >> 22;
  const shift = <u64>(q + ((-k * 1741647) >> 19) + 1);
  const entry = POWERS + ((<usize>(-k - MIN_POWER)) << 4);
  let gHigh = load<u64>(entry);
  let gLow = load<u64>(entry, 8);
  // The table is rounded down, and exact for powers that fit.
  if (k > 0 || k < -55) {
    gLow++;
    if (gLow === 0) gHigh++;
  }
  // Four times the number, scaled, in 192 bits; and half of the distance to the next, which is less than a word and a half.
  const scaled = (4 * c) << shift;
  const bottom = gLow * scaled;
  const carried = multiplyHigh(gLow, scaled);
  const middle = gHigh * scaled + carried;
  const top = multiplyHigh(gHigh, scaled) + (middle < carried ? 1 : 0);
  const value = roundToOdd(top, middle);
  const up = shift + 1;
  const aboveBottom = gLow << up;
  const aboveMiddle = (gHigh << up) | (gLow >> (64 - up));
  const aboveTop = gHigh >> (64 - up);
  const down = isPower ? shift : up;
  const belowBottom = gLow << down;
  const belowMiddle = (gHigh << down) | (down === 0 ? 0 : gLow >> (64 - down));
  const belowTop = down === 0 ? 0 : gHigh >> (64 - down);
  const sumCarry: u64 = bottom + aboveBottom < bottom ? 1 : 0;
  const sumMiddle = middle + aboveMiddle;
  const sumTop = top + aboveTop + (sumMiddle < middle || sumMiddle + sumCarry < sumCarry ? 1 : 0);
  const upper = roundToOdd(sumTop, sumMiddle + sumCarry) - (isEven ? 0 : 1);
  const borrow: u64 = bottom < belowBottom ? 1 : 0;
  const differenceMiddle = middle - belowMiddle;
  const differenceTop = top - belowTop - (middle < belowMiddle || differenceMiddle < borrow ? 1 : 0);
  const lower = roundToOdd(differenceTop, differenceMiddle - borrow) + (isEven ? 0 : 1);
  const whole = value >> 2;
  const tens = whole / 10;
  // Selected, not branched on: of two random numbers one needs the last digit.
  const tensIsIn = lower <= 40 * tens;
  const nextTenIsIn = 40 * tens + 40 <= upper;
  const isShorter = whole >= 10 && tensIsIn !== nextTenIsIn;
  const belowIsIn = lower <= 4 * whole;
  const aboveIsIn = 4 * whole + 4 <= upper;
  const half = 4 * whole + 2;
  const isNearer: u64 = <u64>(value > half) | (<u64>(value === half) & (whole | <u64>tiesUp) & 1);
  const longer = whole + select<u64>(<u64>aboveIsIn, isNearer, belowIsIn !== aboveIsIn);
  printDecimal(select<u64>(tens + <u64>nextTenIsIn, longer, isShorter), k + <i32>isShorter);
}

/** digits · 10^power in the form of ECMA-262, Number::toString. */
function printDecimal(digits: u64, power: i32): void {
  for (let rest = digits / 10; rest * 10 === digits; rest = digits / 10) {
    digits = rest;
    power++;
  }
  const start = at;
  if (digits >= TEN_15 && digits < TEN_17) printSixteen(digits);
  else printUnsigned(digits);
  const length = <i32>(at - start);
  const point = length + power;
  if (point > 0 && point <= 21) {
    if (power >= 0) {
      for (let i = 0; i < power; i++) writeByte(0x30);
      return;
    }
    // At most sixteen digits go one place further on.
    const behind = start + <usize>point;
    v128.store(behind + 1, v128.load(behind));
    store<u8>(behind, 0x2e);
    setAt(at + 1);
    return;
  }
  if (point > -6 && point <= 0) {
    const zeros: usize = <usize>(2 - point);
    memory.copy(start + zeros, start, length);
    store<u16>(start, 0x2e30);
    for (let i: usize = 2; i < zeros; i++) store<u8>(start + i, 0x30);
    setAt(at + zeros);
    return;
  }
  if (length > 1) {
    memory.copy(start + 2, start + 1, length - 1);
    store<u8>(start, 0x2e, 1);
    setAt(at + 1);
  }
  writeByte(0x65);
  const exponent = point - 1;
  if (exponent > 0) writeByte(0x2b);
  printSigned(exponent);
}
