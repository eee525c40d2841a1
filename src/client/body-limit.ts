/** The limit of a request's body as a whole: what streams or passes through has no other. */
import type { ConnectError } from "@connectrpc/connect";
import { tooLarge, watchChunks } from "../protocol/bytes.ts";

/**
 * A length that is told is believed, for HTTP holds the body to it. A body in chunks is counted as it is read.
 *
 * @param describe makes the caller's dialect of the failure.
 * @returns the same request, or one whose body fails with resource_exhausted when it is over the limit.
 * @throws ConnectError resource_exhausted when the head tells that it is.
 */
export function limitBody(
  request: Request,
  maxBytes: number,
  describe: (error: ConnectError) => ConnectError = (error) => error,
): Request {
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) throw describe(tooLarge(maxBytes, "the body"));
  if (length !== null || request.body === null) return request;
  let came = 0;
  const body = watchChunks(request.body, (bytes) => {
    came += bytes;
    if (came > maxBytes) throw describe(tooLarge(maxBytes, "the body"));
  });
  // `duplex` is Node's: a request with a stream as body needs it there.
  return new Request(request, { body, duplex: "half" } as RequestInit);
}
