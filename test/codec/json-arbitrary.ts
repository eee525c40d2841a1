/** Random ProtoJSON of a message, in all the forms that a parser must take. */
import fc, { type Arbitrary } from "fast-check";
import type { Field, Message } from "../../src/schema/model.ts";
import * as Type from "../../src/schema/type.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/**
 * @param depth how many more levels of messages may come.
 * @param anys what may stand in a google.protobuf.Any. Default: some of the schema of kinds.ts.
 */
export function jsonOf(message: Message, depth: number, anys = anysOfKinds): Arbitrary<unknown> {
  const special = specials[message.name];
  if (special) return special;
  if (message.name === "google.protobuf.Any") return anys;
  const wrapped = message.name.endsWith("Value") && message.name.startsWith("google.protobuf.") && message.fields[0];
  if (wrapped) return scalarJson(wrapped);
  const required = message.fields.filter((field) => field.required);
  const optional = depth > 0 ? message.fields.filter((field) => !field.required) : [];
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, 8) })
    .map((fields) => [...required, ...fields])
    .map(oneOfEachOneof)
    .chain((fields) =>
      fc.tuple(
        ...fields.map((field) => fc.tuple(fc.constantFrom(field.name, field.jsonName), fieldJson(field, depth, anys))),
      ),
    )
    .map((entries) => Object.fromEntries(entries));
}

function oneOfEachOneof(fields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => !field.oneof || fields.find((other) => other.oneof === field.oneof) === field);
}

function fieldJson(field: Field, depth: number, anys: Arbitrary<unknown>): Arbitrary<unknown> {
  if (field.map) {
    const { key, value } = field.map;
    return fc.dictionary(keyText(key), valueJson(value, depth, anys), { maxKeys: 3, noNullPrototype: true });
  }
  if (field.repeated) return fc.array(valueJson(field, depth, anys), { maxLength: 3 });
  // For protobuf-es a null is the empty message, where the message is an extension.
  if (field.required || field.name.startsWith("[")) return valueJson(field, depth, anys);
  return fc.oneof({ arbitrary: valueJson(field, depth, anys), weight: 9 }, fc.constant(null));
}

function valueJson(field: Field, depth: number, anys: Arbitrary<unknown>): Arbitrary<unknown> {
  return field.message ? jsonOf(field.message, depth - 1, anys) : scalarJson(field);
}

function keyText(field: Field): Arbitrary<string> {
  return field.type === Type.STRING ? text : scalarJson(field).map(String);
}

const text = fc.string({ unit: "grapheme", maxLength: 10 });
const integer = (min: number, max: number) => fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, 0));

function scalarJson(field: Field): Arbitrary<unknown> {
  switch (field.type) {
    case Type.INT32:
    case Type.SINT32:
    case Type.SFIXED32:
      return integer(-2147483648, 2147483647);
    case Type.UINT32:
    case Type.FIXED32:
      return integer(0, 4294967295);
    case Type.INT64:
    case Type.SINT64:
    case Type.SFIXED64:
      return fc.oneof(integer(-MAX, MAX), fc.bigInt(-(1n << 63n), (1n << 63n) - 1n).map(String));
    case Type.UINT64:
    case Type.FIXED64:
      return fc.oneof(integer(0, MAX), fc.bigInt(0n, (1n << 64n) - 1n).map(String));
    case Type.FLOAT:
      return fc.oneof(fc.float({ noDefaultInfinity: true, noNaN: true }), fc.constantFrom("NaN", "Infinity", "2.5"));
    case Type.DOUBLE:
      return fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.constantFrom("NaN", "-Infinity", "1e-7"));
    case Type.BOOL:
      return fc.boolean();
    case Type.BYTES:
      return fc.base64String({ maxLength: 12 });
    case Type.ENUM:
      return enumJson(field);
    default:
      return text;
  }
}

function enumJson(field: Field): Arbitrary<unknown> {
  const values = field.enum?.values ?? [];
  return fc.constantFrom(...values.map((value) => value.name), ...values.map((value) => value.number));
}

const jsonText = fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" });

const specials: Readonly<Record<string, Arbitrary<unknown>>> = {
  "google.protobuf.Timestamp": fc.constantFrom("1970-01-01T00:00:00.25Z", "2024-02-29T12:00:00+01:00"),
  "google.protobuf.Duration": fc.constantFrom("0s", "-1.5s", "3.000000001s"),
  "google.protobuf.FieldMask": fc.constantFrom("", "a", "fooBar,baz.quxQuux"),
  "google.protobuf.Value": jsonText,
  "google.protobuf.Struct": fc.dictionary(text, jsonText, { maxKeys: 3, noNullPrototype: true }),
  "google.protobuf.ListValue": fc.array(jsonText, { maxLength: 3 }),
};

const anysOfKinds: Arbitrary<unknown> = fc.constantFrom<unknown>(
  {},
  { fInt32: 1, "@type": "type.googleapis.com/k.Kinds", rInt32: [1, 2] },
  { "@type": "type.googleapis.com/google.protobuf.Duration", value: "1s" },
  { value: { a: [null] }, "@type": "type.googleapis.com/google.protobuf.Struct" },
  { "@type": "type.googleapis.com/google.protobuf.Empty" },
  {
    value: { number: 3, must: 1, "@type": "type.googleapis.com/k.Old" },
    "@type": "type.googleapis.com/google.protobuf.Any",
  },
);
