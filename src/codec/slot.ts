/** Fields as a decoder needs them: how their records look, and their keys in JSON. Made once a message, when first read. */
import type { Field, Message } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import { formatKey } from "./json-writer.ts";
import { scalarOf } from "./scalar.ts";
import * as WireType from "./wire-type.ts";

export interface Slot {
  readonly field: Field;
  readonly wireType: WireType.Value;
  /** Lists of numbers, bools and enums: records may be packed, whatever the schema says. */
  readonly packable: boolean;
  /** Every record counts: lists and maps, and messages, which are merged. Of other fields the last one does. */
  readonly accumulates: boolean;
  /** A number without a name leaves the field as it was: closed enums, which are no list. */
  readonly skipsUnknown: boolean;
  readonly jsonKey: Uint8Array;
  readonly protoKey: Uint8Array;
}

/** Keyed by field number, in order of the numbers. */
export type Slots = ReadonlyMap<number, Slot>;

const messageSlots = new WeakMap<Message, Slots>();
const entrySlots = new WeakMap<Field, Slots>();

export function slotsOf(message: Message): Slots {
  let slots = messageSlots.get(message);
  if (!slots) {
    slots = new Map(message.fields.map((field) => [field.number, createSlot(field)]));
    messageSlots.set(message, slots);
  }
  return slots;
}

/** The slots of a map's entries, which are messages on the wire. */
export function entrySlotsOf(map: NonNullable<Field["map"]>): Slots {
  let slots = entrySlots.get(map.value);
  if (!slots) {
    // An unknown number is seen, because the whole entry is left out then.
    const value = { ...createSlot(map.value), skipsUnknown: false };
    slots = new Map([
      [map.key.number, createSlot(map.key)],
      [map.value.number, value],
    ]);
    entrySlots.set(map.value, slots);
  }
  return slots;
}

function createSlot(field: Field): Slot {
  const wireType = wireTypeOf(field);
  return {
    field,
    wireType,
    packable: field.repeated && wireType !== WireType.LEN && wireType !== WireType.SGROUP,
    accumulates: field.repeated || field.map !== undefined || field.message !== undefined,
    skipsUnknown: field.enum?.closed === true && !field.repeated,
    jsonKey: formatKey(field.jsonName),
    protoKey: formatKey(field.name),
  };
}

function wireTypeOf(field: Field): WireType.Value {
  if (field.type === Type.GROUP) return WireType.SGROUP;
  return field.type === Type.MESSAGE ? WireType.LEN : scalarOf(field).wireType;
}
