/** Finds the route of a request: a trie of path segments, built once, then only read. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Route, Router } from "./route.ts";

interface Node {
  readonly literals: Map<string, Node>;
  /** Below `*`. */
  star?: Node;
  /** Below `**`, by the number of segments that follow it: the longest first, so a bare `**` comes last. */
  readonly deep: { readonly tail: number; readonly node: Node }[];
  /** What ends here: verb, then HTTP method. */
  readonly ends: Map<string, Map<string, Route>>;
}

/** A route by HTTP method. Undefined: go on looking in other branches. */
type Pick = (byMethod: ReadonlyMap<string, Route>) => Route | undefined;

/**
 * At each segment a literal comes before `*`, `*` before `**` with a tail, that before a bare `**`; a branch counts
 * only if it has the wanted method. A known verb comes before reading its ":" as data. Per path: the method itself,
 * for HEAD then GET, then the rule for any method.
 *
 * A node is entered at most once a look-up, and only where the path leads to it: the cost depends on how many
 * templates overlap on this path, not on how many there are.
 *
 * @param routes of two that match the same requests the first is kept.
 */
export function createRouter(routes: readonly Route[]): Router {
  const root = createNode();
  const verbs = new Set<string>();
  for (const route of routes) {
    insert(root, route);
    if (route.template.verb !== "") verbs.add(route.template.verb);
  }

  /** The path as each of its readings, the preferred first, until `pick` has found its route in one. */
  function search(path: string, pick: Pick): { route: Route; segments: readonly string[] } | undefined {
    const colon = path.lastIndexOf(":");
    const verb = colon > path.lastIndexOf("/") ? decode(path.slice(colon + 1)) : "";
    if (verbs.has(verb)) {
      const segments = split(path.slice(0, colon));
      const route = walk(root, segments, verb, pick);
      if (route) {
        // The verb hid dots that stand right before it.
        refuseUnsafe(path.slice(0, colon));
        return { route, segments };
      }
    }
    const segments = split(path);
    const route = walk(root, segments, "", pick);
    return route && { route, segments };
  }

  return {
    match(httpMethod, path) {
      refuseUnsafe(path);
      const found = search(path, (byMethod) => forMethod(byMethod, httpMethod));
      if (found) return { route: found.route, values: valuesOf(found.route, found.segments) };
      const allow = new Set<string>();
      search(path, (byMethod) => {
        for (const method of byMethod.keys()) allow.add(method);
        return undefined;
      });
      if (allow.size === 0) return undefined;
      if (allow.has("GET")) allow.add("HEAD");
      return { allow: [...allow.add("OPTIONS")].sort() };
    },
  };
}

function createNode(): Node {
  return { literals: new Map(), deep: [], ends: new Map() };
}

function insert(root: Node, route: Route): void {
  const { segments, verb } = route.template;
  let node = root;
  for (const [index, segment] of segments.entries()) {
    if (segment === "*") {
      node.star ??= createNode();
      node = node.star;
    } else if (segment === "**") {
      node = deepChild(node, segments.length - index - 1);
    } else {
      node = entryOf(node.literals, segment, createNode);
    }
  }
  const byMethod = entryOf(node.ends, verb, () => new Map<string, Route>());
  if (!byMethod.has(route.httpMethod)) byMethod.set(route.httpMethod, route);
}

function entryOf<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}

function deepChild(node: Node, tail: number): Node {
  const known = node.deep.find((child) => child.tail === tail);
  if (known) return known.node;
  const child = { tail, node: createNode() };
  node.deep.push(child);
  node.deep.sort((a, b) => b.tail - a.tail);
  return child.node;
}

function walk(root: Node, segments: readonly string[], verb: string, pick: Pick): Route | undefined {
  function visit(node: Node, index: number): Route | undefined {
    const segment = segments[index];
    if (segment === undefined) {
      const byMethod = node.ends.get(verb);
      const route = byMethod && pick(byMethod);
      if (route) return route;
    } else {
      const literal = node.literals.get(decode(segment));
      const star = segment === "" ? undefined : node.star;
      const route = (literal && visit(literal, index + 1)) ?? (star && visit(star, index + 1));
      if (route) return route;
    }
    for (const { tail, node: below } of node.deep) {
      const start = segments.length - tail;
      const route = start >= index ? visit(below, start) : undefined;
      if (route) return route;
    }
    return undefined;
  }
  return visit(root, 0);
}

function forMethod(byMethod: ReadonlyMap<string, Route>, httpMethod: string): Route | undefined {
  return byMethod.get(httpMethod) ?? (httpMethod === "HEAD" ? byMethod.get("GET") : undefined) ?? byMethod.get("*");
}

/** "/" has no segments, "/a/" has two: "a" and the empty one. */
function split(path: string): readonly string[] {
  return path.length <= 1 ? [] : path.slice(1).split("/");
}

/** For comparing with literals: "" for what is not UTF-8, because no literal is empty. */
function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function valuesOf(route: Route, segments: readonly string[]): readonly string[] {
  const template = route.template.segments;
  // Only "**" takes other than one segment; what the template has behind it is moved by the difference.
  const shift = segments.length - template.length;
  const deep = shift === 0 ? 0 : template.indexOf("**");
  const place = (index: number) => (index > deep ? index + shift : index);
  return route.variables.map(({ start, end }) => segments.slice(place(start), place(end)).join("/"));
}

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2}).{0,2}/s;
const DOT_SEGMENT = /\/(?:\.|%2[eE]){1,2}(?:\/|$)/;

/** What hosts and backends read in different ways is refused, never resolved. */
function refuseUnsafe(path: string): void {
  const bad = BAD_ESCAPE.exec(path);
  if (bad) throw invalid(`bad escape "${bad[0]}"`);
  if (path.includes("\\")) throw invalid('"\\" must be percent-encoded');
  if (DOT_SEGMENT.test(path)) throw invalid('a segment must not be "." or ".."');
}

function invalid(problem: string): ConnectError {
  return new ConnectError(`path: ${problem}`, Code.InvalidArgument);
}
