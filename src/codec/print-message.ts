/** Messages, lists and maps, from wire to JSON. */

import * as Kind from "./kind.ts";
import { checkKeys, noteKey } from "./print-keys.ts";
import { printMask } from "./print-mask.ts";
import { NUMBER_BYTES, printByte } from "./print-number.ts";
import { noteMember, rankOfSet, rankOfUnset, sortMembers } from "./print-order.ts";
import type { Plan, PlanField, PlanMap, Shape } from "./print-plan.ts";
import { printKeyScalar, printRaw, printScalar } from "./print-scalar.ts";
import { giveUp, readEnd, readTag, refuse, reserve, skip, tape } from "./print-tape.ts";
import { printString } from "./print-text.ts";
import { printDuration, printTimestamp } from "./print-time.ts";
import { utf8 } from "./utf8.ts";

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const ANY_TYPE_TAG = 10;
const ANY_VALUE_TAG = 18;
const TYPE_KEY = utf8.encode(',"@type":');
const VALUE_KEY = utf8.encode(',"value":');

/** The message from here to `end`. */
export function printMessage(shape: Shape, end: number): void {
  if (--tape.levels < 0) refuse();
  tape.opened[tape.levels] = tape.at;
  switch (shape.kind) {
    case Kind.MESSAGE:
      printObject(shape.plan, end);
      break;
    case Kind.TIMESTAMP:
      printTimestamp(end);
      break;
    case Kind.DURATION:
      printDuration(end);
      break;
    case Kind.WRAPPER:
      printWrapper(shape.plan, end);
      break;
    case Kind.STRUCT:
      printStruct(shape.plan, end);
      break;
    case Kind.VALUE:
      printDynamic(shape.plan, end);
      break;
    case Kind.LIST_VALUE:
      printListValue(shape.plan, end);
      break;
    case Kind.FIELD_MASK:
      printMask(end);
      break;
    case Kind.ANY:
      printAny(shape.plan, end);
      break;
    default:
      refuse();
  }
  if (tape.at !== end) giveUp();
  tape.levels++;
}

/** The value of the field of that number alone, of the message from here to `end`. Gives up where there is none. */
export function printOnly(plan: Plan, number: number, end: number): void {
  if (--tape.levels < 0) refuse();
  let found = false;
  let oneofs = 0;
  while (tape.at < end) {
    const tag = readTag();
    const field = fieldOf(plan, tag);
    if (field !== undefined) {
      if ((field.oneof & oneofs) !== 0) giveUp();
      oneofs |= field.oneof;
    }
    if (field?.number !== number) {
      skip(tag);
    } else {
      if (found) giveUp();
      found = true;
      reserve(NUMBER_BYTES);
      printField(field, tag, end);
    }
  }
  if (!found || tape.at !== end) giveUp();
}

export function fieldOf({ near, far }: Plan, tag: number): PlanField | undefined {
  return tag < near.length ? near[tag] : far.get(tag);
}

/**
 * Every member is printed with a comma before it; the brace then takes the place of the first comma, so no member
 * needs to know whether it is the first. Lists and maps do the same.
 */
function printObject(plan: Plan, end: number): void {
  const open = tape.length;
  printMembers(plan, end);
  close(open, OPEN_BRACE, CLOSE_BRACE);
}

/** In order of field numbers, whatever the order of the records, of which there is one a field, or one run of a list. */
function printMembers(plan: Plan, end: number): void {
  const { emitDefaults, notes } = plan;
  const start = tape.at;
  const open = tape.length;
  const firstNote = tape.noteCount;
  const { unknownFields } = tape;
  /** Behind the last of the fields that were met. */
  let next = 0;
  let oneofs = 0;
  let inOrder = true;
  while (tape.at < end) {
    const tag = readTag();
    const field = fieldOf(plan, tag);
    if (field === undefined) {
      skip(tag);
      tape.unknownFields++;
      continue;
    }
    const { index, oneof } = field;
    if ((oneof & oneofs) !== 0) giveUp();
    oneofs |= oneof;
    if (index >= next) {
      if (emitDefaults) printUnset(plan, next, index, notes);
      next = index + 1;
    } else if (!notes) {
      // Once a type: from here on all of them are noted.
      plan.notes = true;
      tape.at = start;
      tape.length = open;
      tape.unknownFields = unknownFields;
      printMembers(plan, end);
      return;
    } else {
      // More records than fields: one came twice.
      if (tape.noteCount - firstNote >= 2 * plan.fields.length) giveUp();
      inOrder = false;
    }
    const mark = tape.length;
    printKey(field);
    if (!printField(field, tag, end) && field.dropsZero) tape.length = mark;
    if (notes) noteMember(rankOfSet(index), mark);
  }
  if (emitDefaults) printUnset(plan, next, plan.fields.length, notes);
  if (!inOrder) sortMembers(firstNote);
  tape.noteCount = firstNote;
}

/** @returns false for what is as good as unset, if the field has no presence. */
function printField(field: PlanField, tag: number, end: number): boolean {
  const { shape, map } = field;
  if (map !== undefined) return printMap(map, tag, end);
  if (field.repeated) return printList(field, tag, end);
  if (shape.kind < Kind.MESSAGE) return printScalar(shape, end);
  printMessage(shape, readEnd(end));
  return true;
}

