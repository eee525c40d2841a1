/** Messages that ProtoJSON treats in a way of their own, and what follows for callers: which fields one text can stand for. */
import type { Field, Message } from "./model.ts";

export type Special = "wrapper" | "text" | "struct" | "value" | "list" | "any";

/** Of the package google.protobuf. */
const NAMES: Readonly<Record<Special, string>> = {
  wrapper: "DoubleValue FloatValue Int64Value UInt64Value Int32Value UInt32Value BoolValue StringValue BytesValue",
  text: "Timestamp Duration FieldMask",
  struct: "Struct",
  value: "Value",
  list: "ListValue",
  any: "Any",
};

const SPECIALS: ReadonlyMap<string, Special> = new Map(
  Object.entries(NAMES).flatMap(([special, names]) =>
    names.split(" ").map((name) => [`google.protobuf.${name}`, special as Special]),
  ),
);

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
