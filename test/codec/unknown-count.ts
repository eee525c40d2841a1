/** How many unknown fields protobuf-es keeps of a message that it has read. */
import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";

/**
 * In the message and in all that are in it. Of wrappers and of Struct protobuf-es keeps none.
 *
 * @param registry knows the types inside of Any.
 */
export function countUnknown(desc: DescMessage, message: Message, registry: Registry): number {
  const own = message.$unknown?.length ?? 0;
  if (desc.typeName === "google.protobuf.Any") return own + countInAny(message as Any, registry);
  const content = reflect(desc, message);
  let count = own;
  for (const field of desc.fields) {
    const type = field.message;
    if (!type || !content.isSet(field)) continue;
    const value: unknown = content.get(field);
    const items =
      field.fieldKind === "list"
        ? content.get(field)
        : field.fieldKind === "map"
          ? content.get(field).values()
          : [value];
    for (const item of items) count += countUnknown(type, (item as { message: Message }).message, registry);
  }
  return count;
}

function countInAny(any: Any, registry: Registry): number {
  const inside = anyUnpack(any, registry);
  const desc = inside && registry.getMessage(inside.$typeName);
  return desc ? countUnknown(desc, inside, registry) : 0;
}
