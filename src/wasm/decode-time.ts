/** google.protobuf.Timestamp and Duration, from wire to JSON. Gives up on what has no JSON form. */
import { printUnsigned, storePair } from "./decode-number.ts";
import { next, readVarint, setNext } from "./decode-wire.ts";
import { at, giveUp, reserve, setAt, writeByte } from "./memory.ts";
import { DURATION_MAX, NANOS_TAG, SECONDS_TAG, TIMESTAMP_MAX, TIMESTAMP_MIN } from "./time.ts";

const NANOS_MAX = 999999999;
const DAY = 86400;

export function printTimestamp(end: usize): void {
  const seconds = readSeconds(end);
  const nanos = readNanos(end);
  if (seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX || nanos < 0 || nanos > NANOS_MAX) giveUp();
  // Counted from 0001-01-01 on, so that none is negative.
  const since = <u64>(seconds - TIMESTAMP_MIN);
  const days = <u32>(since / DAY);
  const second = <u32>(since - <u64>days * DAY);
  reserve(0);
  const o = at;
  store<u8>(o, 0x22);
  storeDate(o + 1, days);
  store<u8>(o, 0x54, 11);
  storePair(o + 12, second / 3600);
  store<u8>(o, 0x3a, 14);
  storePair(o + 15, (second / 60) % 60);
  store<u8>(o, 0x3a, 17);
  storePair(o + 18, second % 60);
  setAt(o + 20);
  printFraction(nanos);
  writeByte(0x5a);
  writeByte(0x22);
}

export function printDuration(end: usize): void {
  const seconds = readSeconds(end);
  const nanos = readNanos(end);
  const negative = seconds < 0 || nanos < 0;
  if (negative && (seconds > 0 || nanos > 0)) giveUp();
  if (seconds > DURATION_MAX || seconds < -DURATION_MAX || nanos > NANOS_MAX || nanos < -NANOS_MAX) giveUp();
  reserve(0);
  writeByte(0x22);
  if (negative) writeByte(0x2d);
  printUnsigned(negative ? 0 - seconds : seconds);
  printFraction(negative ? 0 - nanos : nanos);
  writeByte(0x73);
  writeByte(0x22);
}

function readSeconds(end: usize): i64 {
  if (next >= end || load<u8>(next) !== SECONDS_TAG) return 0;
  setNext(next + 1);
  return readVarint();
}

/** The last field, so the message must end behind it. */
function readNanos(end: usize): i32 {
  let nanos: i32 = 0;
  if (next < end && load<u8>(next) === NANOS_TAG) {
    setNext(next + 1);
    nanos = <i32>readVarint();
  }
  if (next !== end) giveUp();
  return nanos;
}

/**
 * The proleptic Gregorian date. Years begin in March here, so that the leap day is the last of its year, and months
 * follow each other in 153 days for every five.
 *
 * @param days since 0001-01-01.
 */
function storeDate(o: usize, days: u32): void {
  /** From 0000-03-01 on. */
  const since = days + 306;
  const era = since / 146097;
  const ofEra = since - era * 146097;
  const yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
  const ofYear = ofEra - (365 * yearOfEra + (yearOfEra >> 2) - yearOfEra / 100);
  const march = (5 * ofYear + 2) / 153;
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const century = year / 100;
  storePair(o, century);
  storePair(o + 2, year - century * 100);
  store<u8>(o, 0x2d, 4);
  storePair(o + 5, month);
  store<u8>(o, 0x2d, 7);
  storePair(o + 8, ofYear - (153 * march + 2) / 5 + 1);
}

/** Nothing, or a point and 3, 6 or 9 digits: as many as are needed. */
function printFraction(nanos: i32): void {
  if (nanos === 0) return;
  let value = <u32>nanos;
  let digits: usize = 9;
  while (value % 1000 === 0) {
    value /= 1000;
    digits -= 3;
  }
  const o = at;
  store<u8>(o, 0x2e);
  for (let i = digits; i > 0; i--) {
    const rest = value / 10;
    store<u8>(o + i, 0x30 + (value - rest * 10));
    value = rest;
  }
  setAt(o + 1 + digits);
}
