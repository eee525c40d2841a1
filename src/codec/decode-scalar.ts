/** Scalars and enums: from wire to JSON. */
import type { Field } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import { encodeBase64 } from "./base64.ts";
import type { Decoding } from "./decoding.ts";
import { enumName } from "./enum-name.ts";
import { formatDouble, formatFloat32 } from "./float.ts";
import { lenientUtf8, strictUtf8 } from "./utf8.ts";
import type { Spans } from "./wire-index.ts";
import type { WireReader } from "./wire-reader.ts";

/** A scalar that is not length-delimited. Enums are their numbers, 64-bit integers bigint. */
export type Numeric = number | bigint | boolean;

interface NumericType {
  readonly zero: Numeric;
  readonly read: (reader: WireReader) => Numeric;
}

const numericTypes: ReadonlyMap<Type.Value, NumericType> = new Map<Type.Value, NumericType>([
  [Type.DOUBLE, { zero: 0, read: (reader) => reader.double() }],
  [Type.FLOAT, { zero: 0, read: (reader) => reader.float() }],
  [Type.INT64, { zero: 0n, read: (reader) => reader.int64() }],
  [Type.UINT64, { zero: 0n, read: (reader) => reader.uint64() }],
  [Type.INT32, { zero: 0, read: (reader) => reader.int32() }],
  [Type.FIXED64, { zero: 0n, read: (reader) => reader.fixed64() }],
  [Type.FIXED32, { zero: 0, read: (reader) => reader.fixed32() }],
  [Type.BOOL, { zero: false, read: (reader) => reader.bool() }],
  [Type.UINT32, { zero: 0, read: (reader) => reader.uint32() }],
  [Type.ENUM, { zero: 0, read: (reader) => reader.int32() }],
  [Type.SFIXED32, { zero: 0, read: (reader) => reader.sfixed32() }],
  [Type.SFIXED64, { zero: 0n, read: (reader) => reader.sfixed64() }],
  [Type.SINT32, { zero: 0, read: (reader) => reader.sint32() }],
  [Type.SINT64, { zero: 0n, read: (reader) => reader.sint64() }],
]);

/**
 * Writes a singular scalar or enum, or its default when there is no record.
 *
 * @returns whether it differs from unset: there is a record, and the value is not zero or the field has presence.
 */
export function writeScalar(run: Decoding, field: Field, spans: Spans): boolean {
  if (isText(field)) {
    const [start, end] = lastSpan(spans);
    if (spans.length > 0) writeText(run, field, start, end);
    else run.writer.ascii(defaultText(field));
    return spans.length > 0 && (field.presence || start < end);
  }
  const value = readNumeric(run, field, spans);
  writeNumeric(run, field, value);
  return spans.length > 0 && (field.presence || !Object.is(value, numericType(field).zero));
}

/** Strings and bytes: the scalars that are length-delimited. */
export function isText(field: Field): boolean {
  return field.type === Type.STRING || field.type === Type.BYTES;
}

/** Writes a string or bytes. */
export function writeText(run: Decoding, field: Field, start: number, end: number): void {
  const { wire, writer } = run;
  if (field.type === Type.BYTES) {
    writer.ascii(`"${encodeBase64(wire.subarray(start, end))}"`);
  } else if (!writer.utf8(wire, start, end)) {
    writer.string(readString(run, field, [start, end]));
  }
}

/** @param value of the field's type. */
export function writeNumeric(run: Decoding, field: Field, value: Numeric): void {
  run.writer.ascii(formatNumeric(run, field, value));
}

/** A singular scalar or enum that is not length-delimited, or its default when there is no record. */
export function readNumeric(run: Decoding, field: Field, spans: Spans): Numeric {
  if (spans.length === 0) return defaultNumeric(field);
  run.reader.seek(...lastSpan(spans));
  return readNext(run, field);
}

/** The value that the cursor stands at. */
export function readNext(run: Decoding, field: Field): Numeric {
  return numericType(field).read(run.reader);
}

/**
 * A singular string; "" when there is no record. Where the schema lets strings be something else, what is not UTF-8
 * reads as U+FFFD.
 *
 * @throws ConnectError internal when the bytes are not UTF-8.
 */
export function readString(run: Decoding, field: Field, spans: Spans): string {
  const bytes = run.wire.subarray(...lastSpan(spans));
  if (!field.utf8) return lenientUtf8.decode(bytes);
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw run.fault("string is not UTF-8");
  }
}

function formatNumeric(run: Decoding, field: Field, value: Numeric): string {
  if (typeof value === "bigint") return formatInt64(run, value);
  if (typeof value === "boolean") return String(value);
  if (field.enum) return formatEnum(run, field.enum, value);
  return field.type === Type.FLOAT ? formatFloat32(value) : formatDouble(value);
}

function formatInt64(run: Decoding, value: bigint): string {
  const isNumber = run.context.options.int64AsNumber && Number.isSafeInteger(Number(value));
  return isNumber ? String(value) : `"${value}"`;
}

function formatEnum(run: Decoding, enumeration: NonNullable<Field["enum"]>, number: number): string {
  if (enumeration.name === "google.protobuf.NullValue") return "null";
  const name = run.context.options.enumAsInteger ? undefined : enumName(enumeration, number);
  return name === undefined ? String(number) : `"${name}"`;
}

function defaultNumeric(field: Field): Numeric {
  const value = field.defaultValue ?? field.enum?.values[0]?.number ?? numericType(field).zero;
  return value as Numeric;
}

/** JSON of the default of a string or bytes. */
function defaultText({ defaultValue = "" }: Field): string {
  const text = defaultValue instanceof Uint8Array ? encodeBase64(defaultValue) : defaultValue;
  return JSON.stringify(text);
}

function numericType(field: Field): NumericType {
  return numericTypes.get(field.type) as NumericType;
}

function lastSpan(spans: Spans): [start: number, end: number] {
  return [spans.at(-2) ?? 0, spans.at(-1) ?? 0];
}
