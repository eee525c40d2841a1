/** Fields from text that is not JSON: what stands in a path or a query. */
import type { ConnectError } from "@connectrpc/connect";
import type { Field } from "../schema/model.ts";
import { hasTextForm, specialOf } from "../schema/special.ts";
import { fieldError, quote } from "./error.ts";
import { writeMessageRecord } from "./record.ts";
import { scalarOf, typeName, writeScalarText } from "./scalar.ts";
import { textFault, wrapped, writeTextContent } from "./text-content.ts";
import { WireWriter } from "./wire-writer.ts";

/**
 * The whole record, tag and value, for a text of a path or query. For a repeated field: of one element, not packed.
 * Quotes are data and `null` is a text like any other; bytes are base64; enums go by name or number; a FieldMask has
 * its JSON form, `fooBar,baz`. The zero value is written too, because it was said.
 *
 * @param text decoded, and known to be UTF-8.
 * @param name how the caller spelt the field.
 * @throws ConnectError invalid_argument with google.rpc.BadRequest, when the text is none of the field's type.
 */
export function encodeText(field: Field, text: string, name: string): Uint8Array {
  if (!hasTextForm(field)) throw fieldError(name, `a ${field.map ? "map" : typeName(field)} cannot be given as text`);
  const writer = new WireWriter();
  if (field.message) {
    const { message } = field;
    writeMessageRecord(writer, field, () => {
      if (specialOf(message) === "wrapper") writeWrapper(writer, wrapped(message), text, name);
      else if (!writeTextContent(writer, message, text)) throw fieldError(name, textFault(message, quote(text)));
    });
  } else {
    writeScalar(writer, field, text, name);
  }
  return writer.finish();
}

function writeScalar(writer: WireWriter, field: Field, text: string, name: string): void {
  writer.tag(field.number, scalarOf(field).wireType);
  if (!writeScalarText(writer, field, text)) throw notOfType(field, text, name);
}

/** The wrapper's own record says that the value is there, so zero need not be in it: `value` has no presence. */
function writeWrapper(writer: WireWriter, value: Field, text: string, name: string): void {
  const start = writer.length;
  writer.tag(value.number, scalarOf(value).wireType);
  const mark = writer.length;
  if (!writeScalarText(writer, value, text)) throw notOfType(value, text, name);
  if (writer.isZeroSince(mark)) writer.truncate(start);
}

function notOfType(field: Field, text: string, name: string): ConnectError {
  return fieldError(name, `${quote(text)} is not a value of type ${typeName(field)}`);
}
