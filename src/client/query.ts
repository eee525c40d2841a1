/** Query strings, by the rules of WHATWG form parsing, but strict: a broken escape or text that is not UTF-8 is refused. */
import { Code, ConnectError } from "@connectrpc/connect";

export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/**
 * @param query without its "?". Pieces between "&"; the first "=" splits; "+" is a space; empty pieces are skipped.
 * @throws ConnectError invalid_argument naming the parameter, or the query where the name itself is broken.
 */
export function parseQuery(query: string): readonly Parameter[] {
  const parameters: Parameter[] = [];
  if (query === "") return parameters;
  for (const piece of query.split("&")) {
    if (piece === "") continue;
    const equals = piece.indexOf("=");
    const name = decodeForm(equals === -1 ? piece : piece.slice(0, equals), "a name");
    parameters.push({ name, value: equals === -1 ? "" : decodeForm(piece.slice(equals + 1), name) });
  }
  return parameters;
}

/** The first value of each name. */
export function parseParameters(query: string): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { name, value } of parseQuery(query)) if (!first.has(name)) first.set(name, value);
  return first;
}

function decodeForm(text: string, name: string): string {
  return decodePercent(text.includes("+") ? text.replaceAll("+", " ") : text, `query parameter ${name}`);
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
    throw new ConnectError(
      `${where}: ${JSON.stringify(text.slice(0, 80))} is not percent-encoded UTF-8`,
      Code.InvalidArgument,
    );
  }
}
