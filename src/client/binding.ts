/** Binds path and query to fields of the request message (google/api/http.proto, "Rules for HTTP mapping"). */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Bound } from "../codec/codec.ts";
import { fieldError } from "../codec/error.ts";
import { encodeText } from "../codec/text.ts";
import type { Match, Route } from "../route/route.ts";
import { hasTextForm } from "../schema/special.ts";
import { put, resolveName, type Source, unsuited } from "./bound.ts";
import type { ClientOptions } from "./exchange.ts";
import { decodePercent, hasMoreThan, type Parameter, parseQuery } from "./query.ts";

type BindingOptions = Pick<ClientOptions, "unknownQuery" | "skippedQuery" | "maxDepth" | "maxParameters">;

/**
 * @param query without its "?".
 * @returns the values of path and query as a tree of records; path first.
 * @throws ConnectError invalid_argument naming the variable or parameter: text that is none of the field's type, an
 *   unknown parameter, a field of the body, two values for a singular field, a value other than the path's; for too
 *   many parameters.
 */
export function bindRequest({ route, values }: Match, query: string, options: BindingOptions): Bound {
  const bound: Bound = { fields: new Map() };
  route.variables.forEach(({ field: name, multi, path }, i) => {
    const leaf = path.at(-1);
    if (leaf)
      put(bound, path, encodeText(leaf, decodeVariable(values[i] ?? "", multi, name), name), { name, from: "path" });
  });
  if (hasMoreThan(query, options.maxParameters)) {
    throw new ConnectError(`the query has more than ${options.maxParameters} parameters`, Code.InvalidArgument);
  }
  for (const parameter of parseQuery(query)) bindParameter(bound, parameter, route, options);
  return bound;
}

/** A one-segment variable is decoded fully and once; in a longer one `%2F` stays, since "/" parts its segments. */
function decodeVariable(raw: string, multi: boolean, name: string): string {
  const where = `path variable ${name}`;
  if (!multi || !/%2f/i.test(raw)) return decodePercent(raw, where);
  const parts = raw.split(/(%2f)/i);
  return parts.map((part, i) => (i % 2 === 1 ? part : decodePercent(part, where))).join("");
}

function bindParameter(bound: Bound, { name, value }: Parameter, route: Route, options: BindingOptions): void {
  if (options.skippedQuery.has(name)) return;
  const lenient = options.unknownQuery === "ignore";
  if (route.body === "*") {
    if (lenient) return;
    throw fieldError(name, 'with body "*" there is no query parameter');
  }
  const source: Source = { name, from: "query" };
  const path = resolveName(route.method.input, source, { ignoreUnknown: lenient, maxDepth: options.maxDepth });
  const leaf = path?.at(-1);
  if (!path || !leaf) return;
  if (!hasTextForm(leaf)) throw unsuited(leaf, source);
  if (path[0] === route.body) {
    if (lenient) return;
    throw fieldError(name, `${path[0]?.name} is the body, and cannot come from the query`);
  }
  put(bound, path, encodeText(leaf, value, name), source, lenient);
}
