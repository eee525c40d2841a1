/** Answers whose bytes are all here. */
import { chooseEncoding, compress, ENCODED_BY_HAND } from "../protocol/compression.ts";

/** When answers are compressed. */
export interface CompressionRule {
  readonly request: Request;
  /** Bytes from which it is worth it. Undefined: never. */
  readonly minBytes: number | undefined;
}

/** @param headers owned by the answer; Content-Encoding and Vary are set as the body turns out (RFC 9110 §12.5.3). */
export async function respondWhole(
  bytes: Uint8Array,
  headers: Headers,
  { request, minBytes }: CompressionRule,
): Promise<Response> {
  if (minBytes === undefined) return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  headers.append("vary", "Accept-Encoding");
  const encoding = bytes.length < minBytes ? undefined : chooseEncoding(acceptedEncodings(request));
  if (!encoding) return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  headers.set("content-encoding", encoding);
  return new Response(await compress(bytes, encoding), { headers, ...ENCODED_BY_HAND });
}

/**
 * The request's Accept-Encoding. Cloudflare, and every local stand-in for it, puts `br, gzip` in its place and hands the
 * caller what that one takes; but the stand-ins leave gzip to callers who sent no such field, and tell so by an empty one.
 */
function acceptedEncodings(request: Request): string | null {
  const { cf } = request as Request & { readonly cf?: { readonly clientAcceptEncoding?: unknown } };
  return cf?.clientAcceptEncoding === "" ? null : request.headers.get("accept-encoding");
}
