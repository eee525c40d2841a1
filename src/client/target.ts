/** The request target as the caller wrote it. `new URL` would resolve dots and rewrite escapes, and so see another path. */

export interface Target {
  /** Percent-encoded, beginning with "/". */
  readonly path: string;
  /** Without its "?"; "" when there is none. */
  readonly query: string;
}

export function splitTarget(url: string): Target {
  const authority = url.indexOf("://") + 3;
  const start = url.indexOf("/", authority);
  const mark = url.indexOf("?", authority);
  const end = mark === -1 ? url.length : mark;
  const path = start === -1 || start > end ? "/" : url.slice(start, end);
  return { path, query: mark === -1 ? "" : url.slice(mark + 1) };
}
