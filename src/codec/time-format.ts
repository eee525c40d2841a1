/** google.protobuf.Timestamp and Duration as their JSON text. */

import { DURATION_MAX, TIMESTAMP_MAX, TIMESTAMP_MIN } from "./time.ts";

const NANOS_MAX = 999_999_999;

/** `2024-02-29T12:30:45.500Z`. @returns undefined when the time is out of range, or the nanos are. */
export function formatTimestamp(seconds: bigint, nanos: number): string | undefined {
  if (seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX || nanos < 0 || nanos > NANOS_MAX) return undefined;
  const toTheSecond = new Date(Number(seconds) * 1000).toISOString().slice(0, -".000Z".length);
  return `${toTheSecond}${formatFraction(nanos)}Z`;
}

/** `-1.500s`. @returns undefined when the span is out of range, the nanos are, or the two differ in sign. */
export function formatDuration(seconds: bigint, nanos: number): string | undefined {
  const negative = seconds < 0n || nanos < 0;
  // Both turned to where they should not be below zero.
  const wholes = negative ? -seconds : seconds;
  const fraction = negative ? -nanos : nanos;
  if (wholes < 0n || wholes > DURATION_MAX || fraction < 0 || fraction > NANOS_MAX) return undefined;
  return `${negative ? "-" : ""}${wholes}${formatFraction(fraction)}s`;
}

/** Nothing, or a point and 3, 6 or 9 digits: as many as are needed. */
function formatFraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos).padStart(9, "0");
  return `.${digits.replace(/(000){1,2}$/, "")}`;
}
