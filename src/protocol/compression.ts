/** Content codings (RFC 9110 §8.4) of whole bodies. */
import { Code, ConnectError } from "@connectrpc/connect";
import { readAll, watchChunks } from "./bytes.ts";

/** Brotli, where the runtime has it: Node 24 does, workerd does not. The types do not know it yet. */
const BROTLI: readonly (readonly [string, CompressionFormat])[] = hasFormat("brotli" as CompressionFormat)
  ? [["br", "brotli" as CompressionFormat]]
  : [];

/** Codings that the gateway reads and writes, besides identity, the preferred first: fast ones before small ones. */
const FORMATS: ReadonlyMap<string, CompressionFormat> = new Map<string, CompressionFormat>([
  ["gzip", "gzip"],
  ["deflate", "deflate"],
  ...BROTLI,
  ["x-gzip", "gzip"],
]);

/** A list: what a caller names is compared, and not hashed, which numbers of its choice could make slow. */
const CODINGS: readonly string[] = [...FORMATS.keys()];

function hasFormat(format: CompressionFormat): boolean {
  try {
    return new DecompressionStream(format) !== undefined;
  } catch {
    return false;
  }
}

/** For `Accept-Encoding` of a 415, and for messages. */
export const ACCEPTED_ENCODINGS = ["gzip", "deflate", ...BROTLI.map(([name]) => name), "identity"].join(", ");

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
 * @param maxRatio as for `decodedStream`.
 * @throws ConnectError invalid_argument when the body is not in its coding; resource_exhausted over a limit.
 */
export async function readDecoded(
  stream: ReadableStream<Uint8Array> | null,
  encoding: string | null,
  maxBytes: number,
  maxRatio?: number,
): Promise<Uint8Array> {
  const format = FORMATS.get((encoding ?? "").trim().toLowerCase());
  if (!stream || !format) return readAll(stream, maxBytes);
  try {
    return await readAll(decodedStream(stream, encoding, maxRatio), maxBytes);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw new ConnectError(`body is not valid ${format}`, Code.InvalidArgument, undefined, undefined, error);
  }
}

/**
 * The decoded bytes of a body as they come. It fails when the body is not in its coding.
 *
 * @param maxRatio how many times its own bytes what has come may become; resource_exhausted over it. Default: any.
 */
export function decodedStream(
  stream: ReadableStream<Uint8Array>,
  encoding: string | null,
  maxRatio?: number,
): ReadableStream<Uint8Array> {
  const format = FORMATS.get((encoding ?? "").trim().toLowerCase());
  if (!format) return stream;
  if (maxRatio === undefined) return stream.pipeThrough<Uint8Array>(decompression(format));
  let came = 0;
  let made = 0;
  const coded = watchChunks(stream, (bytes) => {
    came += bytes;
  });
  return watchChunks(coded.pipeThrough<Uint8Array>(decompression(format)), (bytes) => {
    made += bytes;
    if (made <= maxRatio * came) return;
    throw new ConnectError(`body is compressed to less than 1/${maxRatio}, the limit`, Code.ResourceExhausted);
  });
}

/**
 * The coding of an answer.
 *
 * @param accept codings that the caller takes, with weights or without: Accept-Encoding, or what RPC protocols have for it.
 * @returns the first of ours among those of the highest weight; undefined: none of them.
 */
export function chooseEncoding(accept: string | null): string | undefined {
  if (accept === null) return undefined;
  const weights = new Map<string, number>();
  for (const entry of accept.split(",")) {
    const [name = "", ...parameters] = entry.split(";");
    const weight = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
    const coding = name.trim().toLowerCase();
    if (coding === "*" || CODINGS.includes(coding)) weights.set(coding, weight === undefined ? 1 : Number(weight) || 0);
  }
  let best: { readonly name: string; readonly weight: number } | undefined;
  for (const name of FORMATS.keys()) {
    const weight = weights.get(name) ?? weights.get("*") ?? 0;
    if (weight > (best?.weight ?? 0)) best = { name, weight };
  }
  return best?.name;
}

/** @param encoding one that `chooseEncoding` has chosen. */
export async function compress(bytes: Uint8Array, encoding: string): Promise<Uint8Array<ArrayBuffer>> {
  const format = FORMATS.get(encoding);
  if (!format) throw new Error(`no such coding: ${encoding}`);
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Of a fetch: a body that is read or watched stays coded as it came, where workerd would decode it. Elsewhere fetch always does. */
export const KEPT_CODED: RequestInit & { readonly encodeResponseBody: "manual" } = { encodeResponseBody: "manual" };

/** Of a Response: workerd would encode its body once more. Elsewhere nobody knows the member. */
export const ENCODED_BY_HAND: ResponseInit & { readonly encodeBody: "manual" } = { encodeBody: "manual" };

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
