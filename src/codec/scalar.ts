/** Scalars and enums: from their text to wire. */
import { hashKey } from "../schema/hash-key.ts";
import type { Enum, Field } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import { decodeBase64 } from "./base64.ts";
import { isUnknownEnum } from "./enum-name.ts";
import { parseDouble, parseFloat32, parseInteger } from "./number.ts";
import * as WireType from "./wire-type.ts";
import type { WireWriter } from "./wire-writer.ts";

export interface Scalar {
  /** As in a .proto file. */
  readonly name: string;
  readonly wireType: WireType.Value;
  /** What stands for it in JSON. Numbers may be quoted. */
  readonly json: "number" | "string" | "boolean";
  /** Writes the value, without its tag. @returns false, with nothing written, when the text is none of this type. */
  write(writer: WireWriter, text: string): boolean;
}

/** Every type but enums, messages and groups. */
export const scalars: ReadonlyMap<Type.Value, Scalar> = new Map<Type.Value, Scalar>([
  [Type.INT32, integer("int32", WireType.VARINT, true, 32, (writer, value) => writer.varint64(value))],
  [Type.INT64, integer("int64", WireType.VARINT, true, 64, (writer, value) => writer.varint64(value))],
  [Type.UINT32, integer("uint32", WireType.VARINT, false, 32, (writer, value) => writer.varint64(value))],
  [Type.UINT64, integer("uint64", WireType.VARINT, false, 64, (writer, value) => writer.varint64(value))],
  [Type.SINT32, integer("sint32", WireType.VARINT, true, 32, (writer, value) => writer.varint64(zigzag(value)))],
  [Type.SINT64, integer("sint64", WireType.VARINT, true, 64, (writer, value) => writer.varint64(zigzag(value)))],
  [Type.FIXED32, integer("fixed32", WireType.I32, false, 32, (writer, value) => writer.fixed32(Number(value)))],
  [Type.FIXED64, integer("fixed64", WireType.I64, false, 64, (writer, value) => writer.fixed64(value))],
  [Type.SFIXED32, integer("sfixed32", WireType.I32, true, 32, (writer, value) => writer.fixed32(Number(value)))],
  [Type.SFIXED64, integer("sfixed64", WireType.I64, true, 64, (writer, value) => writer.fixed64(value))],
  [Type.FLOAT, scalar("float", WireType.I32, "number", parseFloat32, (writer, value) => writer.float(value))],
  [Type.DOUBLE, scalar("double", WireType.I64, "number", parseDouble, (writer, value) => writer.double(value))],
  [
    Type.BOOL,
    scalar("bool", WireType.VARINT, "boolean", parseBoolean, (writer, value) => writer.varint(value ? 1 : 0)),
  ],
  [Type.STRING, scalar("string", WireType.LEN, "string", parseText, (writer, value) => writer.string(value))],
  [Type.BYTES, scalar("bytes", WireType.LEN, "string", decodeBase64, (writer, value) => writer.bytes(value))],
]);

const INT32 = scalars.get(Type.INT32) as Scalar;

/** The rule of a scalar field. Enums: of the number, which is an int32. */
export function scalarOf(field: Field): Scalar {
  return scalars.get(field.type) ?? INT32;
}

/** The number of an enum's value by its name, or undefined. */
export function enumNumber(enumeration: Enum, name: string): number | undefined {
  let numbers = enumNumbers.get(enumeration);
  if (numbers === undefined) {
    numbers = new Map(enumeration.values.map((value) => [hashKey(value.name), value.number]));
    enumNumbers.set(enumeration, numbers);
  }
  return numbers.get(hashKey(name));
}

/** The number of an enum's value by its digits. @returns undefined when the text is no int32. */
export function parseEnumNumber(text: string): number | undefined {
  const number = parseInteger(text, -0x8000_0000n, 0x7fff_ffffn);
  return number === undefined ? undefined : Number(number);
}

const enumNumbers = new WeakMap<Enum, ReadonlyMap<string, number>>();

/**
 * Writes a value without its tag from a text that is not JSON: of a path, a query or a map key. Enums go by name or by
 * number.
 *
 * @returns false, with nothing written, when the text is none of the field's type.
 */
export function writeScalarText(writer: WireWriter, field: Field, text: string): boolean {
  if (field.enum === undefined) return scalarOf(field).write(writer, text);
  const number = enumNumber(field.enum, text) ?? parseEnumNumber(text);
  if (number === undefined || isUnknownEnum(field, number)) return false;
  writer.varint64(BigInt(number));
  return true;
}

/** What the field's values are called in an error: `int32`, `pkg.Genre`. */
export function typeName(field: Field): string {
  return field.enum?.name ?? field.message?.name ?? scalarOf(field).name;
}

function scalar<T>(
  name: string,
  wireType: WireType.Value,
  json: Scalar["json"],
  parse: (text: string) => T | undefined,
  put: (writer: WireWriter, value: T) => void,
): Scalar {
  return {
    name,
    wireType,
    json,
    write(writer, text) {
      const value = parse(text);
      if (value === undefined) return false;
      put(writer, value);
      return true;
    },
  };
}

function integer(
  name: string,
  wireType: WireType.Value,
  signed: boolean,
  bits: number,
  put: (writer: WireWriter, value: bigint) => void,
): Scalar {
  const size = 1n << BigInt(bits);
  const min = signed ? -size / 2n : 0n;
  const max = min + size - 1n;
  return scalar(name, wireType, "number", (text) => parseInteger(text, min, max), put);
}

function zigzag(value: bigint): bigint {
  return value < 0n ? -2n * value - 1n : 2n * value;
}

function parseBoolean(text: string): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}

/** Half of a surrogate pair has no form in UTF-8. */
function parseText(text: string): string | undefined {
  return text.isWellFormed() ? text : undefined;
}
