/** A filter of your own: one line a request. In a project of yours, import from "isthmus". */
import type { HttpFilter } from "../../src/gateway.ts";

/** @param write gets `GET /v1/shelves 200 12 ms`. */
export function createAccessLog(write: (line: string) => void): HttpFilter {
  return (next) => async (request) => {
    const started = Date.now();
    const response = await next(request);
    write(`${request.method} ${pathOf(request.url)} ${response.status} ${Date.now() - started} ms`);
    return response;
  };
}

/** Without its query, which may hold what no log should. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3)).split("?", 1)[0] ?? "/";
}
