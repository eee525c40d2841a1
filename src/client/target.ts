/** The request target as the caller wrote it. `new URL` would resolve dots and rewrite escapes, and so see another path. */
import { Code, ConnectError } from "@connectrpc/connect";
import { refuse } from "../protocol/status.ts";

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

/** Two Host fields are joined by ", ". */
const HOST = /^[^\s/?#\\@]*$/;

/**
 * RFC 9112 §3.2. Raw workerd writes the field into the URL as it is: with a "/" in it, the path would be another than
 * that of the request line.
 *
 * @throws ConnectError invalid_argument for a Host field that is no host.
 */
export function checkHost(host: string | null): void {
  if (host === null || HOST.test(host)) return;
  throw new ConnectError(`host: ${JSON.stringify(host.slice(0, 200))} is no host`, Code.InvalidArgument);
}

/** @throws ConnectError invalid_argument, shown as 414 (RFC 9110 §15.5.15), over the limit. */
export function checkLength(url: string, maxBytes: number): void {
  if (url.length <= maxBytes) return;
  throw refuse(414, Code.InvalidArgument, `the URL is longer than the limit of ${maxBytes} bytes`);
}
