/** google.protobuf.Timestamp and Duration from their JSON text. */

/** Both messages have these two fields. A Timestamp's nanos count forward; a Duration's have the sign of the whole. */
export interface Time {
  readonly seconds: number;
  readonly nanos: number;
}

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z (timestamp.proto), in seconds. */
export const TIMESTAMP_MIN = -62_135_596_800;
export const TIMESTAMP_MAX = 253_402_300_799;
/** Ten thousand years (duration.proto), in seconds. */
export const DURATION_MAX = 315_576_000_000;

/** RFC 3339 §5.6 with upper-case T and Z. */
const timestamp =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;
const duration = /^(-?)([0-9]+)(?:\.([0-9]{1,9}))?s$/;

/** `2024-02-29T12:30:45.5+02:00`. @returns undefined for another text, a day that is none, or a time out of range. */
export function parseTimestamp(text: string): Time | undefined {
  const match = timestamp.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A month or day that does not exist has rolled over.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offset = (offsetHour * 60 + offsetMinute) * (match[8] === "-" ? -60 : 60);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  if (seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX) return undefined;
  return { seconds, nanos: parseFraction(match[7]) };
}

/** `-1.5s`. @returns undefined for another text, or one out of range. */
export function parseDuration(text: string): Time | undefined {
  const match = duration.exec(text);
  if (match === null) return undefined;
  const seconds = Number(match[2]);
  if (seconds > DURATION_MAX) return undefined;
  const nanos = parseFraction(match[3]);
  // Subtracted from zero, so that there is no minus zero.
  return match[1] === "-" ? { seconds: 0 - seconds, nanos: 0 - nanos } : { seconds, nanos };
}

/** The digits behind the point, as nanos. */
function parseFraction(digits = ""): number {
  return Number(digits.padEnd(9, "0"));
}
