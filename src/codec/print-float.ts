/**
 * Floating-point numbers as JSON text: the shortest decimal that reads back, as `formatDouble` and `formatFloat32` have
 * it, without a string in between. Read from the tape, because a double that a function is handed may be an object.
 *
 * The engine's own conversion takes 310 to 350 ns for 17 digits, with the copy of its string; what is here takes
 * 140. It rests on three facts. A double times a power of ten up to 10²² is exactly the sum of two
 * doubles. A decimal reads back as the double that it is nearest to, so it need only lie within half a unit in the last
 * place. And 17 digits always do, so there are few to look at: of 15 digits, 16 and 17. Whatever lies too near to the
 * edge of the interval, or halfway between two decimals, is left to the engine.
 */
import { formatDouble, formatFloat32 } from "./float.ts";
import { printAscii, printByte, printEight, printInt32, printNine, printPadded } from "./print-number.ts";
import { tape } from "./print-tape.ts";

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/** Differences below it are not told apart: far more than what rounding may add, far less than a digit. */
const NEAR = 1e-6;
const HUNDRED_MILLION = 1e8;
const BILLION = 1e9;

const DOUBLE_DIGITS = 17;
const FLOAT_DIGITS = 9;
/** Below it JSON has exponents. */
const MIN = 1e-6;
const MIN_POWER = -6;
/** As many digits as fit behind the point of `MIN` to make 17. */
const MAX_SCALE = 22;

/** 2²⁷ + 1 (Veltkamp): what is left of a double's 53 bits are the upper 26. */
const SPLIT = 134_217_729;

/** Powers of ten from 10⁻⁶ on, and their upper halves. */
const powers = Float64Array.from({ length: MAX_SCALE + 1 - MIN_POWER }, (_, i) => Number(`1e${i + MIN_POWER}`));
const upperHalves = powers.map(upperHalf);

function upperHalf(value: number): number {
  const scaled = value * SPLIT;
  return scaled - (scaled - value);
}

/** Half of the last place's unit of doubles with this exponent. From 2⁻²⁰, below `MIN`, to 2⁵⁷, above 10¹⁷. */
const MIN_EXPONENT = -20;
const halfUnits = Float64Array.from({ length: 80 }, (_, i) => 2 ** (i + MIN_EXPONENT - 53));

/** The double that is next. @returns false for zero. */
export function printDouble(): boolean {
  const { at, wireView } = tape;
  tape.at = at + 8;
  const value = wireView.getFloat64(at, true);
  const whole = value | 0;
  if (whole === value && (whole !== 0 || 1 / value > 0)) {
    printInt32(whole);
    return whole !== 0;
  }
  const size = value < 0 ? -value : value;
  if (size >= MIN && size < 1e6) {
    // At most 12 digits. No other decimal of up to 15 digits reads back as the same double, so it is the shortest.
    const millionths = Math.round(size * 1e6);
    if (millionths / 1e6 === size) {
      if (value < 0) printByte(MINUS);
      const whole = Math.floor(millionths / 1e6);
      printMillionths(whole | 0, (millionths - whole * 1e6) | 0);
      return true;
    }
  }
  const mark = tape.length;
  if (value < 0) printByte(MINUS);
  if (!(size >= MIN && size < 1e17) || !printDigits17(at)) {
    tape.length = mark;
    printAscii(formatDouble(value));
  }
  return true;
}

/** The double at this offset, without its sign. @returns false where the engine must be asked. */
function printDigits17(at: number): boolean {
  const { wireView } = tape;
  const high = wireView.getInt32(at + 4, true) & 0x7fff_ffff;
  // Below a power of two the unit is another.
  if ((high & 0xf_ffff) === 0 && wireView.getInt32(at, true) === 0) return false;
  const size = Math.abs(wireView.getFloat64(at, true));
  const exponent = (high >>> 20) - 1023;
  const power = powerOf(size, exponent);
  const scale = DOUBLE_DIGITS - 1 - power - MIN_POWER;
  const ten = powers[scale] as number;
  // The value with its 17 digits before the point: `product` and `rest` (Dekker), of which the first is whole.
  const product = size * ten;
  const sizeUpper = upperHalf(size);
  const sizeLower = size - sizeUpper;
  const tenUpper = upperHalves[scale] as number;
  const tenLower = ten - tenUpper;
  const rest = sizeUpper * tenUpper - product + sizeUpper * tenLower + sizeLower * tenUpper + sizeLower * tenLower;
  // Off by one at times, as is the last digit of the upper part then; the sum of all is right.
  let upper = (product * 1e-8) | 0;
  let lower = (product - upper * HUNDRED_MILLION) | 0;
  const lastTwo = lower % 100;
  interval[0] = lastTwo + rest;
  interval[1] = (halfUnits[exponent - MIN_EXPONENT] as number) * ten;
  const rounded = roundShortest();
  if (rounded === AMBIGUOUS) return false;
  lower += rounded - lastTwo;
  if (lower < 0) {
    lower += HUNDRED_MILLION;
    upper--;
  } else if (lower >= HUNDRED_MILLION) {
    lower -= HUNDRED_MILLION;
    upper++;
  }
  if (upper >= BILLION || upper < HUNDRED_MILLION) return false;
  const start = beginDigits(power);
  printNine(upper);
  printEight(lower);
  endDigits(start, power);
  return true;
}

