/** Messages, lists and maps, from wire to JSON. */
import { fieldOf, oneofBit } from "./decode-field.ts";
import { checkKeys } from "./decode-keys.ts";
import { printMask } from "./decode-mask.ts";
import { dropNotes, noteMember, notesTop, rankOfSet, rankOfUnset, sortMembers } from "./decode-order.ts";
import { isWide, printKeyNumber, printQuotedZero, printScalar, printZero } from "./decode-scalar.ts";
import { printString } from "./decode-text.ts";
import { printDuration, printTimestamp } from "./decode-time.ts";
import { follows, next, readEnd, readTag, setNext, skip } from "./decode-wire.ts";
import {
  ANY,
  DOUBLE,
  DURATION,
  FIELD_MASK,
  GROUP,
  LIST_VALUE,
  MESSAGE,
  STRING,
  STRUCT,
  TIMESTAMP,
  VALUE,
  WRAPPER,
} from "./kind.ts";
import {
  EMIT_DEFAULTS,
  FIELD_FLAGS,
  FIELD_INDEX,
  FIELD_JSON_KEY,
  FIELD_KEY,
  FIELD_KIND,
  FIELD_NUMBER,
  FIELD_PROTO_KEY,
  FIELD_SHAPE,
  FIELD_SIZE,
  FIELD_VALUE,
  FIELD_WIRE_TYPE,
  HAS_PRESENCE,
  IS_PACKABLE,
  MESSAGE_FIELD_COUNT,
  MESSAGE_FIELDS,
  MESSAGE_KIND,
  MESSAGE_NOTES,
  USE_PROTO_FIELD_NAME,
} from "./layout.ts";
import { at, bitOf, giveUp, levels, reserve, setAt, setLevels, writeByte } from "./memory.ts";
import { MAP, SINGULAR } from "./shape.ts";
import { messageOf, typeOf } from "./types.ts";

/** Records that belong to no field. */
export let unknownFields: u32 = 0;

/** Tags of Any's two fields. */
const ANY_TYPE = 10;
const ANY_VALUE = 18;
/** `,"@type":` and `,"value":`. */
const TYPE_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x40, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0, 0, 0, 0, 0, 0, 0]);
const TYPE_KEY_BYTES: usize = 9;
const VALUE_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x22, 0x3a, 0, 0, 0, 0, 0, 0, 0]);
const VALUE_KEY_BYTES: usize = 9;

let emitsDefaults = false;
/** Which of a field's two keys is printed. */
let keyAt: usize = 0;

export function beginMessage(options: u32): void {
  emitsDefaults = (options & EMIT_DEFAULTS) !== 0;
  keyAt = options & USE_PROTO_FIELD_NAME ? FIELD_PROTO_KEY : FIELD_JSON_KEY;
  unknownFields = 0;
}

/** The message from here to `end`. */
export function printMessage(message: usize, end: usize): void {
  setLevels(levels - 1);
  if (levels < 0) giveUp();
  const kind = load<i32>(message, MESSAGE_KIND);
  if (kind === MESSAGE) {
    printObject(message, end);
  } else {
    switch (kind) {
      case TIMESTAMP:
        printTimestamp(end);
        break;
      case DURATION:
        printDuration(end);
        break;
      case WRAPPER:
        printWrapper(message, end);
        break;
      case STRUCT:
        printStruct(message, end);
        break;
      case VALUE:
        printDynamic(message, end);
        break;
      case LIST_VALUE:
        printListValue(message, end);
        break;
      case FIELD_MASK:
        printMask(end);
        break;
      case ANY:
        printAny(end);
        break;
      default:
        giveUp();
    }
  }
  if (next !== end) giveUp();
  setLevels(levels + 1);
}

/** The value of that field alone, of the message from here to `end`. Gives up where there is none. */
export function printOnly(message: usize, number: u32, end: usize): void {
  setLevels(levels - 1);
  let isFound = false;
  let oneofs: u64 = 0;
  while (next < end) {
    const tag = readTag();
    const field = fieldOf(message, tag);
    if (field !== 0) {
      const oneof = oneofBit(message, field);
      if ((oneof & oneofs) !== 0) giveUp();
      oneofs |= oneof;
    }
    if (field === 0 || load<u32>(field, FIELD_NUMBER) !== number) {
      skip(tag);
    } else {
      if (isFound) giveUp();
      isFound = true;
      reserve(0);
      printField(field, tag, end);
    }
  }
  if (!isFound || next !== end) giveUp();
}

/**
 * Every member is printed with a comma before it; the brace then takes the place of the first comma, so no member
 * needs to know whether it is the first. Lists and maps do the same.
 */
function printObject(message: usize, end: usize): void {
  const start = at;
  printMembers(message, end);
  close(start, 0x7b, 0x7d);
}

