/** The well-known types that are one text in JSON, and the wrappers (ProtoJSON). */
import type { Field, Message } from "../schema/model.ts";
import { readNumeric, readString, writeScalar } from "./decode-scalar.ts";
import type { Decoding } from "./decoding.ts";
import { slotsOf } from "./slot.ts";
import { formatDuration, formatTimestamp } from "./time-format.ts";
import { indexRecords, NO_SPANS, type Spans } from "./wire-index.ts";

/** A wrapper is its value, a default where it has none. */
export function writeWrapper(run: Decoding, wrapper: Message, content: Spans): void {
  const records = indexRecords(run, slotsOf(wrapper), content);
  const value = fieldOf(wrapper, 1);
  writeScalar(run, value, records.get(1) ?? NO_SPANS);
}

/** Timestamp, Duration, FieldMask. @throws ConnectError internal for a value that has no JSON form. */
export function writeTextMessage(run: Decoding, message: Message, content: Spans): void {
  const text =
    message.name === "google.protobuf.FieldMask" ? maskText(run, message, content) : timeText(run, message, content);
  if (text === undefined) throw run.fault(`${message.name} has no JSON form`);
  run.writer.string(text);
}

function timeText(run: Decoding, message: Message, content: Spans): string | undefined {
  const records = indexRecords(run, slotsOf(message), content);
  const seconds = BigInt(readNumeric(run, fieldOf(message, 1), records.get(1) ?? NO_SPANS));
  const nanos = Number(readNumeric(run, fieldOf(message, 2), records.get(2) ?? NO_SPANS));
  return message.name === "google.protobuf.Timestamp"
    ? formatTimestamp(seconds, nanos)
    : formatDuration(seconds, nanos);
}

function maskText(run: Decoding, message: Message, content: Spans): string | undefined {
  const spans = indexRecords(run, slotsOf(message), content).get(1) ?? NO_SPANS;
  const paths: string[] = [];
  for (let i = 0; i < spans.length; i += 2) {
    const path = camelPath(readString(run, fieldOf(message, 1), spans.slice(i, i + 2)));
    if (path === undefined) return undefined;
    paths.push(path);
  }
  return paths.join(",");
}

/** @returns undefined when the path would not come back from JSON as it is. */
function camelPath(path: string): string | undefined {
  if (path === "" || /[A-Z,]|_(?![a-z])/.test(path)) return undefined;
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function fieldOf(message: Message, number: number): Field {
  return slotsOf(message).get(number)?.field as Field;
}
