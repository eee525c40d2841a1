/**
 * The well-known types whose JSON is not an object of their fields (ProtoJSON), and the content of those that are a
 * text in JSON. google.protobuf.Empty is an ordinary message without fields.
 */
import type { Field, Message } from "../schema/model.ts";
import { parseDuration, parseTimestamp, type Time } from "./time.ts";
import { WireType, type WireWriter } from "./wire-writer.ts";

export type Special = "wrapper" | "text" | "struct" | "value" | "list" | "any";

const specials: ReadonlyMap<string, Special> = new Map([
  ["google.protobuf.DoubleValue", "wrapper"],
  ["google.protobuf.FloatValue", "wrapper"],
  ["google.protobuf.Int64Value", "wrapper"],
  ["google.protobuf.UInt64Value", "wrapper"],
  ["google.protobuf.Int32Value", "wrapper"],
  ["google.protobuf.UInt32Value", "wrapper"],
  ["google.protobuf.BoolValue", "wrapper"],
  ["google.protobuf.StringValue", "wrapper"],
  ["google.protobuf.BytesValue", "wrapper"],
  ["google.protobuf.Timestamp", "text"],
  ["google.protobuf.Duration", "text"],
  ["google.protobuf.FieldMask", "text"],
  ["google.protobuf.Struct", "struct"],
  ["google.protobuf.Value", "value"],
  ["google.protobuf.ListValue", "list"],
  ["google.protobuf.Any", "any"],
]);

/** How the message is written in JSON, or undefined when it is an object of its fields. */
export function specialOf(message: Message): Special | undefined {
  return specials.get(message.name);
}

/** The field `value` of a wrapper. */
export function wrapped(wrapper: Message): Field {
  return wrapper.fields[0] as Field;
}

/**
 * Writes the content of a Timestamp, Duration or FieldMask from its JSON text.
 *
 * @returns false, with nothing written, when the text is none.
 */
export function writeTextContent(writer: WireWriter, message: Message, text: string): boolean {
  if (message.name === "google.protobuf.FieldMask") return writeFieldMask(writer, text);
  const time = message.name === "google.protobuf.Timestamp" ? parseTimestamp(text) : parseDuration(text);
  if (time === undefined) return false;
  writeTime(writer, time);
  return true;
}

/** Timestamp and Duration alike: seconds = 1 (int64), nanos = 2 (int32). */
function writeTime(writer: WireWriter, { seconds, nanos }: Time): void {
  if (seconds !== 0) {
    writer.tag(1, WireType.VARINT);
    writer.varint64(BigInt(seconds));
  }
  if (nanos !== 0) {
    writer.tag(2, WireType.VARINT);
    writer.varint64(BigInt(nanos));
  }
}

/** `fooBar,baz.quxQuux`: each path is a record of paths = 1, in proto names. */
function writeFieldMask(writer: WireWriter, text: string): boolean {
  if (text === "") return true;
  const paths = text.split(",");
  // An underscore would not come back from the way out.
  if (!text.isWellFormed() || paths.some((path) => path === "" || path.includes("_"))) return false;
  for (const path of paths) {
    writer.tag(1, WireType.LEN);
    writer.string(path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  }
  return true;
}
