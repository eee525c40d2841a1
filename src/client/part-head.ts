/** The head of a part of multipart/form-data (RFC 7578 §4.2, §4.4). */
import { Code, ConnectError } from "@connectrpc/connect";
import { lenientUtf8 } from "../codec/utf8.ts";
import { parseParameters } from "../protocol/parameters.ts";

export interface PartHead {
  /** Of the form's field. */
  readonly name: string;
  /** Undefined: it is no file. Empty: browsers send that, with no content, for a file that nobody chose. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

/** The text is not what it says to be. */
export function malformedForm(message: string): ConnectError {
  return new ConnectError(`multipart/form-data: ${message}`, Code.InvalidArgument);
}

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What a value may hold (RFC 9110 §5.5); beyond ASCII only names do, as UTF-8. */
const FIELD_VALUE = /^[\t\x20-\x7e\u0080-\u{10ffff}]*$/u;
const ASCII = /^[\t\x20-\x7e]*$/;
/** Codings that change nothing (RFC 2045 §6.2). */
const IDENTITY_CODINGS: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);

/**
 * @param bytes the lines before the empty one, each with its end.
 * @param where names the part in errors.
 * @throws ConnectError invalid_argument.
 */
export function parsePartHead(bytes: Uint8Array, where: string): PartHead {
  const headers = readLines(lenientUtf8.decode(bytes), where);
  const coding = headers.get("content-transfer-encoding");
  if (coding !== undefined && !IDENTITY_CODINGS.has(coding.toLowerCase())) {
    throw malformedForm(`${where} has a Content-Transfer-Encoding, which forms have no more (RFC 7578 §4.7)`);
  }
  const contentType = headers.get("content-type");
  if (contentType !== undefined && !ASCII.test(contentType)) {
    throw malformedForm(`${where} has a Content-Type that is none`);
  }
  const disposition = parseParameters(headers.get("content-disposition") ?? "");
  const name = disposition?.parameters.get("name");
  if (disposition?.value !== "form-data" || name === undefined) {
    throw malformedForm(`${where} lacks Content-Disposition: form-data; name="…"`);
  }
  const { parameters } = disposition;
  const filename = parameters.get("filename") ?? parameters.get("filename*");
  return { name: unescapeName(name), filename, contentType };
}

function readLines(text: string, where: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n").slice(0, -1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1);
    if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value)) throw malformedForm(`${where} has a malformed header`);
    if (headers.has(name)) throw malformedForm(`${where} has ${name} more than once`);
    headers.set(name, value.trim());
  }
  return headers;
}

/** What browsers escape in names, and nothing else (HTML, "multipart/form-data encoding algorithm"). */
function unescapeName(name: string): string {
  return name.replace(/%(?:0A|0D|22)/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
