/** Messages that ProtoJSON treats in a way of their own, and what follows for callers: which fields one text can stand for. */
import type { Field, Message } from "./model.ts";

export type Special = "wrapper" | "text" | "struct" | "value" | "list" | "any";

const SPECIALS: ReadonlyMap<string, Special> = new Map([
  ["google.protobuf.DoubleValue", "wrapper"],
  ["google.protobuf.FloatValue", "wrapper"],
  ["google.protobuf.Int64Value", "wrapper"],
  ["google.protobuf.UInt64Value", "wrapper"],
  ["google.protobuf.Int32Value", "wrapper"],
  ["google.protobuf.UInt32Value", "wrapper"],
  ["google.protobuf.BoolValue", "wrapper"],
  ["google.protobuf.StringValue", "wrapper"],
  ["google.protobuf.BytesValue", "wrapper"],
  ["google.protobuf.Timestamp", "text"],
  ["google.protobuf.Duration", "text"],
  ["google.protobuf.FieldMask", "text"],
  ["google.protobuf.Struct", "struct"],
  ["google.protobuf.Value", "value"],
  ["google.protobuf.ListValue", "list"],
  ["google.protobuf.Any", "any"],
]);

/** How the message is written in JSON, or undefined when it is an object of its fields. */
export function specialOf(message: Message): Special | undefined {
  return SPECIALS.get(message.name);
}

/**
 * Whether one text of a path or query can stand for a value of the field, or for an element of a list: scalars, enums,
 * wrappers, Timestamp, Duration and FieldMask. Not for maps and other messages.
 */
export function hasTextForm(field: Field): boolean {
  if (field.map) return false;
  if (!field.message) return true;
  const special = specialOf(field.message);
  return special === "wrapper" || special === "text";
}