/** The 32-bit float that is next. @returns false for zero. */
export function printFloat32(): boolean {
  const { at, wireView } = tape;
  tape.at = at + 4;
  const value = wireView.getFloat32(at, true);
  const bits = wireView.getInt32(at, true);
  const whole = value | 0;
  const size = value < 0 ? -value : value;
  if (size < 1e6 && whole === value && bits >>> 31 === (value < 0 ? 1 : 0)) {
    printInt32(whole);
    return whole !== 0;
  }
  const mark = tape.length;
  if (value < 0) printByte(MINUS);
  if (!(size >= MIN && size < BILLION) || !printDigits9(at)) {
    tape.length = mark;
    printAscii(formatFloat32(value));
  }
  return true;
}

/** As for 17 digits, but one double holds all of it. Decimals have six digits at the least, before their zeros go. */
function printDigits9(at: number): boolean {
  const { wireView } = tape;
  const bits = wireView.getInt32(at, true) & 0x7fff_ffff;
  if ((bits & 0x7f_ffff) === 0) return false;
  const size = Math.abs(wireView.getFloat32(at, true));
  const exponent = (bits >>> 23) - 127;
  const power = powerOf(size, exponent);
  const scale = FLOAT_DIGITS - 1 - power - MIN_POWER;
  const ten = powers[scale] as number;
  // Of 24 bits, 29 less than a double's.
  const half = (halfUnits[exponent - MIN_EXPONENT] as number) * 0x2000_0000 * ten;
  const value = size * ten;
  let rounded = Math.round(value * 0.001) * 1000;
  const away = Math.abs(value - rounded);
  if (away >= half - NEAR) {
    if (away < half + NEAR) return false;
    interval[0] = value;
    interval[1] = half;
    rounded = roundShortest();
  }
  if (rounded >= BILLION || rounded < HUNDRED_MILLION) return false;
  const start = beginDigits(power);
  printNine(rounded | 0);
  endDigits(start, power);
  return true;
}

const AMBIGUOUS = -1000;

/** A value, and half of its unit: in an array, because doubles as arguments are objects. */
const interval = new Float64Array(2);

/**
 * The nearest multiple of 100 to the value that is less than half a unit away; else that of 10; else that of 1.
 *
 * @returns `AMBIGUOUS` where it hangs on the last bits which it is.
 */
function roundShortest(): number {
  const value = interval[0] as number;
  const half = interval[1] as number;
  let unit = 100;
  let rounded = Math.round(value * 0.01) * 100;
  let away = Math.abs(value - rounded);
  if (away > half + NEAR) {
    unit = 10;
    rounded = Math.round(value * 0.1) * 10;
    away = Math.abs(value - rounded);
    if (away > half + NEAR) {
      unit = 1;
      rounded = Math.round(value);
      away = Math.abs(value - rounded);
    }
  }
  return away > half - NEAR || Math.abs(away - unit / 2) < NEAR ? AMBIGUOUS : rounded | 0;
}

/** The power of ten of the first digit. */
function powerOf(size: number, exponent: number): number {
  // 1233 / 4096 is a little less than log10(2); the guess is right or one too small.
  const guess = (exponent * 1233) >> 12;
  return size >= (powers[guess + 1 - MIN_POWER] as number) ? guess + 1 : guess;
}

/** What stands before the digits; or, when there is a point among them, room for it. @returns where digits begin. */
function beginDigits(power: number): number {
  if (power >= 0) return tape.length++ + 1;
  printByte(ZERO);
  printByte(POINT);
  for (let i = power; i < -1; i++) printByte(ZERO);
  return tape.length;
}

/** Takes away the zeros at the end, and puts the point where it belongs. */
function endDigits(start: number, power: number): void {
  const { json } = tape;
  const point = power >= 0 ? start + power + 1 : start;
  let end = tape.length;
  while (end > point && json[end - 1] === ZERO) end--;
  if (power >= 0) {
    for (let i = start; i < point; i++) json[i - 1] = json[i] as number;
    if (end === point) end--;
    else json[point - 1] = POINT;
  }
  tape.length = end;
}

/** A decimal without trailing zeros: the part before the point, and the six digits behind it. */
function printMillionths(whole: number, rest: number): void {
  printInt32(whole);
  if (rest === 0) return;
  printByte(POINT);
  printPadded(rest, 6);
  const { json } = tape;
  let end = tape.length;
  while (json[end - 1] === ZERO) end--;
  tape.length = end;
}
