/**
 * A singular message field must have one record on the wire: the format lets several merge, but widely used decoders
 * (protobufjs up to 7, ts-proto) replace.
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** @returns a line for each singular message field that stands more than once, at every level. */
export function splitRecords(desc: DescMessage, wire: Uint8Array, path = ""): string[] {
  const found: string[] = [];
  const counts = new Map<DescField, number>();
  const reader = new BinaryReader(wire);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = desc.fields.find((candidate) => candidate.number === number);
    const message = field && messageOf(field);
    if (!field || !message || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const name = path + field.name;
    const value = reader.bytes();
    if (field.fieldKind === "message") {
      const count = (counts.get(field) ?? 0) + 1;
      counts.set(field, count);
      if (count === 2) found.push(`${name} stands more than once on the wire`);
    }
    if (field.fieldKind === "map") found.push(...splitInEntry(message, value, `${name}.`));
    else found.push(...splitRecords(message, value, `${name}.`));
  }
  return found;
}

/** The message that the field's records hold: its own, its elements', or the values' of a map. */
function messageOf(field: DescField): DescMessage | undefined {
  if (field.fieldKind === "message") return field.message;
  if (field.fieldKind === "list" && field.listKind === "message") return field.message;
  if (field.fieldKind === "map" && field.mapKind === "message") return field.message;
  return undefined;
}

/** A map entry is a message with key 1 and value 2. */
function splitInEntry(value: DescMessage, entry: Uint8Array, path: string): string[] {
  const found: string[] = [];
  const reader = new BinaryReader(entry);
  let count = 0;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number !== 2) {
      reader.skip(wireType, number);
      continue;
    }
    count++;
    if (count === 2) found.push(`${path}value stands more than once on the wire`);
    found.push(...splitRecords(value, reader.bytes(), path));
  }
  return found;
}
