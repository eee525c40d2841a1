/** Enum values by their numbers. */
import type { Enum, Field } from "../schema/model.ts";

const enumNames = new WeakMap<Enum, ReadonlyMap<number, string>>();

/** The name declared first with this number (ProtoJSON), or undefined. */
export function enumName(enumeration: Enum, number: number): string | undefined {
  let names = enumNames.get(enumeration);
  if (!names) {
    // Of equal keys a Map keeps the last.
    names = new Map(enumeration.values.toReversed().map((value) => [value.number, value.name]));
    enumNames.set(enumeration, names);
  }
  return names.get(number);
}

/** True for a number of a closed enum that no value has: as if the record were an unknown field. */
export function isUnknownEnum(field: Field, number: number): boolean {
  return field.enum?.closed === true && enumName(field.enum, number) === undefined;
}
