/** The body of a request: whether there is one, and its bytes. */
import { Code, ConnectError } from "@connectrpc/connect";
import { tooLarge } from "../protocol/bytes.ts";
import { isIdentity, readDecoded } from "../protocol/compression.ts";

/** False when the request says that it has no content. True does not promise any: a chunked body may be empty. */
export function mayHaveBody(request: Request): boolean {
  const length = request.headers.get("content-length");
  // Asked last: workerd makes a stream of the body then.
  return length === null ? request.body !== null : length !== "0";
}

/**
 * The decoded bytes of a request's body.
 *
 * @param maxBytes over it: resource_exhausted; the rest is not read.
 * @param maxRatio likewise, for a compressed one that becomes more than so many times its bytes.
 * @throws ConnectError resource_exhausted; invalid_argument for a body that is not in its coding; canceled when the
 *   caller breaks off.
 */
export async function readBody(request: Request, maxBytes: number, maxRatio?: number): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding");
  const length = isIdentity(encoding) ? request.headers.get("content-length") : null;
  try {
    if (length === null) return await readDecoded(request.body, encoding, maxBytes, maxRatio);
    if (Number(length) > maxBytes) throw tooLarge(maxBytes);
    // Bounded by its declared length: the runtime's own copy is the cheapest. A filter may have put in another body.
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw new ConnectError("the request broke off", Code.Canceled, undefined, undefined, error);
  }
}
