/** protobuf-es rewrites the type URL of an Any that it reads from JSON to type.googleapis.com; ProtoJSON keeps it. */
import { type DescField, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import type { Json, JsonObject } from "./case.ts";

/** Puts back the URLs that the JSON has. An Any inside of an Any keeps what protobuf-es made. */
export function restoreTypeUrls(desc: DescMessage, message: unknown, json: Json | undefined): void {
  if (!isMessage(message) || !isObject(json)) return;
  if (isMessage(message, AnySchema)) {
    if (typeof json["@type"] === "string") message.typeUrl = json["@type"];
    return;
  }
  for (const field of desc.fields) restoreInField(field, fieldValue(message, field), json[field.jsonName]);
}

function restoreInField(field: DescField, value: unknown, json: Json | undefined): void {
  if (!field.message) return;
  if (field.fieldKind === "message") restoreTypeUrls(field.message, value, json);
  else if (Array.isArray(value) && Array.isArray(json)) {
    for (const [i, item] of json.entries()) restoreTypeUrls(field.message, value[i], item);
  } else if (field.fieldKind === "map" && isObject(json)) {
    for (const [key, item] of Object.entries(json)) restoreTypeUrls(field.message, (value as JsonObject)[key], item);
  }
}

function fieldValue(message: Message, field: DescField): unknown {
  const fields = message as unknown as { readonly [name: string]: unknown };
  if (!field.oneof) return fields[field.localName];
  const oneof = fields[field.oneof.localName] as { readonly case: string; readonly value: unknown };
  return oneof.case === field.localName ? oneof.value : undefined;
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
