/** google.protobuf.Timestamp and Duration from the bytes of their JSON text. */
import { IRREGULAR, io, writeVarint, writeVarint64 } from "./fast-io.ts";
import { endOfName } from "./fast-name.ts";
import { asciiText } from "./fast-number.ts";
import { parseDuration, TIMESTAMP_MAX, TIMESTAMP_MIN } from "./time.ts";

const ZERO = 0x30;
const DASH = 0x2d;
const PLUS = 0x2b;
const COLON = 0x3a;

/** Days before each month of a year that is no leap year. */
const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
/** From 0000-03-01 (proleptic) to 1970-01-01. */
const DAYS_TO_EPOCH = 719_468;

/** Both messages have these two fields, and write no zeros. */
const SECONDS = 1 << 3;
const NANOS = 2 << 3;

/** Writes the content for `"2024-02-29T12:30:45.5+02:00"` (RFC 3339 §5.6). @returns where the string ends. */
export function writeTimestamp(start: number): number {
  const { src } = io;
  let p = start + 1;
  if (src[start] !== 0x22 || src[p + 4] !== DASH || src[p + 7] !== DASH || src[p + 10] !== 0x54) throw IRREGULAR;
  if (src[p + 13] !== COLON || src[p + 16] !== COLON) throw IRREGULAR;
  const year = twoDigits(p) * 100 + twoDigits(p + 2);
  const days = daysSinceEpoch(year, twoDigits(p + 5), twoDigits(p + 8));
  let seconds = days * 86_400 + secondsOfDay(twoDigits(p + 11), twoDigits(p + 14)) + below60(twoDigits(p + 17));
  p += 19;
  let nanos = 0;
  if (src[p] === 0x2e) {
    const first = ++p;
    while ((src[p] as number) >= ZERO && (src[p] as number) <= 0x39 && p < first + 9) {
      nanos = nanos * 10 + (src[p++] as number) - ZERO;
    }
    if (p === first) throw IRREGULAR;
    for (let digits = p - first; digits < 9; digits++) nanos *= 10;
  }
  const sign = src[p];
  if (sign === PLUS || sign === DASH) {
    if (src[p + 3] !== COLON) throw IRREGULAR;
    const offset = secondsOfDay(twoDigits(p + 1), twoDigits(p + 4));
    seconds += sign === PLUS ? -offset : offset;
    p += 6;
  } else if (sign === 0x5a) {
    p++;
  } else {
    throw IRREGULAR;
  }
  if (src[p] !== 0x22 || seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX) throw IRREGULAR;
  writeTime(seconds, nanos);
  return p + 1;
}

/** Writes the content for `"-1.5s"`. @returns where the string ends. */
export function writeDuration(start: number): number {
  const end = endOfName(start);
  const time = parseDuration(asciiText(start + 1, end - 1));
  if (time === undefined) throw IRREGULAR;
  writeTime(time.seconds, time.nanos);
  return end;
}

function writeTime(seconds: number, nanos: number): void {
  if (seconds !== 0) {
    writeVarint(SECONDS);
    writeVarint64(seconds | 0, Math.floor(seconds / 2 ** 32));
  }
  if (nanos !== 0) {
    writeVarint(NANOS);
    writeVarint64(nanos, nanos >> 31);
  }
}

function twoDigits(p: number): number {
  const tens = (io.src[p] as number) - ZERO;
  const ones = (io.src[p + 1] as number) - ZERO;
  if (tens < 0 || tens > 9 || ones < 0 || ones > 9) throw IRREGULAR;
  return tens * 10 + ones;
}

function below60(value: number): number {
  if (value > 59) throw IRREGULAR;
  return value;
}

function secondsOfDay(hour: number, minute: number): number {
  if (hour > 23) throw IRREGULAR;
  return hour * 3600 + below60(minute) * 60;
}

/** Years begin in March here, so that the day of a leap year is the last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  if (month < 1 || month > 12 || day < 1) throw IRREGULAR;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length = (DAYS_BEFORE[month] as number) - (DAYS_BEFORE[month - 1] as number) + Number(isLeap && month === 2);
  if (day > length) throw IRREGULAR;
  const marchYear = month > 2 ? year : year - 1;
  const leaps = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  const sinceMarch = (DAYS_BEFORE[month - 1] as number) + (month > 2 ? -59 : 306);
  return marchYear * 365 + leaps + sinceMarch + day - 1 - DAYS_TO_EPOCH;
}
