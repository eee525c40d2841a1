/** Names of enum values by their numbers. */
import type { Enum } from "../schema/model.ts";

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
