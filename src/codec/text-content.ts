/** The content of well-known types that are one text in JSON: Timestamp, Duration, FieldMask; and what a wrapper wraps. */
import type { Field, Message } from "../schema/model.ts";
import { parseDuration, parseTimestamp, type Time } from "./time.ts";
import * as WireType from "./wire-type.ts";
import type { WireWriter } from "./wire-writer.ts";

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

/** What a right text looks like, for the error about a wrong one. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ["google.protobuf.Timestamp", "2024-01-31T12:00:00Z"],
  ["google.protobuf.Duration", "90s or 1.5s"],
  ["google.protobuf.FieldMask", "title,author.lastName"],
]);

/** @returns what is wrong with a text that is no value of the message. */
export function textFault(message: Message, quoted: string): string {
  return `${quoted} is not a ${message.name}, which looks like ${EXAMPLES.get(message.name)}`;
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
    writer.string(snakePath(path));
  }
  return true;
}

function snakePath(path: string): string {
  if (!/[A-Z]/.test(path)) return path;
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