/** In order of field numbers, whatever the order of the records, of which there is one a field, or one run of a list. */
function printMembers(message: usize, end: usize): void {
  const notes = load<u32>(message, MESSAGE_NOTES) !== 0;
  const from = next;
  const start = at;
  const firstNote = notesTop();
  const unknownBefore = unknownFields;
  /** Behind the last of the fields that were met. */
  let following: u32 = 0;
  let oneofs: u64 = 0;
  let isInOrder = true;
  while (next < end) {
    const tag = readTag();
    const field = fieldOf(message, tag);
    if (field === 0) {
      skip(tag);
      unknownFields++;
      continue;
    }
    const oneof = oneofBit(message, field);
    if ((oneof & oneofs) !== 0) giveUp();
    oneofs |= oneof;
    const index = load<u32>(field, FIELD_INDEX);
    if (index >= following) {
      if (emitsDefaults) printUnset(message, following, index, notes, firstNote);
      following = index + 1;
    } else if (!notes) {
      // Once a type: from here on all of them are noted.
      store<u32>(message, 1, MESSAGE_NOTES);
      setNext(from);
      setAt(start);
      unknownFields = unknownBefore;
      printMembers(message, end);
      return;
    } else {
      isInOrder = false;
    }
    const mark = at;
    printKey(field);
    if (!printField(field, tag, end) && dropsZero(field)) setAt(mark);
    if (notes) noteMember(firstNote, rankOfSet(index), mark);
  }
  if (emitsDefaults) printUnset(message, following, load<u32>(message, MESSAGE_FIELD_COUNT), notes, firstNote);
  if (!isInOrder) sortMembers(firstNote, start);
  dropNotes(firstNote);
}

/** Whether zero is as good as no record. Of a list with presence, which an extension is: to have no element. */
// @inline
function dropsZero(field: usize): bool {
  if ((load<u8>(field, FIELD_FLAGS) & HAS_PRESENCE) !== 0) return load<u8>(field, FIELD_SHAPE) !== SINGULAR;
  return !emitsDefaults;
}

/** Comma, name, colon. Leaves room for a number. */
// @inline
function printKey(field: usize): void {
  const key = <usize>load<u32>(field + keyAt);
  const length = <usize>load<u32>(field + keyAt, 4);
  reserve(length);
  const o = at;
  v128.store(o, v128.load(key));
  for (let i: usize = 16; i < length; i += 16) v128.store(o + i, v128.load(key + i));
  setAt(o + length);
}

/** @returns false for what is as good as unset, if the field has no presence. */
function printField(field: usize, tag: u32, end: usize): bool {
  const shape = <i32>load<u8>(field, FIELD_SHAPE);
  if (shape === SINGULAR) return printValue(field, end);
  if (shape === MAP) return printMap(field, tag, end);
  return printList(field, tag, end);
}

/** The list of which the first tag has been read, up to another tag. */
function printList(field: usize, tag: u32, end: usize): bool {
  const start = at;
  if ((tag & 7) === 2 && (load<u8>(field, FIELD_FLAGS) & IS_PACKABLE) !== 0) {
    const packEnd = readEnd(end);
    while (next < packEnd) {
      reserve(0);
      writeByte(0x2c);
      printValue(field, packEnd);
    }
    if (next !== packEnd) giveUp();
  } else {
    do {
      reserve(0);
      writeByte(0x2c);
      printValue(field, end);
    } while (follows(tag, end));
  }
  const isSet = at > start;
  close(start, 0x5b, 0x5d);
  return isSet;
}

/** The map of which the first tag has been read, up to another tag. Keys come before values, or either is left out. */
function printMap(field: usize, tag: u32, end: usize): bool {
  const key = <usize>load<u32>(field, FIELD_KEY);
  const value = <usize>load<u32>(field, FIELD_VALUE);
  const keyKind = <i32>load<u8>(key, FIELD_KIND);
  const keyTag = (1 << 3) | <u32>load<u8>(key, FIELD_WIRE_TYPE);
  const valueTag = (2 << 3) | <u32>load<u8>(value, FIELD_WIRE_TYPE);
  const first = next;
  const start = at;
  let count: u32 = 0;
  /** Bits of the keys so far. Where each has one of its own, no two are the same. */
  let known: u64 = 0;
  let isUnique = true;
  do {
    const entryEnd = readEnd(end);
    reserve(0);
    writeByte(0x2c);
    const keyStart = at;
    const isKeySet = follows(keyTag, entryEnd);
    if (keyKind === STRING) {
      if (isKeySet) printString(readEnd(entryEnd));
      else printZero(key);
    } else {
      const isQuoted = isWide(keyKind);
      if (!isQuoted) writeByte(0x22);
      if (isKeySet) printKeyNumber(key, entryEnd);
      else if (isQuoted) printQuotedZero();
      else printZero(key);
      if (!isQuoted) writeByte(0x22);
    }
    // Behind the last two bytes stands a quote; before a key, a comma.
    const bit = bitOf(keyStart, at - keyStart, load<u16>(at - 3));
    isUnique = isUnique && (known & bit) === 0;
    known |= bit;
    reserve(0);
    writeByte(0x3a);
    if (follows(valueTag, entryEnd)) {
      printValue(value, entryEnd);
    } else {
      if (<i32>load<u8>(value, FIELD_KIND) >= MESSAGE) giveUp();
      printZero(value);
    }
    if (next !== entryEnd) giveUp();
    count++;
  } while (follows(tag, end));
  if (!isUnique) checkKeys(first, next, count, keyTag, keyKind);
  close(start, 0x7b, 0x7d);
  return true;
}

