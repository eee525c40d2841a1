import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { concat } from "./wire-arbitrary.ts";

/** Which of two field numbers comes first in the wire. */
export type Order = (a: number, b: number) => number;

/** Larger than any factor, and prime: products of field numbers below it are all different. */
const PRIME = 65_521;

/** Of field numbers: ascending, descending and much in between. */
export const order: fc.Arbitrary<Order> = fc
  .oneof(fc.constantFrom(1, PRIME - 1), fc.integer({ min: 1, max: PRIME - 1 }))
  .map((factor) => (a, b) => ((a * factor) % PRIME) - ((b * factor) % PRIME));

/**
 * The same message as an encoder with an order of its own writes it: the records of one field stay together, as they
 * were. Messages in fields, lists and maps likewise, but for the well-known types.
 */
export function reordered(desc: DescMessage, wire: Uint8Array, order: Order): Uint8Array {
  if (desc.typeName.startsWith("google.protobuf.")) return wire;
  const reader = new BinaryReader(wire);
  const records = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    const value = reader.skip(wireType, number);
    const field = desc.fields.find((field) => field.number === number);
    const own = records.get(number) ?? [];
    own.push(reorderedRecord(field, wireType, value, order) ?? wire.subarray(start, reader.pos));
    records.set(number, own);
  }
  return concat([...records].sort(([a], [b]) => order(a, b)).flatMap(([, own]) => own));
}

function reorderedRecord(
  field: DescField | undefined,
  wireType: WireType,
  value: Uint8Array,
  order: Order,
): Uint8Array | undefined {
  if (field?.message === undefined || wireType !== WireType.LengthDelimited) return undefined;
  const content = new BinaryReader(value).bytes();
  const inside =
    field.fieldKind === "map"
      ? reorderedEntry(field.message, content, order)
      : reordered(field.message, content, order);
  return new BinaryWriter().tag(field.number, wireType).bytes(inside).finish();
}

/** Key first, as every encoder has it. */
function reorderedEntry(desc: DescMessage, wire: Uint8Array, order: Order): Uint8Array {
  const reader = new BinaryReader(wire);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    const value = reader.skip(wireType, number);
    if (number !== 2) writer.raw(wire.subarray(start, reader.pos));
    else writer.tag(number, wireType).bytes(reordered(desc, new BinaryReader(value).bytes(), order));
  }
  return writer.finish();
}
