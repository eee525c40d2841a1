/** The frame of a message field's record: length-delimited, or between group tags. */
import type { Field } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import * as WireType from "./wire-type.ts";
import type { WireWriter } from "./wire-writer.ts";

/** Writes the tag, and whatever goes around the content. */
export function writeMessageRecord(writer: WireWriter, field: Field, writeContent: () => void): void {
  if (field.type === Type.GROUP) {
    writer.tag(field.number, WireType.SGROUP);
    writeContent();
    writer.tag(field.number, WireType.EGROUP);
  } else {
    writer.tag(field.number, WireType.LEN);
    const start = writer.begin();
    writeContent();
    writer.end(start);
  }
}
