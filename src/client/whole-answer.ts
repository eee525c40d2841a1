/** Answers whose bytes are all here. */
import { chooseEncoding, compress, ENCODED_BY_HAND } from "../protocol/compression.ts";

/** When answers are compressed. */
export interface CompressionRule {
  /** Value of the request's Accept-Encoding. */
  readonly accept: string | null;
  /** Bytes from which it is worth it. Undefined: never. */
  readonly minBytes: number | undefined;
}

/** @param headers owned by the answer; Content-Encoding and Vary are set as the body turns out (RFC 9110 §12.5.3). */
export async function respondWhole(
  bytes: Uint8Array,
  headers: Headers,
  { accept, minBytes }: CompressionRule,
): Promise<Response> {
  if (minBytes === undefined) return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  headers.append("vary", "Accept-Encoding");
  const encoding = bytes.length < minBytes ? undefined : chooseEncoding(accept);
  if (!encoding) return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  headers.set("content-encoding", encoding);
  return new Response(await compress(bytes, encoding), { headers, ...ENCODED_BY_HAND });
}
