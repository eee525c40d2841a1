/** The request target as the caller wrote it. `new URL` would resolve dots and rewrite escapes, and so see another path. */

export interface Target {
  /** Percent-encoded, beginning with "/". */
  readonly path: string;
  /** Without its "?"; "" when there is none. */
  readonly query: string;
}

/** @param url of a Request. A fragment, which a Request keeps, is for nobody on this side. */
export function splitTarget(url: string): Target {
  const hash = url.indexOf("#");
  const whole = hash === -1 ? url : url.slice(0, hash);
  const authority = whole.indexOf("://") + 3;
  const start = whole.indexOf("/", authority);
  const mark = whole.indexOf("?", authority);
  const end = mark === -1 ? whole.length : mark;
  const path = start === -1 || start > end ? "/" : whole.slice(start, end);
  return { path, query: mark === -1 ? "" : whole.slice(mark + 1) };
}
