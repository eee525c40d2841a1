/** Numbers from the bytes of JSON. */
import { DOUBLE_POWERS, INTEGER_POWERS, MAX_DOUBLE_POWER, multiplyHigh } from "./decimal.ts";
import { giveUp } from "./memory.ts";
import { MAX_POWER, MIN_POWER, POWERS } from "./powers.ts";

/** What the host makes of a decimal: every one that is left to it is long, or lies next to halfway between two doubles. */
// @external("host", "parseDouble")
declare function hostParseDouble(start: usize, length: usize): f64;

/** Of the integer last read. */
export let magnitude: u64 = 0;
export let isNegative: bool = false;
/** The double last read. */
export let double: f64 = 0;

/** A u64 holds so many digits, whatever they are. */
const MAX_DIGITS: usize = 19;

/**
 * Adds the digits from `p` on to `magnitude`, up to eight at a time: those of a word are told by what lies over nine
 * after the zero is taken away, and those behind them are shifted out.
 *
 * @returns where they end.
 */
// @inline
function readDigits(p: usize): usize {
  let value = magnitude;
  for (;;) {
    let word = load<u64>(p) ^ 0x3030303030303030;
    const others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
    if (others === 0) {
      value = value * 100000000 + ofEight(word);
      p += 8;
      continue;
    }
    const count = ctz(others) >> 3;
    if (count !== 0) {
      word <<= 64 - (count << 3);
      value = value * load<u64>(INTEGER_POWERS + ((<usize>count) << 3)) + ofEight(word);
      p += <usize>count;
    }
    magnitude = value;
    return p;
  }
}

/** The first byte is the first digit. */
// @inline
function ofEight(digits: u64): u64 {
  const pairs = ((digits * 2561) >> 8) & 0x00ff00ff00ff00ff;
  const fours = ((pairs * 6553601) >> 16) & 0x0000ffff0000ffff;
  return (fours * 42949672960001) >> 32;
}

/** An integer, quoted or not. One with a point or an exponent is not for here. @returns where it ends. */
// @inline
function readInteger(p: usize): usize {
  let byte = <u32>load<u8>(p);
  const quoted = byte === 0x22;
  if (quoted) byte = load<u8>(++p);
  const negative = byte === 0x2d;
  p += <usize>negative;
  isNegative = negative;
  const first = p;
  magnitude = 0;
  p = readDigits(p);
  const digits = p - first;
  // None, or a zero before others.
  if (digits !== 1 && (digits === 0 || load<u8>(first) === 0x30)) giveUp();
  if (digits > MAX_DIGITS) checkTwenty(first, p);
  byte = load<u8>(p);
  if (!quoted) return p;
  if (byte !== 0x22) giveUp();
  return p + 1;
}

/** Whether the digits fit in 64 bits; those that do have twenty at the most. */
function checkTwenty(first: usize, end: usize): void {
  if (end - first > 20) giveUp();
  // The first is a one then, and the sum has wrapped when it is less than what the one stands for.
  if (load<u8>(first) !== 0x31 || magnitude < 10000000000000000000) giveUp();
}

/** @returns where it ends; two's complement in `magnitude`. */
export function readSigned64(p: usize): usize {
  p = readInteger(p);
  const sign = <u64>isNegative;
  if (magnitude > 0x7fffffffffffffff + sign) giveUp();
  magnitude = (magnitude ^ (0 - sign)) + sign;
  return p;
}

/** @returns where it ends; sign-extended to 64 bits in `magnitude`. */
export function readSigned32(p: usize): usize {
  p = readInteger(p);
  const sign = <u64>isNegative;
  if (magnitude > 0x7fffffff + sign) giveUp();
  magnitude = (magnitude ^ (0 - sign)) + sign;
  return p;
}

export function readUnsigned64(p: usize): usize {
  p = readInteger(p);
  if (isNegative) giveUp();
  return p;
}

export function readUnsigned32(p: usize): usize {
  p = readInteger(p);
  if (isNegative || magnitude > 0xffffffff) giveUp();
  return p;
}

