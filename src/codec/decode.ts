/**
 * Wire to JSON: the messages, lists, maps and Any of ProtoJSON. Fields are written in order of their numbers.
 *
 * This decoder takes wire in any order and explains what is wrong with it. `print.ts` is for the rest, and fast.
 */
import type { Field, Message } from "../schema/model.ts";
import { type Special, specialOf } from "../schema/special.ts";
import type { CodecContext, Skipped } from "./codec.ts";
import { readEntries } from "./decode-map.ts";
import { isText, readNext, readString, writeNumeric, writeScalar, writeText } from "./decode-scalar.ts";
import { writeListValue, writeStruct, writeValue } from "./decode-struct.ts";
import { writeTextMessage, writeWrapper } from "./decode-wkt.ts";
import { Decoding, type Parts } from "./decoding.ts";
import { isUnknownEnum } from "./enum-name.ts";
import { quote } from "./error.ts";
import { formatKey } from "./json-writer.ts";
import { type Slot, slotsOf } from "./slot.ts";
import { indexRecords, NO_SPANS, type Spans } from "./wire-index.ts";

const TYPE_KEY = formatKey("@type");
const VALUE_KEY = formatKey("value");

export interface CarefulDecoder {
  /** As that of `Codec`. @param parts does what it can of the messages inside. Default: nothing. */
  decode(wire: Uint8Array, skipped?: Skipped, parts?: Parts): Uint8Array;
  decodeField(wire: Uint8Array, field: Field, skipped?: Skipped, parts?: Parts): Uint8Array;
}

export function compileCarefulDecoder(message: Message, context: CodecContext): CarefulDecoder {
  return {
    decode(wire, skipped, parts) {
      const run = new Decoding(wire, message, context, parts);
      writeMessage(run, message, [0, wire.length]);
      return finish(run, skipped);
    },
    decodeField(wire, field, skipped, parts) {
      const run = new Decoding(wire, message, context, parts);
      run.descend();
      const spans = indexRecords(run, slotsOf(message), [0, wire.length]).get(field.number);
      // What stands beside the field is left out, known or not.
      run.unknownFields = 0;
      run.enter(field);
      writeField(run, field, spans ?? NO_SPANS);
      return finish(run, skipped);
    },
  };
}

function finish(run: Decoding, skipped: Skipped | undefined): Uint8Array {
  if (skipped) skipped.unknownFields += run.unknownFields;
  return run.writer.finish();
}

type WriteContent = (run: Decoding, message: Message, content: Spans) => void;

const specialWriters: Readonly<Record<Special, WriteContent>> = {
  wrapper: writeWrapper,
  text: writeTextMessage,
  struct: writeStruct,
  value: writeValue,
  list: writeListValue,
  any: writeAny,
};

export function writeMessage(run: Decoding, message: Message, content: Spans): void {
  if (content.length === 2) {
    const [start, end] = content as [number, number];
    const printed = run.parts?.print(message, start, end, run.levelsLeft);
    if (printed) {
      run.writer.raw(printed.json);
      run.unknownFields += printed.unknownFields;
      return;
    }
  }
  run.descend();
  const special = specialOf(message);
  if (special) specialWriters[special](run, message, content);
  else writeObject(run, message, content);
  run.ascend();
}

function writeObject(run: Decoding, message: Message, content: Spans): void {
  run.writer.openObject();
  writeMembers(run, message, content);
  run.writer.closeObject();
}

function writeMembers(run: Decoding, message: Message, content: Spans): void {
  const { writer } = run;
  const { emitDefaults, useProtoFieldName } = run.context.options;
  const slots = slotsOf(message);
  const records = indexRecords(run, slots, content);
  const numbers = emitDefaults ? slots.keys() : [...records.keys()].sort((a, b) => a - b);
  for (const number of numbers) {
    const { field, jsonKey, protoKey } = slots.get(number) as Slot;
    const spans = records.get(number);
    if (!spans && field.presence) continue;
    const mark = writer.length;
    writer.key(useProtoFieldName ? protoKey : jsonKey);
    run.enter(field);
    const set = writeField(run, field, spans ?? NO_SPANS);
    run.leave();
    if (!set && !(emitDefaults && !field.presence)) writer.truncate(mark);
  }
}

/**
 * Writes the value of a field, or what stands for an unset one.
 *
 * @returns whether it is set: without presence, whether it is not zero or empty.
 */
export function writeField(run: Decoding, field: Field, spans: Spans): boolean {
  if (field.map) return writeMap(run, field.map, spans);
  if (field.repeated) return writeList(run, field, spans);
  if (!field.message) return writeScalar(run, field, spans);
  if (spans.length === 0) run.writer.ascii("null");
  else writeMessage(run, field.message, spans);
  return spans.length > 0;
}

function writeList(run: Decoding, field: Field, spans: Spans): boolean {
  const { writer } = run;
  writer.openArray();
  const mark = writer.length;
  for (let i = 0; i < spans.length; i += 2) {
    const [start, end] = [spans[i] as number, spans[i + 1] as number];
    if (!field.message && !isText(field)) {
      writeNumerics(run, field, start, end);
      continue;
    }
    run.enter(i / 2);
    writer.element();
    if (field.message) writeMessage(run, field.message, [start, end]);
    else writeText(run, field, start, end);
    run.leave();
  }
  const set = writer.length > mark;
  writer.closeArray();
  return set;
}

/** Elements, packed or one. Unknown numbers of a closed enum are none. */
function writeNumerics(run: Decoding, field: Field, start: number, end: number): void {
  run.reader.seek(start, end);
  while (!run.reader.done) {
    const value = readNext(run, field);
    if (isUnknownEnum(field, Number(value))) {
      run.unknownFields++;
      continue;
    }
    run.writer.element();
    writeNumeric(run, field, value);
  }
}

function writeMap(run: Decoding, map: NonNullable<Field["map"]>, spans: Spans): boolean {
  const { writer } = run;
  const entries = readEntries(run, map, spans);
  writer.openObject();
  for (const [key, value] of entries) {
    writer.element();
    writer.string(key);
    writer.ascii(":");
    run.enter(map.value);
    if (map.value.message) writeMessage(run, map.value.message, value);
    else writeScalar(run, map.value, value);
    run.leave();
  }
  writer.closeObject();
  return entries.length > 0;
}

/**
 * The message inside with `@type` as its first member, or `@type` and `value` when it is no object of its fields.
 *
 * @throws ConnectError internal when the registry does not know the type.
 */
function writeAny(run: Decoding, any: Message, content: Spans): void {
  const { writer } = run;
  const slots = slotsOf(any);
  const records = indexRecords(run, slots, content);
  const typeUrl = readString(run, slots.get(1)?.field as Field, records.get(1) ?? NO_SPANS);
  const value = records.get(2) ?? NO_SPANS;
  const [start, end] = value;
  writer.openObject();
  if (typeUrl !== "") {
    const message = run.context.registry.message(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
    if (!message) throw run.fault(`type ${quote(typeUrl)} of google.protobuf.Any is unknown`);
    writer.key(TYPE_KEY);
    writer.string(typeUrl);
    if (specialOf(message)) {
      writer.key(VALUE_KEY);
      writeMessage(run, message, value);
    } else {
      run.descend();
      writeMembers(run, message, value);
      run.ascend();
    }
  } else if (start !== end) {
    throw run.fault("google.protobuf.Any has a value without a type");
  }
  writer.closeObject();
}
