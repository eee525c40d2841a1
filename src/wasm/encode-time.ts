/** google.protobuf.Timestamp and Duration from the bytes of their JSON text. */
import { isNegative, magnitude, readUnsigned64 } from "./encode-number.ts";
import { giveUp, writeByte, writeVarint } from "./memory.ts";
import { DURATION_MAX, NANOS_TAG, SECONDS_TAG, TIMESTAMP_MAX, TIMESTAMP_MIN } from "./time.ts";

/** Days before each month of a year that is no leap year. */
const DAYS_BEFORE: usize = memory.data<u16>([0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]);
/** From 0000-03-01 (proleptic) to 1970-01-01. */
const DAYS_TO_EPOCH = 719468;

/** Of the fraction last read. */
let nanos: i32 = 0;

/** Writes the content for `"2024-02-29T12:30:45.5+02:00"` (RFC 3339 §5.6). @returns where the string ends. */
export function writeTimestamp(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  const year = twoDigits(p) * 100 + twoDigits(p + 2);
  if (load<u8>(p, 4) !== 0x2d || load<u8>(p, 7) !== 0x2d || load<u8>(p, 10) !== 0x54) giveUp();
  if (load<u8>(p, 13) !== 0x3a || load<u8>(p, 16) !== 0x3a) giveUp();
  const days = daysSinceEpoch(year, twoDigits(p + 5), twoDigits(p + 8));
  let seconds = days * 86400 + secondsOfDay(twoDigits(p + 11), twoDigits(p + 14)) + below60(twoDigits(p + 17));
  p = readFraction(p + 19);
  const sign = load<u8>(p);
  if (sign === 0x2b || sign === 0x2d) {
    if (load<u8>(p, 3) !== 0x3a) giveUp();
    const offset = secondsOfDay(twoDigits(p + 1), twoDigits(p + 4));
    seconds += sign === 0x2b ? -offset : offset;
    p += 6;
  } else {
    if (sign !== 0x5a) giveUp();
    p++;
  }
  if (load<u8>(p) !== 0x22 || seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX) giveUp();
  writeTime(seconds, nanos);
  return p + 1;
}

/** Writes the content for `"-1.5s"`. @returns where the string ends. */
export function writeDuration(p: usize): usize {
  if (load<u8>(p) !== 0x22) giveUp();
  p++;
  const negative = load<u8>(p) === 0x2d;
  if (negative) p++;
  // A quote or a second minus would be one too many.
  if (<u32>load<u8>(p) - 0x30 > 9) giveUp();
  p = readUnsigned64(p);
  const seconds = magnitude;
  if (isNegative || seconds > <u64>DURATION_MAX) giveUp();
  p = readFraction(p);
  if (load<u16>(p) !== 0x2273) giveUp();
  if (negative) writeTime(-(<i64>seconds), -nanos);
  else writeTime(seconds, nanos);
  return p + 2;
}

/** Nothing, or a point and up to nine digits. @returns where it ends. */
function readFraction(p: usize): usize {
  nanos = 0;
  if (load<u8>(p) !== 0x2e) return p;
  const first = ++p;
  const last = p + 9;
  for (let digit = <u32>load<u8>(p) - 0x30; digit < 10 && p < last; digit = <u32>load<u8>(++p) - 0x30) {
    nanos = nanos * 10 + <i32>digit;
  }
  if (p === first) giveUp();
  for (let digits = p - first; digits < 9; digits++) nanos *= 10;
  return p;
}

function writeTime(seconds: i64, nanos: i32): void {
  if (seconds !== 0) {
    writeByte(SECONDS_TAG);
    writeVarint(seconds);
  }
  if (nanos !== 0) {
    writeByte(NANOS_TAG);
    writeVarint(<i64>nanos);
  }
}

function twoDigits(p: usize): i64 {
  const tens = <u32>load<u8>(p) - 0x30;
  const ones = <u32>load<u8>(p, 1) - 0x30;
  if (tens > 9 || ones > 9) giveUp();
  return tens * 10 + ones;
}

function below60(value: i64): i64 {
  if (value > 59) giveUp();
  return value;
}

function secondsOfDay(hour: i64, minute: i64): i64 {
  if (hour > 23) giveUp();
  return hour * 3600 + below60(minute) * 60;
}

/** Years begin in March here, so that the day of a leap year is the last. */
function daysSinceEpoch(year: i64, month: i64, day: i64): i64 {
  if (month < 1 || month > 12 || day < 1) giveUp();
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const before = <i64>load<u16>(DAYS_BEFORE + ((<usize>month) << 1));
  const length = <i64>load<u16>(DAYS_BEFORE + ((<usize>month) << 1), 2) - before + (isLeap && month === 2 ? 1 : 0);
  if (day > length) giveUp();
  // Counted from 400 years before, so that none is negative.
  const marchYear = (month > 2 ? year : year - 1) + 400;
  const leaps = marchYear / 4 - marchYear / 100 + marchYear / 400;
  const sinceMarch = before + (month > 2 ? -59 : 306);
  return marchYear * 365 + leaps + sinceMarch + day - 1 - DAYS_TO_EPOCH - 146097;
}
