/** A field that is wrong, text that is not JSON at all, and JSON that grows too large. */
import { Code, ConnectError } from "@connectrpc/connect";
import * as WireType from "./wire-type.ts";
import { WireWriter } from "./wire-writer.ts";

/** Where in a JSON text: 1-based, the column in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * A field has a value that it cannot have: `invalid_argument` with a google.rpc.BadRequest that names the field.
 *
 * @param fieldPath in proto names, `addresses[3].zip`, or as the caller spelt it; "" for the message itself.
 * @param position in the JSON text, when the value came from one.
 */
export function fieldError(fieldPath: string, description: string, position?: Position): ConnectError {
  const prefix = fieldPath === "" ? "" : `${fieldPath}: `;
  const error = new ConnectError(`${prefix}${description}${suffix(position)}`, Code.InvalidArgument);
  error.details.push({ type: "google.rpc.BadRequest", value: badRequest(fieldPath, description) });
  return error;
}

/** The text is not JSON (RFC 8259): `invalid_argument`. */
export function syntaxError(description: string, position: Position): ConnectError {
  return new ConnectError(`invalid JSON: ${description}${suffix(position)}`, Code.InvalidArgument);
}

/** The JSON of a message is larger than `maxJsonBytes`: `resource_exhausted`. */
export function jsonTooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`message is larger than the limit of ${maxBytes} bytes of JSON`, Code.ResourceExhausted);
}

/** A text of the caller, fit for a message: quoted, on one line, cut short. */
export function quote(text: string): string {
  return JSON.stringify(cut(text));
}

/** Cut short, and well-formed whatever the text was: half a surrogate pair becomes U+FFFD. */
export function shorten(text: string): string {
  return cut(text).toWellFormed();
}

function cut(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

function suffix(position: Position | undefined): string {
  return position === undefined ? "" : ` (line ${position.line}, column ${position.column})`;
}

/** BadRequest { field_violations = 1: { field = 1, description = 2 } } */
function badRequest(field: string, description: string): Uint8Array {
  const writer = new WireWriter();
  writer.tag(1, WireType.LEN);
  const start = writer.begin();
  if (field !== "") {
    writer.tag(1, WireType.LEN);
    writer.string(field);
  }
  writer.tag(2, WireType.LEN);
  writer.string(description);
  writer.end(start);
  return writer.finish();
}
