/** The kinds (`kind.ts`) of scalars and messages. */
import type { Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import * as Type from "../schema/type.ts";
import * as Kind from "./kind.ts";

const scalars: ReadonlyMap<Type.Value, number> = new Map<Type.Value, number>([
  [Type.STRING, Kind.STRING],
  [Type.BYTES, Kind.BYTES],
  [Type.BOOL, Kind.BOOL],
  [Type.INT32, Kind.INT32],
  [Type.INT64, Kind.INT64],
  [Type.UINT32, Kind.UINT32],
  [Type.UINT64, Kind.UINT64],
  [Type.SINT32, Kind.SINT32],
  [Type.SINT64, Kind.SINT64],
  [Type.FIXED32, Kind.FIXED32],
  [Type.FIXED64, Kind.FIXED64],
  [Type.SFIXED32, Kind.SFIXED32],
  [Type.SFIXED64, Kind.SFIXED64],
  [Type.FLOAT, Kind.FLOAT],
  [Type.DOUBLE, Kind.DOUBLE],
]);

/** Without their package. */
const messages: ReadonlyMap<string, number> = new Map([
  ["Timestamp", Kind.TIMESTAMP],
  ["Duration", Kind.DURATION],
  ["Struct", Kind.STRUCT],
  ["Value", Kind.VALUE],
  ["ListValue", Kind.LIST_VALUE],
  ["FieldMask", Kind.FIELD_MASK],
  ["Any", Kind.ANY],
]);

export function kindOfScalar(type: Type.Value): number {
  return scalars.get(type) ?? Kind.OTHER;
}

export function kindOfMessage(message: Message): number {
  const special = specialOf(message);
  if (special === undefined) return Kind.MESSAGE;
  return special === "wrapper"
    ? Kind.WRAPPER
    : (messages.get(message.name.slice("google.protobuf.".length)) ?? Kind.OTHER);
}
