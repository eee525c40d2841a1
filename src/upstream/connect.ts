/** Calls a backend that speaks Connect: binary codec over fetch, unary. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, CallFn, Reply } from "../call.ts";
import { urlBase64 } from "../protocol/base64.ts";
import { readAll, tooLarge } from "../protocol/bytes.ts";
import { DECODED_BY_FETCH, FETCH_KEEPS_ENCODING, isIdentity } from "../protocol/compression.ts";
import { CONNECT_VERSION, parseError } from "../protocol/connect.ts";
import { parseMediaType } from "../protocol/media-type.ts";
import { responseMetadata, takeTrailer } from "../protocol/metadata.ts";

export interface ConnectUpstreamOptions {
  /** Origin and optional path prefix of the backend, without a trailing slash. */
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Bytes of one response message. */
  readonly readMaxBytes: number;
  /** Methods without side effects go as GET, which caches may answer. */
  readonly connectGet: boolean;
}

/** Longest URL of a GET; a longer one goes as POST. Proxies commonly refuse above 8 KiB. */
const MAX_GET_URL = 8_000;

/** Bytes read of an answer that is an error. */
const MAX_ERROR_BYTES = 1 << 20;

export function createConnectUpstream(options: ConnectUpstreamOptions): CallFn {
  return async (call) => {
    const response = await send(call, options);
    try {
      return await readResponse(call, response, options);
    } catch (error) {
      throw error instanceof ConnectError ? error : brokenAnswer(call, options, error);
    }
  };
}

async function send(call: Call, options: ConnectUpstreamOptions): Promise<Response> {
  const { header, body } = call;
  header.set("connect-protocol-version", CONNECT_VERSION);
  if (call.timeoutMs !== undefined) header.set("connect-timeout-ms", String(Math.min(call.timeoutMs, 9_999_999_999)));
  // Every body is read before the fetch is tried: its error is the caller's, not the backend's.
  const payload = body.kind === "message" ? await body.read() : rawStream(body);
  const url = options.url + call.method.path;
  const get = options.connectGet && payload instanceof Uint8Array ? getUrl(url, call, payload) : undefined;
  if (!get) header.set("content-type", "application/proto");
  else header.delete("connect-protocol-version");
  try {
    // A cached redirect target could be anywhere; connect's own client refuses them too.
    const init = { headers: header, redirect: "manual", signal: call.signal } as const;
    return await options.fetch(get ?? url, get ? init : { ...init, method: "POST", ...bodyInit(payload) });
  } catch (error) {
    throw transportError(call, options, error);
  }
}

function rawStream(body: Exclude<Call["body"], { kind: "message" }>): ReadableStream<Uint8Array> | null {
  if (body.kind === "raw") return body.stream;
  throw new ConnectError("streaming calls are not served", Code.Unimplemented);
}

/** `duplex` is Node's: a request with a stream as body needs it there. */
function bodyInit(payload: Uint8Array | ReadableStream<Uint8Array> | null): RequestInit & { duplex?: "half" } {
  if (payload instanceof Uint8Array) return { body: payload as Uint8Array<ArrayBuffer> };
  return payload ? { body: payload, duplex: "half" } : {};
}

/** The URL of the call as Connect GET, or undefined when it has to be a POST. */
function getUrl(url: string, call: Call, message: Uint8Array): string | undefined {
  if (call.method.idempotency !== "no-side-effects" || message.length > MAX_GET_URL) return undefined;
  const get = `${url}?connect=v1&encoding=proto&base64=1&message=${urlBase64(message)}`;
  return get.length <= MAX_GET_URL ? get : undefined;
}

async function readResponse(call: Call, response: Response, options: ConnectUpstreamOptions): Promise<Reply> {
  const type = parseMediaType(response.headers.get("content-type") ?? "")?.essence;
  if (response.status !== 200) throw await readError(call, response, type);
  if (type !== "application/proto") {
    await response.body?.cancel();
    throw unexpectedType(type);
  }
  const encoding = response.headers.get("content-encoding");
  const header = responseMetadata(response.headers);
  const trailer = takeTrailer(header);
  const reply = { header, ...(trailer && { trailer }) };
  if (call.body.kind === "raw") {
    if (encoding && FETCH_KEEPS_ENCODING) header.set("content-encoding", encoding);
    return { ...reply, body: { kind: "raw", stream: response.body } };
  }
  if (encoding && !isIdentity(encoding) && !DECODED_BY_FETCH.has(encoding)) {
    await response.body?.cancel();
    throw new ConnectError(`the backend used an encoding that was not offered: ${encoding}`, Code.Internal);
  }
  const wire = await readMessage(response, encoding, options.readMaxBytes);
  return { ...reply, body: { kind: "message", read: () => Promise.resolve(wire) } };
}

async function readMessage(response: Response, encoding: string | null, maxBytes: number): Promise<Uint8Array> {
  const length = response.headers.get("content-length");
  // An empty answer is the empty message; decoding zero bytes of gzip would fail.
  if (length === "0") return new Uint8Array(0);
  if (length === null || encoding) return readAll(response.body, maxBytes);
  if (Number(length) > maxBytes) {
    await response.body?.cancel();
    throw tooLarge(maxBytes);
  }
  return new Uint8Array(await response.arrayBuffer());
}

async function readError(call: Call, response: Response, type: string | undefined): Promise<ConnectError> {
  const { status, body, headers } = response;
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect || type !== "application/json") {
    await body?.cancel();
    return parseError(undefined, status, new Headers());
  }
  return parseError(await readErrorText(call, body), status, responseMetadata(headers));
}

/** Undefined when it cannot be read: the status tells what there is to tell, and a second error must not hide it. */
async function readErrorText(call: Call, body: ReadableStream<Uint8Array> | null): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await readAll(body, MAX_ERROR_BYTES));
  } catch (error) {
    if (call.signal.aborted) throw error;
    return undefined;
  }
}

/** Connect, "Unary-Response": another codec of the protocol is a fault inside it, another type is no answer at all. */
function unexpectedType(type: string | undefined): ConnectError {
  const code = type === "application/json" || type?.startsWith("application/connect+") ? Code.Internal : Code.Unknown;
  return new ConnectError(`the backend answered with content type ${type ?? "none"}`, code);
}

/** What fetch throws says more about the network inside than the caller may know: the log has it. */
function transportError(call: Call, options: ConnectUpstreamOptions, cause: unknown): ConnectError {
  return failureOf(call, options, "the backend cannot be reached", Code.Unavailable, cause);
}

/** An answer that began well: it broke off, or is not in its coding. The code is that of connect-es for either. */
function brokenAnswer(call: Call, options: ConnectUpstreamOptions, cause: unknown): ConnectError {
  return failureOf(call, options, "the answer of the backend cannot be read", Code.Internal, cause);
}

/** When the call was aborted, its reason says more than what the abort broke. */
function failureOf(
  { method, signal }: Call,
  { url }: ConnectUpstreamOptions,
  message: string,
  code: Code,
  cause: unknown,
): ConnectError {
  if (signal.aborted && signal.reason instanceof ConnectError) return signal.reason;
  console.error(`${url}${method.path}: ${message}: ${describeCause(cause)}`);
  return new ConnectError(message, code, undefined, undefined, cause);
}

/** Node's fetch says "fetch failed" and keeps what happened as the cause. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}
