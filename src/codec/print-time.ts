/** google.protobuf.Timestamp and Duration, from wire to JSON. Gives up on what has no JSON form. */
import { printByte, printNatural, printPadded } from "./print-number.ts";
import { giveUp, halves, readInt32, readVarint, refuse, reserve, tape } from "./print-tape.ts";
import { DURATION_MAX, TIMESTAMP_MAX, TIMESTAMP_MIN } from "./time.ts";

const QUOTE = 0x22;
const DASH = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const T = 0x54;
const Z = 0x5a;
const S = 0x73;

const SECONDS_TAG = 8;
const NANOS_TAG = 16;
const FIRST_SECOND = TIMESTAMP_MIN;
const LAST_SECOND = TIMESTAMP_MAX;
const LONGEST = DURATION_MAX;
const NANOS_MAX = 999_999_999;
const DAY = 86_400;
/** Quotes, date, time and nine digits. */
const TEXT_BYTES = 40;

export function printTimestamp(end: number): void {
  const seconds = readSeconds(end);
  const nanos = readNanos(end);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos > NANOS_MAX) refuse();
  const day = Math.floor(seconds / DAY);
  const second = seconds - day * DAY;
  reserve(TEXT_BYTES);
  printByte(QUOTE);
  printDate(day);
  printByte(T);
  printPadded((second / 3600) | 0, 2);
  printByte(COLON);
  printPadded(((second / 60) | 0) % 60, 2);
  printByte(COLON);
  printPadded(second % 60, 2);
  printFraction(nanos);
  printByte(Z);
  printByte(QUOTE);
}

export function printDuration(end: number): void {
  const seconds = readSeconds(end);
  const nanos = readNanos(end);
  const negative = seconds < 0 || nanos < 0;
  if (negative && (seconds > 0 || nanos > 0)) refuse();
  if (Math.abs(seconds) > LONGEST || Math.abs(nanos) > NANOS_MAX) refuse();
  reserve(TEXT_BYTES);
  printByte(QUOTE);
  if (negative) printByte(DASH);
  printNatural(Math.abs(seconds));
  printFraction(Math.abs(nanos));
  printByte(S);
  printByte(QUOTE);
}

/** Rounded where it is out of every range. */
function readSeconds(end: number): number {
  if (tape.at >= end || tape.wire[tape.at] !== SECONDS_TAG) return 0;
  tape.at++;
  readVarint();
  return (halves[1] as number) * 0x1_0000_0000 + ((halves[0] as number) >>> 0);
}

/** The last field, so the message must end behind it. */
function readNanos(end: number): number {
  let nanos = 0;
  if (tape.at < end && tape.wire[tape.at] === NANOS_TAG) {
    tape.at++;
    nanos = readInt32();
  }
  if (tape.at !== end) giveUp();
  return nanos;
}

/**
 * The proleptic Gregorian date of a day counted from 1970-01-01. Years begin in March here, so that the leap day is
 * the last of its year, and months follow each other in 153 days for every five.
 */
function printDate(day: number): void {
  /** From 0000-03-01 on. */
  const since = day + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const yearOfEra = ((ofEra - ((ofEra / 1460) | 0) + ((ofEra / 36_524) | 0) - ((ofEra / 146_096) | 0)) / 365) | 0;
  const ofYear = ofEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const march = ((5 * ofYear + 2) / 153) | 0;
  const month = march < 10 ? march + 3 : march - 9;
  printPadded(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4);
  printByte(DASH);
  printPadded(month, 2);
  printByte(DASH);
  printPadded(ofYear - (((153 * march + 2) / 5) | 0) + 1, 2);
}

/** Nothing, or a point and 3, 6 or 9 digits: as many as are needed. */
function printFraction(nanos: number): void {
  if (nanos === 0) return;
  printByte(POINT);
  if (nanos % 1_000_000 === 0) printPadded(nanos / 1_000_000, 3);
  else if (nanos % 1000 === 0) printPadded(nanos / 1000, 6);
  else printPadded(nanos, 9);
}
