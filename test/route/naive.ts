/** The slow, plain way to the same answer: try every route, keep those that fit, take the most specific. */
import type { Route } from "../../src/route/route.ts";

export interface NaiveMatch {
  readonly route: Route;
  readonly values: readonly string[];
}

export function naiveMatch(routes: readonly Route[], httpMethod: string, path: string): NaiveMatch | undefined {
  const last = path.split("/").at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  if (colon >= 0) {
    const verb = decodeURIComponent(last.slice(colon + 1));
    const before = path.slice(0, path.length - last.length + colon);
    const found = verb === "" ? undefined : best(routes, httpMethod, before, verb);
    if (found) return found;
  }
  return best(routes, httpMethod, path, "");
}

function best(routes: readonly Route[], httpMethod: string, path: string, verb: string): NaiveMatch | undefined {
  const segments = path === "/" || path === "" ? [] : path.split("/").slice(1);
  const found: (NaiveMatch & { key: readonly number[] })[] = [];
  for (const route of routes) {
    const rank = [httpMethod, ...(httpMethod === "HEAD" ? ["GET"] : []), "*"].indexOf(route.httpMethod);
    const taken = route.template.verb === verb && rank >= 0 ? align(route.template.segments, segments) : undefined;
    if (!taken) continue;
    const values = route.variables.map(({ start, end }) => taken.slice(start, end).flat().join("/"));
    found.push({ route, values, key: [...specificity(route.template.segments), rank] });
  }
  found.sort((a, b) => compare(a.key, b.key));
  return found[0];
}

/** For each segment of the template the segments of the path that it takes. */
function align(template: readonly string[], path: readonly string[]): (readonly string[])[] | undefined {
  const [head, ...tail] = template;
  if (head === undefined) return path.length === 0 ? [] : undefined;
  for (let count = 0; count <= path.length; count++) {
    const taken = path.slice(0, count);
    const fits =
      head === "**" || (count === 1 && (head === "*" ? taken[0] !== "" : decodeURIComponent(taken[0] ?? "") === head));
    const rest = fits ? align(tail, path.slice(count)) : undefined;
    if (rest) return [taken, ...rest];
  }
  return undefined;
}

/** Smaller is better, segment by segment: the template's end, a literal, `*`, `**` with the longest tail. */
function specificity(template: readonly string[]): number[] {
  const ranks = template.map((segment, i) => {
    if (segment === "**") return 1000 - (template.length - i);
    return segment === "*" ? 2 : 1;
  });
  return [...ranks, 0];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, rank] of a.entries()) {
    const difference = rank - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
