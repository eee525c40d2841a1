/**
 * Wire that the printer gave up, written anew as it takes it: the records of a field together, in one if they are one
 * message or a list of numbers; of what may come only once the last; of a oneof the member that came last; of a map the
 * last entry of each key, the key first; and nothing that is unknown.
 *
 * No record is an object, as a message may have two million: they are noted in stacks of numbers.
 */
import * as Kind from "./kind.ts";
import { fieldOf } from "./print-message.ts";
import type { Plan, PlanField, PlanMap, Shape } from "./print-plan.ts";
import { giveUp, readTag, skip, skipContent, tape } from "./print-tape.ts";
import { noteEntries } from "./regular-entries.ts";
import { entries, forgetNotes, hasName, met, records } from "./regular-notes.ts";
import { begin, close, copy, finish, open, writeTag, writeVarint } from "./regular-out.ts";
import * as WireType from "./wire-type.ts";

const MAX_ONEOFS = 32;
const ANY_TYPE = 1;
const ANY_VALUE = 2;

/** Of a message: where the member of each oneof was noted that came last. */
const members = new Int32Array(MAX_ONEOFS);
let unknownFields = 0;

export interface RegularWire {
  readonly wire: Uint8Array;
  /** How many were left out. */
  readonly unknownFields: number;
}

/**
 * Of the wire that was loaded last.
 *
 * @param levels that may be opened, the message included.
 * @param only number of the field that is wanted of it. Default: all.
 */
export function regularWire(shape: Shape, end: number, levels: number, only?: number): RegularWire {
  open(end + (end >> 2));
  unknownFields = 0;
  try {
    writeContent(shape, records.push(0, end, 0), levels, only);
    return { wire: close(), unknownFields };
  } finally {
    forgetNotes();
  }
}

/** The content of the message of which these are the records. */
function writeContent(shape: Shape, record: number, levels: number, only?: number): void {
  if (levels === 0 || shape.kind === Kind.OTHER) giveUp();
  const { plan } = shape;
  const [firstRecord, firstMet] = [records.top, met.top];
  noteFields(plan, record, levels - 1);
  if (only !== undefined) unknownFields = 0;
  if (shape.kind === Kind.ANY) {
    writeAny(plan, firstMet, levels - 1);
  } else {
    const lastMet = met.top;
    for (let place = firstMet; place < lastMet; place += 3) {
      const field = plan.fields[met.values[place] as number] as PlanField;
      const first = met.values[place + 1] as number;
      if (first !== 0 && (only ?? field.number) === field.number) writeField(field, first, levels - 1);
    }
  }
  records.top = firstRecord;
  met.top = firstMet;
}

/** Notes the records of a message by field, in the order in which the fields come first. */
function noteFields(plan: Plan, record: number, levels: number): void {
  const { metAt } = plan;
  const firstMet = met.top;
  try {
    noteRecords(plan, record, levels);
  } finally {
    for (let place = firstMet; place < met.top; place += 3) metAt[met.values[place] as number] = 0;
  }
}

function noteRecords(plan: Plan, record: number, levels: number): void {
  const { metAt } = plan;
  members.fill(0);
  tape.levels = levels;
  for (let from = record; from !== 0; from = records.values[from + 2] as number) {
    tape.at = records.values[from] as number;
    const end = records.values[from + 1] as number;
    while (tape.at < end) {
      const tag = readTag();
      const field = fieldOf(plan, tag);
      if (field === undefined) {
        skip(tag);
        unknownFields++;
        continue;
      }
      const start = skipContent(tag, end);
      const { shape, index, oneof } = field;
      if (shape.names?.closed && !field.repeated && !hasName(shape.names, start)) {
        unknownFields++;
        continue;
      }
      let place = metAt[index] as number;
      if (place === 0) {
        place = met.push(index, 0, 0);
        metAt[index] = place;
      }
      if (oneof !== 0) {
        const before = members[31 - Math.clz32(oneof)] as number;
        if (before !== place && before !== 0) met.values[before + 1] = 0;
        members[31 - Math.clz32(oneof)] = place;
      }
      const first = met.values[place + 1] as number;
      if (first !== 0 && shape.kind < Kind.MESSAGE && !field.repeated) {
        records.values[first] = start;
        records.values[first + 1] = tape.at;
      } else {
        const next = records.push(start, tape.at, 0);
        if (first === 0) met.values[place + 1] = next;
        else records.values[(met.values[place + 2] as number) + 2] = next;
        met.values[place + 2] = next;
      }
    }
    if (tape.at !== end) giveUp();
  }
}

