/** Wire of backends that write fields in another order than that of their numbers, which protobuf-es keeps. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Where the records of a field stand among those of its message. */
export type Order = (field: DescField) => number;

/** A member of a oneof stands where the first member would: Go and Rust. */
export const oneofFirst: Order = ({ number, oneof }) => Math.min(number, ...(oneof?.fields ?? []).map((f) => f.number));

/** As if the .proto file had them in no order at all: ts-proto follows that. */
export const shuffled: Order = ({ number }) => (number * 7) % 17;

/** Records of one field stay together. Messages inside are put in that order too. */
export function reordered(desc: DescMessage, wire: Uint8Array, order: Order): Uint8Array {
  const reader = new BinaryReader(wire);
  const records: { readonly place: number; readonly bytes: Uint8Array }[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    const value = reader.skip(wireType, number);
    const field = desc.fields.find((each) => each.number === number) as DescField;
    const isMessage = field.message !== undefined && field.fieldKind !== "map";
    const bytes = isMessage
      ? record(field, reordered(field.message, new BinaryReader(value).bytes(), order))
      : undefined;
    records.push({ place: order(field), bytes: bytes ?? wire.subarray(start, reader.pos) });
  }
  const writer = new BinaryWriter();
  for (const { bytes } of records.sort((a, b) => a.place - b.place)) writer.raw(bytes);
  return writer.finish();
}

function record(field: DescField, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(field.number, WireType.LengthDelimited).bytes(content).finish();
}
