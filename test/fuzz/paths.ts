/** Templates, request targets and queries. */
import { deepStrictEqual, strictEqual } from "node:assert";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { hasMoreThan, parseQuery } from "../../src/client/query.ts";
import { splitTarget } from "../../src/client/target.ts";
import { createRouter } from "../../src/route/router.ts";
import { TemplateError } from "../../src/route/template.ts";
import { naiveMatch } from "../route/naive.ts";
import { routeOf } from "../route/routes.ts";
import { outcomeOf, type Target, textOf } from "./target.ts";

const templates = textOf(
  ..."/ / / v1 books * ** {name} {name=books/*} {a.b=**} {name=*/x/**} : : :verb %20 %2F %2f %zz é = { } .. . {} //".split(
    " ",
  ),
);
const paths = textOf(..."/ / / / v1 books x : :verb %20 %2F %E9 %zz %C3%A9 é .. . // ;a=b".split(" "));

/** The trie of the router against the plain way: each route tried, the best of those that fit taken. */
export const template: Target = {
  inputs: fc
    .tuple(fc.array(templates, { minLength: 1, maxLength: 4 }), paths)
    .map(([all, path]) => [...all, path].join("\n")),
  ask(input) {
    const lines = input.split("\n");
    const path = `/${(lines.pop() ?? "").replace(/^\//, "")}`;
    const routes = lines.flatMap((text) => {
      try {
        return [routeOf(`GET ${text.replaceAll(" ", "")}`)];
      } catch (error) {
        if (error instanceof TemplateError) return [];
        throw error;
      }
    });
    const shapes = routes.map(({ template: { segments, verb } }) => JSON.stringify([verb, ...segments]));
    const unique = routes.filter((_, i) => shapes.indexOf(shapes[i] ?? "") === i);
    const match = outcomeOf(() => createRouter(unique).match("GET", path));
    // Escapes that are none the plain way does not know.
    if (match instanceof ConnectError || !isDecodable(path)) return;
    const naive = naiveMatch(unique, "GET", path);
    const found = match && "route" in match ? match : undefined;
    strictEqual(found?.route.method.name, naive?.route.method.name);
  },
};

/** RFC 3986, appendix B: the pattern that takes any reference apart. */
const REFERENCE = /^(([^:/?#]+):)?(\/\/([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?$/s;

export const path: Target = {
  inputs: textOf(..."/ / a %2e%2e .. ? ? # # : @ // \\ ; = & %00 %".split(" ")),
  ask(input) {
    const url = `http://gateway.example${input === "" || /^[/?#]/.test(input) ? input : `/${input}`}`;
    const [, , , , , path = "", , query = ""] = REFERENCE.exec(url) ?? [];
    deepStrictEqual(splitTarget(url), { path: path || "/", query });
  },
};

/** WHATWG's form parsing, which is laxer about escapes: whatever is taken must be the same there. */
export const query: Target = {
  inputs: textOf(..."a b.c d = = & & + %20 %26 %3D %C3%A9 %C3 %zz % é ; __proto__ []".split(" ")),
  ask(input) {
    const parsed = outcomeOf(() => parseQuery(input));
    const pieces = input.split("&").filter((piece) => piece !== "");
    if (parsed instanceof ConnectError) {
      const decodable = pieces.every((piece) => piece.split("=").every(isDecodable) && isDecodable(piece));
      strictEqual(decodable, false, `refused: ${parsed.message}`);
      return;
    }
    const peer = [...new URLSearchParams(`&${input}`)].map(([name, value]) => ({ name, value }));
    // What is half of a pair of surrogates cannot come over a network, and is U+FFFD there.
    if (input.isWellFormed()) deepStrictEqual(parsed, peer);
    for (const max of [1, 2, 3, 10]) strictEqual(hasMoreThan(input, max), input.split("&").length > max);
  },
};

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
