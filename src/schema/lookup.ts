/** Fields by the names that callers use. */
import { hashKey } from "./hash-key.ts";
import type { Field, Message } from "./model.ts";

const INDEXES = new WeakMap<Message, ReadonlyMap<string, Field>>();

/** Each field by both its names. Where one name is that of two fields, the last entry counts. */
export function namedFields({ fields }: Message): readonly (readonly [name: string, field: Field])[] {
  return [
    ...fields.map((field) => [field.name, field] as const),
    ...fields.map((field) => [field.jsonName, field] as const),
  ];
}

/**
 * The field that a caller means: by JSON name first, then by the name in the .proto file, as in ProtoJSON.
 * (A json_name may be the proto name of another field.)
 */
export function findField(message: Message, name: string): Field | undefined {
  let index = INDEXES.get(message);
  if (!index) {
    index = new Map(namedFields(message).map(([key, field]) => [hashKey(key), field]));
    INDEXES.set(message, index);
  }
  return index.get(hashKey(name));
}