/** All records of a field, of which the first is given. */
function writeField(field: PlanField, first: number, levels: number): void {
  const { number, shape, map } = field;
  if (map !== undefined) {
    writeMap(number, map, first, levels);
  } else if (shape.kind >= Kind.MESSAGE && !field.repeated) {
    writeMessage(number, shape, first, levels);
  } else if (shape.kind >= Kind.MESSAGE) {
    for (let record = first; record !== 0; ) {
      const next = records.values[record + 2] as number;
      records.values[record + 2] = 0;
      writeMessage(number, shape, record, levels);
      record = next;
    }
  } else if (field.packable) {
    writePacked(number, first);
  } else {
    const { wireType } = field;
    for (let record = first; record !== 0; record = records.values[record + 2] as number) {
      writeScalar(number, wireType, records.values[record] as number, records.values[record + 1] as number);
    }
  }
}

/** As one record. */
function writeMessage(number: number, shape: Shape, first: number, levels: number): void {
  writeTag(number, WireType.LEN);
  const start = begin(bytesOf(first));
  writeContent(shape, first, levels);
  finish(start);
}

function writePacked(number: number, first: number): void {
  writeTag(number, WireType.LEN);
  writeVarint(bytesOf(first));
  for (let record = first; record !== 0; record = records.values[record + 2] as number) {
    copy(records.values[record] as number, records.values[record + 1] as number);
  }
}

/** Bytes of the content of these records. */
function bytesOf(first: number): number {
  let bytes = 0;
  for (let record = first; record !== 0; record = records.values[record + 2] as number) {
    bytes += (records.values[record + 1] as number) - (records.values[record] as number);
  }
  return bytes;
}

function writeScalar(number: number, wireType: number, start: number, end: number): void {
  writeTag(number, wireType);
  if (wireType === WireType.LEN) writeVarint(end - start);
  copy(start, end);
}

/** Its type first, of which it depends what the value is. */
function writeAny(plan: Plan, firstMet: number, levels: number): void {
  let [type, value] = [0, 0];
  for (let place = firstMet; place < met.top; place += 3) {
    const { number } = plan.fields[met.values[place] as number] as PlanField;
    if (number === ANY_TYPE) type = met.values[place + 1] as number;
    if (number === ANY_VALUE) value = met.values[place + 1] as number;
  }
  if (type === 0) giveUp();
  const [start, end] = [records.values[type] as number, records.values[type + 1] as number];
  writeScalar(ANY_TYPE, WireType.LEN, start, end);
  if (value === 0) return;
  tape.at = start;
  writeMessage(ANY_VALUE, plan.types.typeOf(end) ?? giveUp(), value, levels);
}

/** An entry for each key. The value of the last counts, in the place of the first. */
function writeMap(number: number, map: PlanMap, first: number, levels: number): void {
  const firstEntry = entries.top;
  const firstRecord = records.top;
  tape.levels = levels;
  unknownFields += noteEntries(map, first);
  const lastEntry = entries.top;
  for (let entry = firstEntry; entry < lastEntry; entry += 3) {
    const [key, keyEnd, value] = [
      entries.values[entry] as number,
      entries.values[entry + 1] as number,
      entries.values[entry + 2] as number,
    ];
    writeTag(number, WireType.LEN);
    const start = begin(keyEnd - key + bytesOf(value));
    if (keyEnd !== key) writeScalar(1, map.keyTag & 7, key, keyEnd);
    if (map.value.kind >= Kind.MESSAGE) writeMessage(2, map.value, value, levels);
    else if (value !== 0)
      writeScalar(2, map.valueTag & 7, records.values[value] as number, records.values[value + 1] as number);
    finish(start);
  }
  entries.top = firstEntry;
  records.top = firstRecord;
}
