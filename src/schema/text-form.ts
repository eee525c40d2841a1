/** Which fields a piece of text can stand for: in a path, in a query, in a header. */
import { type Field, Type } from "./model.ts";

/** google.protobuf's wrappers: one field, `value` = 1, and the JSON of that field. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  "google.protobuf.DoubleValue",
  "google.protobuf.FloatValue",
  "google.protobuf.Int64Value",
  "google.protobuf.UInt64Value",
  "google.protobuf.Int32Value",
  "google.protobuf.UInt32Value",
  "google.protobuf.BoolValue",
  "google.protobuf.StringValue",
  "google.protobuf.BytesValue",
]);

/** Messages whose JSON is one string (ProtoJSON). */
export const TEXT_MESSAGES: ReadonlySet<string> = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

/**
 * True for scalars, enums, wrappers, Timestamp, Duration and FieldMask. Looks at one value of the field: a list has
 * the form of its elements, a map has none.
 */
export function hasTextForm(field: Field): boolean {
  if (field.type !== Type.MESSAGE) return field.type !== Type.GROUP;
  const name = field.message?.name;
  return name !== undefined && (WRAPPERS.has(name) || TEXT_MESSAGES.has(name));
}
