/** The keys under which a JSON object may hold a message's fields. */
import type { Field, Message } from "../schema/model.ts";

const tables = new WeakMap<Message, ReadonlyMap<string, Field>>();

/** JSON names and proto names. Where one field's JSON name is another's proto name, the JSON name counts. */
export function fieldsByKey(message: Message): ReadonlyMap<string, Field> {
  let table = tables.get(message);
  if (table === undefined) {
    table = new Map([
      ...message.fields.map((field) => [field.name, field] as const),
      ...message.fields.map((field) => [field.jsonName, field] as const),
    ]);
    tables.set(message, table);
  }
  return table;
}
