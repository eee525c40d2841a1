/** Numbers that were read, and enums, as they stand on the wire. */
import { QUOTE } from "./ascii.ts";
import { double, halves, IRREGULAR, io, writeVarint64 } from "./fast-io.ts";
import { endOfName } from "./fast-name.ts";
import { readSigned } from "./fast-number.ts";
import type { FieldPlan } from "./fast-plan.ts";
import { writeString } from "./fast-text.ts";

// Each writes the number read last, and hands on where it ended.

export function writeInteger(end: number): number {
  writeVarint64(halves[0] as number, halves[1] as number);
  return end;
}

export function writeZigzag(end: number): number {
  const low = halves[0] as number;
  const high = halves[1] as number;
  const sign = high >> 31;
  writeVarint64((low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign);
  return end;
}

export function writeFixed(end: number, size: number): number {
  io.outView.setInt32(io.at, halves[0] as number, true);
  if (size === 8) io.outView.setInt32(io.at + 4, halves[1] as number, true);
  io.at += size;
  return end;
}

export function writeFloat(end: number): number {
  const value = double[0] as number;
  if (!Number.isFinite(Math.fround(value)) && Number.isFinite(value)) throw IRREGULAR;
  io.outView.setFloat32(io.at, value, true);
  io.at += 4;
  return end;
}

export function writeDouble(end: number): number {
  io.outView.setFloat64(io.at, double[0] as number, true);
  io.at += 8;
  return end;
}

/** By name or, when it is open, by number. Of a name that is to be ignored, nothing is written, and `io.isUnknown` set. */
export function writeEnum(field: FieldPlan, start: number): number {
  if (io.src[start] !== QUOTE) {
    if (field.field.enum?.closed) throw IRREGULAR;
    return writeInteger(readSigned(start, 32));
  }
  const end = endOfName(start);
  const name = field.names?.find(start, end);
  if (name === undefined) return skipUnknownName(start);
  const number = name.value;
  writeVarint64(number, number >> 31);
  return end;
}

/** Checked like any string. */
function skipUnknownName(start: number): number {
  if (!io.ignoresUnknown) throw IRREGULAR;
  const { at } = io;
  const end = writeString(start);
  io.at = at;
  io.isUnknown = true;
  io.skipped++;
  return end;
}