/** A number of JSON, exactly rounded. Infinite ones are not for here. @returns where it ends. */
export function readDouble(start: usize): usize {
  const negative = load<u8>(start) === 0x2d;
  const first = start + <usize>negative;
  magnitude = 0;
  let p = readDigits(first);
  /** Those that count, and at times zeros before them. */
  let digits = p - first;
  if (digits !== 1 && (digits === 0 || load<u8>(first) === 0x30)) giveUp();
  let power: i32 = 0;
  let byte = <u32>load<u8>(p);
  if (byte === 0x2e) {
    const point = ++p;
    p = readDigits(p);
    if (p === point) giveUp();
    digits += p - point;
    power = -(<i32>(p - point));
    byte = load<u8>(p);
  }
  if ((byte | 0x20) === 0x65) {
    byte = load<u8>(++p);
    const down = byte === 0x2d;
    if (down || byte === 0x2b) byte = load<u8>(++p);
    if (byte - 0x30 > 9) giveUp();
    let exponent: i32 = 0;
    do {
      if (exponent < 100000) exponent = exponent * 10 + <i32>(byte - 0x30);
      byte = load<u8>(++p);
    } while (byte - 0x30 < 10);
    power += down ? -exponent : exponent;
  }
  const value = digits > MAX_DIGITS ? longDecimal(digits, power, first, p) : scaled(magnitude, power, first, p);
  double = select<f64>(-value, value, negative);
  return p;
}

/** One of more than 19 digits, which may be zeros at its start. */
function longDecimal(digits: usize, power: i32, first: usize, end: usize): f64 {
  let p = first;
  while (load<u8>(p) === 0x30 || load<u8>(p) === 0x2e) {
    if (load<u8>(p) === 0x30) digits--;
    p++;
  }
  // Zeros alone are counted as nothing; what else is too long has wrapped.
  return digits > MAX_DIGITS ? finite(hostParseDouble(first, end - first)) : scaled(magnitude, power, first, end);
}

// @inline
function scaled(whole: u64, power: i32, first: usize, end: usize): f64 {
  if (whole < 0x20000000000000) {
    if (power === 0) return <f64>whole;
    if (power < 0 && power >= -MAX_DOUBLE_POWER) return <f64>whole / load<f64>(DOUBLE_POWERS + ((<usize>-power) << 3));
    if (power > 0 && power <= MAX_DOUBLE_POWER) return <f64>whole * load<f64>(DOUBLE_POWERS + ((<usize>power) << 3));
  }
  return nearest(whole, power, first, end);
}

function finite(value: f64): f64 {
  if (!isFinite(value)) giveUp();
  return value;
}

/**
 * The double nearest to whole · 10^power, by a product of 128 bits (Eisel and Lemire; Lemire, "Number parsing at a
 * gigabyte per second", 2021). Where that many bits cannot tell, by the host.
 */
function nearest(whole: u64, power: i32, first: usize, end: usize): f64 {
  if (whole === 0) return 0;
  if (power < MIN_POWER || power > MAX_POWER) return finite(hostParseDouble(first, end - first));
  const shift = clz(whole);
  const factor = whole << shift;
  let exponent = ((217706 * power) >> 16) + 64 + 1023 - <i32>shift;
  const entry = POWERS + ((<usize>(power - MIN_POWER)) << 4);
  const power128 = load<u64>(entry);
  let upper = multiplyHigh(factor, power128);
  let lower = factor * power128;
  if ((upper & 0x1ff) === 0x1ff && lower + factor < factor) {
    const rest = load<u64>(entry, 8);
    const carried = lower + multiplyHigh(factor, rest);
    if (carried < lower) upper++;
    if ((upper & 0x1ff) === 0x1ff && carried + 1 === 0 && factor * rest + factor < factor) {
      return finite(hostParseDouble(first, end - first));
    }
    lower = carried;
  }
  const top = upper >> 63;
  let bits = upper >> (top + 9);
  exponent -= 1 ^ <i32>top;
  // Halfway between two, as far as can be seen.
  if (lower === 0 && (upper & 0x1ff) === 0 && (bits & 3) === 1) return finite(hostParseDouble(first, end - first));
  bits += bits & 1;
  bits >>= 1;
  if (bits >> 53 !== 0) {
    bits >>= 1;
    exponent++;
  }
  if (<u32>(exponent - 1) >= 0x7fe) return finite(hostParseDouble(first, end - first));
  return reinterpret<f64>(((<u64>exponent) << 52) | (bits & 0xfffffffffffff));
}

/** A double as ProtoJSON has it: quoted or not, or `"NaN"`. The other names are not for here. @returns where it ends. */
export function readQuotableDouble(p: usize): usize {
  if (load<u8>(p) !== 0x22) return readDouble(p);
  if (load<u32>(p, 1) === 0x224e614e) {
    double = NaN;
    return p + 5;
  }
  p = readDouble(p + 1);
  if (load<u8>(p) !== 0x22) giveUp();
  return p + 1;
}
