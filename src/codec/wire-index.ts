/** What a message's wire holds, field by field: one pass over its records, whatever their order. */
import type { Oneof } from "../schema/model.ts";
import type { Decoding } from "./decoding.ts";
import { isUnknownEnum } from "./enum-name.ts";
import type { Slot, Slots } from "./slot.ts";
import * as WireType from "./wire-type.ts";

/**
 * Pairs of start and end offsets in the wire, flat. Of strings, bytes, messages and groups each pair is the content of
 * one record. Of numbers, bools and enums it is a sequence of values, so that packed and unpacked look the same.
 */
export type Spans = readonly number[];

export const NO_SPANS: Spans = [];

/** Keyed by field number; every entry has at least one pair. */
export type Records = ReadonlyMap<number, Spans>;

/**
 * Unknown fields are left out and counted, and with them those of another wire type, singular closed enums without a name, and
 * members of a oneof that a later member replaced.
 *
 * @param slots of the message that is open.
 * @param content of the message: more than one pair when a singular field came in several records.
 */
export function indexRecords(run: Decoding, slots: Slots, content: Spans): Records {
  const { reader } = run;
  const records = new Map<number, number[]>();
  const members = new Map<Oneof, number>();
  for (let i = 0; i < content.length; i += 2) {
    reader.seek(content[i] as number, content[i + 1] as number);
    while (!reader.done) {
      const tag = reader.tag();
      reader.skip(tag, run.levelsLeft);
      const number = tag >>> 3;
      const slot = slots.get(number);
      const { contentStart: start, contentEnd: end } = reader;
      if (!slot || !isOf(slot, tag) || (slot.skipsUnknown && isUnknownEnum(slot.field, reader.int32At(start)))) {
        run.unknownFields++;
        continue;
      }
      const { oneof } = slot.field;
      if (oneof) {
        const before = members.get(oneof);
        if (before !== undefined && before !== number) records.delete(before);
        members.set(oneof, number);
      }
      const spans = slot.accumulates ? records.get(number) : undefined;
      if (spans) spans.push(start, end);
      else records.set(number, [start, end]);
    }
  }
  return records;
}

/** Whether this is a tag that the field's records may have. */
export function isOf({ field, wireType, packable }: Slot, tag: number): boolean {
  if (tag >>> 3 !== field.number) return false;
  return (tag & 7) === wireType || (packable && (tag & 7) === WireType.LEN);
}
