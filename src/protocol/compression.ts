/** Content codings (RFC 9110 §8.4) of whole bodies. */
import { Code, ConnectError } from "@connectrpc/connect";
import { readAll } from "./bytes.ts";

/** Codings that the gateway reads, besides identity: what DecompressionStream has in every runtime. */
const FORMATS: ReadonlyMap<string, CompressionFormat> = new Map<string, CompressionFormat>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
]);

/** For `Accept-Encoding` of a 415, and for messages. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, identity";

/** @param encoding value of Content-Encoding; null and "" are identity. */
export function isKnownEncoding(encoding: string | null): boolean {
  return isIdentity(encoding) || FORMATS.has((encoding ?? "").trim().toLowerCase());
}

export function isIdentity(encoding: string | null): boolean {
  return !encoding || encoding.trim().toLowerCase() === "identity";
}

/**
 * The decoded bytes of a body.
 *
 * @param encoding one that `isKnownEncoding` knows.
 * @param maxBytes bounds the decoded bytes, so a bomb costs no more than its limit.
 * @throws ConnectError invalid_argument when the body is not in its coding; resource_exhausted over the limit.
 */
export async function readDecoded(
  stream: ReadableStream<Uint8Array> | null,
  encoding: string | null,
  maxBytes: number,
): Promise<Uint8Array> {
  const format = FORMATS.get((encoding ?? "").trim().toLowerCase());
  if (!stream || !format) return readAll(stream, maxBytes);
  try {
    return await readAll(stream.pipeThrough<Uint8Array>(decompression(format)), maxBytes);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw new ConnectError(`body is not valid ${format}`, Code.InvalidArgument, undefined, undefined, error);
  }
}

/** The decoded bytes of a body as they come; not bounded. It fails when the body is not in its coding. */
export function decodedStream(stream: ReadableStream<Uint8Array>, encoding: string | null): ReadableStream<Uint8Array> {
  const format = FORMATS.get((encoding ?? "").trim().toLowerCase());
  return format ? stream.pipeThrough<Uint8Array>(decompression(format)) : stream;
}

/** The DOM types know the writable side as BufferSource only. */
function decompression(format: CompressionFormat): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>;
}

/**
 * Whether `fetch` hands on bodies as they came: in workerd a Response made of a fetched body and its Content-Encoding
 * passes verbatim; elsewhere fetch has decoded the body, and the header must not be repeated.
 */
export const FETCH_KEEPS_ENCODING = globalThis.navigator?.userAgent === "Cloudflare-Workers";

/**
 * Values of Content-Encoding that `fetch` takes off a body that is read. workerd compares them as they are spelt; a
 * body in another coding is handed on coded, and could be taken for the message.
 */
export const DECODED_BY_FETCH: ReadonlySet<string> = FETCH_KEEPS_ENCODING
  ? new Set(["gzip", "br"])
  : new Set(["gzip", "x-gzip", "br", "deflate"]);
