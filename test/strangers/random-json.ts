/** Random ProtoJSON of a message of protobuf-es, with some of its fields fixed. */
import { type DescField, type DescMessage, type FileRegistry, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import fc, { type GeneratorValue } from "fast-check";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Values that fields must have, by their names in the .proto file. */
export type Fixed = ReadonlyMap<string, string | Fixed>;

/** What all of one sample has in common. */
export interface Sampling {
  readonly draw: GeneratorValue;
  readonly registry: FileRegistry;
  /** How field names are spelt. */
  readonly names: "proto" | "json";
}

/** Where the JSON will stand: a query holds no maps, lists of messages, dynamic or empty messages, and no null. */
export type Place = "body" | "query";

const { LEGACY_REQUIRED } = FeatureSet_FieldPresence;
export const NONE: Fixed = new Map();
const MAX_FIELDS = 5;
/** Names of the messages that a query has no form for, although they are singular. */
const DYNAMIC = /^google\.protobuf\.(?:Any|Struct|Value|ListValue)$/;

/** @param depth how many more levels of messages may come. */
export function messageJson(
  sampling: Sampling,
  desc: DescMessage,
  place: Place,
  depth: number,
  fixed = NONE,
): JsonObject {
  return fieldsJson(sampling, desc.fields, place, depth, fixed);
}

/** Of some fields of one message: each oneof has one member at most. */
export function fieldsJson(
  sampling: Sampling,
  fields: readonly DescField[],
  place: Place,
  depth: number,
  fixed = NONE,
): JsonObject {
  const chosen = new Set(fields.filter((field) => fixed.has(field.name) || field.presence === LEGACY_REQUIRED));
  if (depth > 0 && fields.length > 0) {
    for (let count = nat(sampling, MAX_FIELDS); count > 0; count--) chosen.add(pick(sampling, fields));
  }
  const oneofs = new Map([...chosen].reverse().map((field) => [field.oneof ?? field, field]));
  const entries: [string, Json][] = [];
  for (const field of oneofs.values()) {
    const value = fieldJson(sampling, field, place, depth, fixed.get(field.name));
    if (value !== undefined) entries.push([keyOf(sampling, field), value]);
  }
  return Object.fromEntries(entries);
}

export function keyOf({ names }: Sampling, field: DescField): string {
  return names === "proto" ? field.name : field.jsonName;
}

/** @returns undefined when the field can have no value there. */
export function fieldJson(
  sampling: Sampling,
  field: DescField,
  place: Place,
  depth: number,
  fixed?: string | Fixed,
): Json | undefined {
  if (typeof fixed === "string") return fixed;
  if (place === "query") return queryJson(sampling, field, depth, fixed);
  if (!fixed && isNullable(field) && nat(sampling, 20) === 0) return null;
  if (field.fieldKind === "list") return times(sampling, 0, () => valueJson(sampling, field, "body", depth));
  if (field.fieldKind !== "map") return valueJson(sampling, field, "body", depth, fixed);
  const value = () => valueJson(sampling, field, "body", depth);
  return Object.fromEntries(times(sampling, 0, () => [String(scalarJson(sampling, field.mapKey)), value()]));
}

function queryJson(sampling: Sampling, field: DescField, depth: number, fixed?: Fixed): Json | undefined {
  if (field.fieldKind === "map" || (field.message && DYNAMIC.test(field.message.typeName))) return undefined;
  if (field.fieldKind === "list") {
    const isText = !field.message || field.message.typeName in specials;
    return isText ? times(sampling, 1, () => valueJson(sampling, field, "query", depth)) : undefined;
  }
  const value = valueJson(sampling, field, "query", depth, fixed);
  return isEmptyObject(value) ? undefined : value;
}

function isEmptyObject(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Null leaves a field unset, but for those whose value it is. */
function isNullable({ message, enum: type, presence }: DescField): boolean {
  if (presence === LEGACY_REQUIRED) return false;
  return message?.typeName !== "google.protobuf.Value" && type?.typeName !== "google.protobuf.NullValue";
}

function valueJson(sampling: Sampling, field: DescField, place: Place, depth: number, fixed?: Fixed): Json {
  if (field.enum) {
    if (field.enum.typeName === "google.protobuf.NullValue") return place === "query" ? "NULL_VALUE" : null;
    const { name, number } = pick(sampling, field.enum.values);
    return pick(sampling, [name, number]);
  }
  if (field.message) {
    const special = specials[field.message.typeName];
    return special ? special(sampling, depth - 1) : messageJson(sampling, field.message, place, depth - 1, fixed);
  }
  return scalarJson(sampling, field.scalar as ScalarType);
}

function scalarJson(sampling: Sampling, type: ScalarType): Json {
  const { draw } = sampling;
  switch (type) {
    case ScalarType.STRING:
      return draw(text);
    case ScalarType.BOOL:
      return draw(fc.boolean);
    case ScalarType.BYTES:
      return draw(base64);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return draw(fraction);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return draw(int64);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return draw(uint64);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return draw(uint32);
    default:
      return draw(fc.integer);
  }
}

const text = () => fc.string({ unit: "grapheme", maxLength: 8 });
const base64 = () => fc.base64String({ maxLength: 12 });
/** The same in 32 and in 64 bits. */
const fraction = () => fc.integer({ min: -4096, max: 4096 }).map((eighths) => eighths / 8 + 0);
const int64 = () => fc.bigInt(-(1n << 63n), (1n << 63n) - 1n).map(String);
const uint64 = () => fc.bigInt(0n, (1n << 64n) - 1n).map(String);
const uint32 = () => fc.nat(0xffff_ffff);
const jsonValue = () => fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme" }).map((value) => value as Json);
const jsonObject = () => fc.dictionary(text(), jsonValue(), { maxKeys: 3, noNullPrototype: true });
const jsonList = () => fc.array(jsonValue(), { maxLength: 3 });
const instant = () =>
  fc
    .tuple(fc.date({ noInvalidDate: true, min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999) }))
    .map(([date]) => date.toISOString());
const seconds = () =>
  fc.tuple(fc.integer(), fc.constantFrom("", ".5", ".000000001")).map(([whole, part]) => `${whole}${part}s`);
const mask = () => fc.uniqueArray(fc.constantFrom("name", "fooBar", "foo.bazQux", "a.b.c"), { maxLength: 3 });

type Special = (sampling: Sampling, depth: number) => Json;

/** What ProtoJSON has a form of its own for. */
const specials: Readonly<Record<string, Special>> = {
  "google.protobuf.Timestamp": ({ draw }) => draw(instant),
  "google.protobuf.Duration": ({ draw }) => draw(seconds),
  "google.protobuf.FieldMask": ({ draw }) => draw(mask).join(","),
  "google.protobuf.DoubleValue": ({ draw }) => draw(fraction),
  "google.protobuf.FloatValue": ({ draw }) => draw(fraction),
  "google.protobuf.Int64Value": ({ draw }) => draw(int64),
  "google.protobuf.UInt64Value": ({ draw }) => draw(uint64),
  "google.protobuf.Int32Value": ({ draw }) => draw(fc.integer),
  "google.protobuf.UInt32Value": ({ draw }) => draw(uint32),
  "google.protobuf.BoolValue": ({ draw }) => draw(fc.boolean),
  "google.protobuf.StringValue": ({ draw }) => draw(text),
  "google.protobuf.BytesValue": ({ draw }) => draw(base64),
  "google.protobuf.Struct": ({ draw }) => draw(jsonObject),
  "google.protobuf.Value": ({ draw }) => draw(jsonValue),
  "google.protobuf.ListValue": ({ draw }) => draw(jsonList),
  "google.protobuf.Any": anyJson,
};

function anyJson(sampling: Sampling, depth: number): Json {
  const types = [...sampling.registry].filter((type) => type.kind === "message");
  const desc = depth > 0 && types.length > 0 ? pick(sampling, types) : undefined;
  if (!desc) return {};
  const type = { "@type": `type.googleapis.com/${desc.typeName}` };
  const special = specials[desc.typeName];
  return special
    ? { ...type, value: special(sampling, depth - 1) }
    : { ...type, ...messageJson(sampling, desc, "body", depth - 1) };
}

export function nat({ draw }: Sampling, max: number): number {
  return draw(fc.nat, max);
}

export function pick<T>(sampling: Sampling, items: readonly T[]): T {
  return items[nat(sampling, items.length - 1)] as T;
}

function times<T>(sampling: Sampling, min: number, create: () => T): T[] {
  return Array.from({ length: min + nat(sampling, 2) }, create);
}
