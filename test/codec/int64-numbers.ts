/** What protobuf-es would print, did it know `int64AsNumber`: its JSON, with 64-bit integers as numbers where exact. */
import { type DescExtension, type DescField, type DescMessage, type Registry, ScalarType } from "@bufbuild/protobuf";

const WIDE: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

/** Of the well-known types these alone hold one; a Timestamp and the like are text, a Struct has doubles. */
const WIDE_WRAPPERS: ReadonlySet<string> = new Set(["google.protobuf.Int64Value", "google.protobuf.UInt64Value"]);

/**
 * @param json of the message, as protobuf-es prints it.
 * @param registry knows extensions and the types inside of Any.
 */
export function withNumbers(desc: DescMessage, json: unknown, registry: Registry): unknown {
  if (WIDE_WRAPPERS.has(desc.typeName)) return numberOf(json);
  if (!isObject(json)) return json;
  if (desc.typeName === "google.protobuf.Any") return anyWithNumbers(json, registry);
  if (desc.typeName === "google.protobuf.Struct" || desc.typeName === "google.protobuf.Value") return json;
  const fields = new Map(desc.fields.flatMap((field) => [field.jsonName, field.name].map((name) => [name, field])));
  const members = Object.entries(json).map(([name, value]) => {
    const extension = name.startsWith("[") ? registry.getExtension(name.slice(1, -1)) : undefined;
    const field = extension ?? fields.get(name);
    return [name, field ? fieldWithNumbers(field, value, registry) : value];
  });
  return Object.fromEntries(members);
}

function fieldWithNumbers(field: DescField | DescExtension, json: unknown, registry: Registry): unknown {
  const value = (json: unknown): unknown => {
    if (field.message) return withNumbers(field.message, json, registry);
    return WIDE.has(field.scalar) ? numberOf(json) : json;
  };
  if (field.fieldKind === "list" && Array.isArray(json)) return json.map(value);
  if (field.fieldKind === "map" && isObject(json)) {
    return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, value(item)]));
  }
  return value(json);
}

function anyWithNumbers(json: Readonly<Record<string, unknown>>, registry: Registry): unknown {
  const { "@type": url, ...content } = json;
  const desc = registry.getMessage(String(url).replace(/^.*\//, ""));
  if (!desc) return json;
  const isText = "value" in content && desc.typeName.startsWith("google.protobuf.") && desc.fields.length > 0;
  if (isText) return { "@type": url, value: withNumbers(desc, content.value, registry) };
  return { "@type": url, ...(withNumbers(desc, content, registry) as object) };
}

function numberOf(json: unknown): unknown {
  return typeof json === "string" && Number.isSafeInteger(Number(json)) ? Number(json) : json;
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
