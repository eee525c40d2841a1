/** What can be said of two templates without any request: which is tried first, which holds the other, what both match. */
import type { Template } from "../schema/model.ts";

/**
 * The order in which the router tries templates that match the same path: at the first segment in which they differ, a
 * literal comes before `*`, that before `**` with a longer tail, that before `**` with a shorter one.
 *
 * @returns below 0 when `a` comes first; 0 when they have the same segments, or different literals there, so that no
 *   path is of both.
 */
export function compareTemplates(a: Template, b: Template): number {
  const length = Math.max(a.segments.length, b.segments.length);
  for (let index = 0; index < length; index++) {
    const order = rank(a, index) - rank(b, index);
    if (order !== 0) return order;
    if (a.segments[index] !== b.segments[index]) return 0;
  }
  return 0;
}

/** The end comes before any `**` that could still match nothing. */
function rank({ segments }: Template, index: number): number {
  const segment = segments[index];
  if (segment === undefined || !segment.startsWith("*")) return 0;
  if (segment === "*") return 1;
  const tail = segments.length - index - 1;
  return 2 + 1 / (1 + tail);
}

/**
 * Whether every path of `special` is a path of `general`: exact, but for paths with empty segments (`//`), which `**`
 * takes and `*` does not. Custom verbs are not looked at.
 */
export function covers(general: Template, special: Template): boolean {
  const outer = parts(general);
  const inner = parts(special);
  if (minLength(outer) > minLength(inner)) return false;
  if (!outer.deep) return !inner.deep && sameLength(outer, inner) && outer.head.every(isAt(inner.head));
  if (!inner.deep) {
    const tail = inner.head.slice(inner.head.length - outer.tail.length);
    return outer.head.every(isAt(inner.head)) && outer.tail.every(isAt(tail));
  }
  // Where `general` reaches into the `**` of `special`, anything may stand: only `*` holds that.
  const fromEnd = inner.tail.toReversed();
  return outer.head.every(isAt(inner.head)) && outer.tail.toReversed().every(isAt(fromEnd));
}

/** For `every`: the segment holds what stands in the same place of `inner`, which is anything beyond its end. */
function isAt(inner: readonly string[]): (segment: string, index: number) => boolean {
  return (segment, index) => segment === "*" || segment === inner[index];
}

/** @returns segments of a path that both match, `x` where any will do; undefined when there is none. */
export function commonPath(a: Template, b: Template): readonly string[] | undefined {
  const [first, second] = [parts(a), parts(b)];
  const shortest = Math.max(minLength(first), minLength(second));
  const longest = Math.min(maxLength(first), maxLength(second), minLength(first) + minLength(second));
  for (let length = shortest; length <= longest; length++) {
    const segments = Array.from({ length }, (_, index) =>
      common(segmentAt(first, index, length), segmentAt(second, index, length)),
    );
    if (segments.every((segment) => segment !== undefined)) return segments;
  }
  return undefined;
}

function common(a: string, b: string): string | undefined {
  if (a === "*") return b === "*" ? "x" : b;
  return b === "*" || a === b ? a : undefined;
}

/** A template cut at its `**`. */
interface Parts {
  readonly head: readonly string[];
  readonly deep: boolean;
  readonly tail: readonly string[];
}

function parts({ segments }: Template): Parts {
  const at = segments.indexOf("**");
  if (at < 0) return { head: segments, deep: false, tail: [] };
  return { head: segments.slice(0, at), deep: true, tail: segments.slice(at + 1) };
}

function minLength({ head, tail }: Parts): number {
  return head.length + tail.length;
}

function maxLength(parts: Parts): number {
  return parts.deep ? Number.POSITIVE_INFINITY : minLength(parts);
}

function sameLength(a: Parts, b: Parts): boolean {
  return a.head.length === b.head.length;
}

/** What a path of `length` segments has at `index`: a literal, or `*` for anything. */
function segmentAt({ head, tail }: Parts, index: number, length: number): string {
  const fromTail = index - (length - tail.length);
  return (fromTail >= 0 ? tail[fromTail] : head[index]) ?? "*";
}
