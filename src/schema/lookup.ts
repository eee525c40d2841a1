/** Fields by the names that callers use. */
import type { Field, Message } from "./model.ts";

const INDEXES = new WeakMap<Message, ReadonlyMap<string, Field>>();

/**
 * The field that a caller means: by JSON name first, then by the name in the .proto file, as in ProtoJSON.
 * (A json_name may be the proto name of another field.)
 */
export function findField(message: Message, name: string): Field | undefined {
  let index = INDEXES.get(message);
  if (!index) {
    const byProtoName = message.fields.map((field) => [field.name, field] as const);
    const byJsonName = message.fields.map((field) => [field.jsonName, field] as const);
    index = new Map([...byProtoName, ...byJsonName]);
    INDEXES.set(message, index);
  }
  return index.get(name);
}