/** The list of which the first tag has been read, up to another tag. */
function printList(field: PlanField, tag: number, end: number): boolean {
  const { shape } = field;
  const open = tape.length;
  if (field.packable && (tag & 7) === 2) {
    const packEnd = readEnd(end);
    while (tape.at < packEnd) {
      reserve(NUMBER_BYTES);
      printByte(COMMA);
      printScalar(shape, packEnd);
    }
    if (tape.at !== packEnd) giveUp();
  } else {
    do {
      reserve(NUMBER_BYTES);
      printByte(COMMA);
      if (shape.kind < Kind.MESSAGE) printScalar(shape, end);
      else printMessage(shape, readEnd(end));
    } while (follows(tag, end));
  }
  const set = tape.length > open;
  close(open, OPEN_BRACKET, CLOSE_BRACKET);
  return set;
}

/** The map of which the first tag has been read, up to another tag. Keys come before values, or either is left out. */
function printMap(map: PlanMap, tag: number, end: number): boolean {
  const { key, value } = map;
  const firstKey = tape.keyCount;
  const open = tape.length;
  do {
    const entryEnd = readEnd(end);
    reserve(NUMBER_BYTES);
    printByte(COMMA);
    const start = tape.length;
    if (follows(map.keyTag, entryEnd)) printKeyScalar(key, entryEnd);
    else printRaw(map.keyUnset);
    noteKey(start);
    reserve(NUMBER_BYTES);
    printByte(COLON);
    if (follows(map.valueTag, entryEnd)) {
      if (value.kind < Kind.MESSAGE) printScalar(value, entryEnd);
      else printMessage(value, readEnd(entryEnd));
    } else {
      printRaw(map.valueUnset() ?? giveUp());
    }
    if (tape.at !== entryEnd) giveUp();
  } while (follows(tag, end));
  checkKeys(firstKey);
  close(open, OPEN_BRACE, CLOSE_BRACE);
  return true;
}

/** Whether this tag is next; it is read then. */
function follows(tag: number, end: number): boolean {
  const start = tape.at;
  if (start >= end) return false;
  if (tag < 0x80) {
    if (tape.wire[start] !== tag) return false;
    tape.at = start + 1;
    return true;
  }
  if (readTag() === tag) return true;
  tape.at = start;
  return false;
}

function printWrapper(plan: Plan, end: number): void {
  const value = onlyField(plan);
  reserve(NUMBER_BYTES);
  if (tape.at === end) {
    printRaw(value.unset as Uint8Array);
    return;
  }
  readTagOf(plan);
  printScalar(value.shape, end);
}

function printStruct(plan: Plan, end: number): void {
  if (tape.at === end) close(tape.length, OPEN_BRACE, CLOSE_BRACE);
  else printMap(onlyField(plan).map as PlanMap, readTagOf(plan), end);
}

function printListValue(plan: Plan, end: number): void {
  if (tape.at === end) close(tape.length, OPEN_BRACKET, CLOSE_BRACKET);
  else printList(onlyField(plan), readTagOf(plan), end);
}

/** A Value: one member of its oneof. */
function printDynamic(plan: Plan, end: number): void {
  if (tape.at === end) giveUp();
  const { shape } = plan.near[readTag()] ?? giveUp();
  reserve(NUMBER_BYTES);
  if (shape.kind === Kind.DOUBLE && !Number.isFinite(tape.wireView.getFloat64(tape.at, true))) refuse();
  if (shape.kind < Kind.MESSAGE) printScalar(shape, end);
  else printMessage(shape, readEnd(end));
}

/** The members of the message inside behind its type, or its value if that is no object of its fields. */
function printAny(plan: Plan, end: number): void {
  const open = tape.length;
  if (tape.at < end) {
    if (readTag() !== ANY_TYPE_TAG) giveUp();
    const typeEnd = readEnd(end);
    const shape = plan.types.typeOf(typeEnd) ?? giveUp();
    printRaw(TYPE_KEY);
    printString(typeEnd);
    const contentEnd = follows(ANY_VALUE_TAG, end) ? readEnd(end) : tape.at;
    if (shape.kind === Kind.MESSAGE) {
      if (tape.levels === 0) refuse();
      tape.levels--;
      printMembers(shape.plan, contentEnd);
      tape.levels++;
    } else {
      printRaw(VALUE_KEY);
      printMessage(shape, contentEnd);
    }
    if (tape.at !== contentEnd) giveUp();
  }
  close(open, OPEN_BRACE, CLOSE_BRACE);
}

function onlyField(plan: Plan): PlanField {
  return plan.fields[0] as PlanField;
}

/** Of the message's only field. Gives up when another tag is next. */
function readTagOf(plan: Plan): number {
  const tag = readTag();
  return plan.near[tag] === undefined ? giveUp() : tag;
}

/** Comma, name, colon. Leaves room for a number. */
function printKey({ key, keyBytes }: PlanField): void {
  reserve(keyBytes + NUMBER_BYTES);
  const { jsonView } = tape;
  const last = key.length - 1;
  let at = tape.length;
  tape.length = at + keyBytes;
  for (let i = 0; i < last; i++, at += 4) jsonView.setInt32(at, key[i] as number, true);
  jsonView.setInt32(tape.length - 4, key[last] as number, true);
}

/** Members from number `first` to before `end` for which there was no record. */
function printUnset(plan: Plan, first: number, end: number, notes: boolean): void {
  for (let i = first; i < end; i++) {
    const { unset } = plan.fields[i] as PlanField;
    if (unset === undefined) continue;
    const mark = tape.length;
    printRaw(unset);
    if (notes) noteMember(rankOfUnset(i), mark);
  }
}

/** Brackets around what was printed since `open`, of which the first byte is a comma. */
function close(open: number, bracket: number, closing: number): void {
  reserve(2);
  if (tape.length === open) tape.length++;
  tape.json[open] = bracket;
  tape.json[tape.length++] = closing;
}
