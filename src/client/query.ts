/** Query strings, by the rules of WHATWG form parsing, but strict: a broken escape or text that is not UTF-8 is refused. */
import { Code, ConnectError } from "@connectrpc/connect";

/** What an error calls a pair: the same text is the body of an urlencoded form. */
type Kind = "query parameter" | "form field";

export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/**
 * @param query without its "?". Pieces between "&"; the first "=" splits; "+" is a space; empty pieces are skipped.
 * @throws ConnectError invalid_argument naming the parameter, or the query where the name itself is broken.
 */
export function parseQuery(query: string, kind: Kind = "query parameter"): readonly Parameter[] {
  return splitQuery(query, kind).map(({ name, encoded }) => ({ name, value: decodeForm(encoded, name, kind) }));
}

/** True when the text has more pieces than that between "&", empty ones too. */
export function hasMoreThan(query: string, max: number): boolean {
  // Each takes a character at least: what is shorter need not be split.
  return query.length >= max && query.split("&", max + 1).length > max;
}

function splitQuery(
  query: string,
  kind: Kind = "query parameter",
): readonly { readonly name: string; readonly encoded: string }[] {
  const pieces = query.split("&").filter((piece) => piece !== "");
  return pieces.map((piece) => {
    const equals = piece.indexOf("=");
    const name = decodeForm(equals === -1 ? piece : piece.slice(0, equals), "a name", kind);
    return { name, encoded: equals === -1 ? "" : piece.slice(equals + 1) };
  });
}

/** The first value of each of some names, still encoded: what nobody asks for may hold anything. */
export function parseParameters(query: string, wanted: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { name, encoded } of splitQuery(query))
    if (wanted.includes(name) && !first.has(name)) first.set(name, encoded);
  return first;
}

/** @throws ConnectError invalid_argument, as `parseQuery`. */
export function decodeForm(encoded: string, name: string, kind: Kind = "query parameter"): string {
  return decodePercent(plusToSpace(encoded), `${kind} ${name}`);
}

/**
 * The bytes that a value stands for, text or not.
 *
 * @throws ConnectError invalid_argument for a broken escape.
 */
export function decodeFormBytes(encoded: string, name: string): Uint8Array<ArrayBuffer> {
  const text = plusToSpace(encoded);
  if (BAD_ESCAPE.test(text)) throw badEscape(text, `query parameter ${name}`);
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === PERCENT) {
      bytes[length++] = Number.parseInt(String.fromCharCode(...bytes.subarray(at + 1, at + 3)), 16);
      at += 2;
    } else {
      bytes[length++] = bytes[at] as number;
    }
  }
  return bytes.subarray(0, length);
}

const PERCENT = 0x25;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

function plusToSpace(text: string): string {
  return text.includes("+") ? text.replaceAll("+", " ") : text;
}

/**
 * @param where names the text in the error.
 * @throws ConnectError invalid_argument for a broken escape, and for bytes that are not UTF-8.
 */
export function decodePercent(text: string, where: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw badEscape(text, where);
  }
}

function badEscape(text: string, where: string): ConnectError {
  const quoted = JSON.stringify(text.slice(0, 80));
  return new ConnectError(`${where}: ${quoted} is not percent-encoded UTF-8`, Code.InvalidArgument);
}
