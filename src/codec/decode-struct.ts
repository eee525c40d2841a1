/** google.protobuf.Struct, Value and ListValue: any JSON at all, one message a level. */
import type { Field, Message } from "../schema/model.ts";
import { readEntries } from "./decode-map.ts";
import { readNumeric, writeNumeric, writeScalar } from "./decode-scalar.ts";
import type { Decoding } from "./decoding.ts";
import { slotsOf } from "./slot.ts";
import { indexRecords, NO_SPANS, type Spans } from "./wire-index.ts";

/** The content of a Struct, of which the level is open. */
export function writeStruct(run: Decoding, struct: Message, content: Spans): void {
  const [field, spans] = onlyField(run, struct, content);
  run.writer.openObject();
  run.enter(field);
  const map = field.map as NonNullable<Field["map"]>;
  for (const [key, value] of readEntries(run, map, spans)) {
    run.writer.element();
    run.writer.string(key);
    run.writer.ascii(":");
    writeNested(run, map.value, value, writeValue);
  }
  run.leave();
  run.writer.closeObject();
}

/** The content of a ListValue, of which the level is open. */
export function writeListValue(run: Decoding, list: Message, content: Spans): void {
  const [field, spans] = onlyField(run, list, content);
  run.writer.openArray();
  run.enter(field);
  for (let i = 0; i < spans.length; i += 2) {
    run.enter(i / 2);
    run.writer.element();
    writeNested(run, field, spans.slice(i, i + 2), writeValue);
    run.leave();
  }
  run.leave();
  run.writer.closeArray();
}

/**
 * The content of a Value, of which the level is open.
 *
 * @throws ConnectError internal when no kind is set, or when it is a number that JSON does not have.
 */
export function writeValue(run: Decoding, value: Message, content: Spans): void {
  const slots = slotsOf(value);
  // The members of the oneof are all the fields that a Value has.
  const [kind] = indexRecords(run, slots, content);
  if (!kind) throw run.fault("google.protobuf.Value has no kind");
  const [number, spans] = kind;
  const field = slots.get(number)?.field as Field;
  run.enter(field);
  if (field.name === "struct_value") writeNested(run, field, spans, writeStruct);
  else if (field.name === "list_value") writeNested(run, field, spans, writeListValue);
  else if (field.name === "number_value") writeFinite(run, field, spans);
  else writeScalar(run, field, spans);
  run.leave();
}

function writeFinite(run: Decoding, field: Field, spans: Spans): void {
  const number = readNumeric(run, field, spans);
  if (!Number.isFinite(number)) throw run.fault("google.protobuf.Value is not a finite number");
  writeNumeric(run, field, number);
}

function writeNested(
  run: Decoding,
  field: Field,
  spans: Spans,
  write: (run: Decoding, message: Message, content: Spans) => void,
): void {
  run.descend();
  write(run, field.message as Message, spans);
  run.ascend();
}

/** Struct and ListValue have one field each. */
function onlyField(run: Decoding, message: Message, content: Spans): [Field, Spans] {
  const field = message.fields[0] as Field;
  return [field, indexRecords(run, slotsOf(message), content).get(field.number) ?? NO_SPANS];
}