function printWrapper(message: usize, end: usize): void {
  const field = <usize>load<u32>(message, MESSAGE_FIELDS);
  reserve(0);
  if (next === end) {
    printZero(field);
    return;
  }
  readTagOf(message);
  printValue(field, end);
}

function printStruct(message: usize, end: usize): void {
  if (next === end) close(at, 0x7b, 0x7d);
  else printMap(load<u32>(message, MESSAGE_FIELDS), readTagOf(message), end);
}

function printListValue(message: usize, end: usize): void {
  if (next === end) close(at, 0x5b, 0x5d);
  else printList(load<u32>(message, MESSAGE_FIELDS), readTagOf(message), end);
}

/** A Value: one member of its oneof. */
function printDynamic(message: usize, end: usize): void {
  if (next === end) giveUp();
  const field = fieldOf(message, readTag());
  if (field === 0) giveUp();
  reserve(0);
  if (load<u8>(field, FIELD_KIND) === DOUBLE && !isFinite(load<f64>(next))) giveUp();
  printValue(field, end);
}

/** The members of the message inside behind its type, or its value if that is no object of its fields. */
function printAny(end: usize): void {
  const start = at;
  if (next < end) {
    if (readTag() !== ANY_TYPE) giveUp();
    const typeEnd = readEnd(end);
    const message = typeOf(next, typeEnd);
    printText(TYPE_KEY, TYPE_KEY_BYTES);
    printString(typeEnd);
    const contentEnd = follows(ANY_VALUE, end) ? readEnd(end) : next;
    if (load<i32>(message, MESSAGE_KIND) === MESSAGE) {
      setLevels(levels - 1);
      if (levels < 0) giveUp();
      printMembers(message, contentEnd);
      setLevels(levels + 1);
    } else {
      printText(VALUE_KEY, VALUE_KEY_BYTES);
      printMessage(message, contentEnd);
    }
    if (next !== contentEnd) giveUp();
  }
  close(start, 0x7b, 0x7d);
}

/** At most sixteen bytes. */
function printText(text: usize, length: usize): void {
  reserve(0);
  v128.store(at, v128.load(text));
  setAt(at + length);
}

/** Of the message's only field. Gives up when another tag is next. */
function readTagOf(message: usize): u32 {
  const tag = readTag();
  if (fieldOf(message, tag) === 0) giveUp();
  return tag;
}

/** Members from number `first` to before `end` for which there was no record. */
function printUnset(message: usize, first: u32, end: u32, notes: bool, firstNote: usize): void {
  for (let i = first; i < end; i++) {
    const field = <usize>load<u32>(message, MESSAGE_FIELDS) + <usize>i * FIELD_SIZE;
    if ((load<u8>(field, FIELD_FLAGS) & HAS_PRESENCE) !== 0) continue;
    const mark = at;
    printKey(field);
    const shape = <i32>load<u8>(field, FIELD_SHAPE);
    if (shape === SINGULAR) printZero(field);
    else if (shape === MAP) close(at, 0x7b, 0x7d);
    else close(at, 0x5b, 0x5d);
    if (notes) noteMember(firstNote, rankOfUnset(i), mark);
  }
}

/** Brackets around what was printed since `start`, of which the first byte is a comma. */
function close(start: usize, bracket: u32, closing: u32): void {
  reserve(0);
  if (at === start) setAt(start + 1);
  store<u8>(start, bracket);
  writeByte(closing);
}

/** @param limit of length-delimited content. @returns false for zero. */
function printValue(field: usize, limit: usize): bool {
  const kind = <i32>load<u8>(field, FIELD_KIND);
  if (kind < MESSAGE) return printScalar(field, limit);
  // How a group ends is not known ahead.
  if (kind === GROUP) giveUp();
  printMessage(messageOf(field), readEnd(limit));
  return true;
}
