/** Calls a backend that speaks Connect, in the binary codec. Unary calls here; streams beside it. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, CallFn, Reply } from "../call.ts";
import { urlBase64 } from "../protocol/base64.ts";
import { discard, readAll, tooLarge } from "../protocol/bytes.ts";
import {
  chooseEncoding,
  DECODED_BY_FETCH,
  decodedStream,
  FETCH_KEEPS_ENCODING,
  isIdentity,
  KEPT_CODED,
} from "../protocol/compression.ts";
import { parseError, VERSION_FIELD } from "../protocol/connect.ts";
import { parseMediaType } from "../protocol/media-type.ts";
import { responseMetadata, takeTrailer } from "../protocol/metadata.ts";
import { bodyInit, brokenAnswer, fetchBackend, type UpstreamOptions, unexpectedType } from "./backend.ts";
import { callConnectStream, putConnectHeader } from "./connect-stream.ts";

export interface ConnectUpstreamOptions extends UpstreamOptions {
  /** Methods without side effects go as GET, which caches may answer. */
  readonly connectGet: boolean;
}

/** Longest URL of a GET; a longer one goes as POST. Proxies commonly refuse above 8 KiB. */
const MAX_GET_URL = 8_000;

/** Bytes read of an answer that is an error. */
const MAX_ERROR_BYTES = 1 << 20;

export function createConnectUpstream(options: ConnectUpstreamOptions): CallFn {
  return (call) => (call.method.kind === "unary" ? callUnary(call, options) : callConnectStream(call, options));
}

async function callUnary(call: Call, options: ConnectUpstreamOptions): Promise<Reply> {
  const response = await send(call, options);
  try {
    return await readResponse(call, response, options);
  } catch (error) {
    throw error instanceof ConnectError ? error : brokenAnswer(call, options, error);
  }
}

async function send(call: Call, options: ConnectUpstreamOptions): Promise<Response> {
  const { header, body } = call;
  putConnectHeader(call);
  // Every body is read before the fetch is tried: its error is the caller's, not the backend's.
  const payload = body.kind === "message" ? await body.read() : rawStream(body);
  const url = options.url + call.method.path;
  const get = options.connectGet && payload instanceof Uint8Array ? getUrl(url, call, payload) : undefined;
  if (get) {
    header.delete(VERSION_FIELD);
    return fetchBackend(call, get, { headers: header }, options);
  }
  header.set("content-type", "application/proto");
  const isKept = keepsCoding(call);
  // An error of the backend is read here, so its coding has to be one of ours.
  if (isKept) header.set("accept-encoding", chooseEncoding(header.get("accept-encoding")) ?? "identity");
  const init = { method: "POST", headers: header, ...bodyInit(payload), ...(isKept && KEPT_CODED) };
  return fetchBackend(call, url, init, options);
}

/**
 * Whether the answer's body is to come as it was sent although it will be looked at: one that passes through is watched
 * under a deadline. Without one workerd hands it on by itself.
 */
function keepsCoding({ body, timeoutMs }: Call): boolean {
  return FETCH_KEEPS_ENCODING && body.kind === "raw" && timeoutMs !== undefined;
}

function rawStream(body: Exclude<Call["body"], { kind: "message" }>): ReadableStream<Uint8Array> | null {
  if (body.kind === "raw") return body.stream;
  throw new ConnectError("a unary method takes one message", Code.Internal);
}

/** The URL of the call as Connect GET, its parameters in the order that caches know; undefined when it has to be a POST. */
function getUrl(url: string, call: Call, message: Uint8Array): string | undefined {
  if (call.method.idempotency !== "no-side-effects" || message.length > MAX_GET_URL) return undefined;
  const get = `${url}?connect=v1&base64=1&encoding=proto&message=${urlBase64(message)}`;
  return get.length <= MAX_GET_URL ? get : undefined;
}

async function readResponse(call: Call, response: Response, options: ConnectUpstreamOptions): Promise<Reply> {
  const type = parseMediaType(response.headers.get("content-type") ?? "")?.essence;
  if (response.status !== 200) throw await readError(call, response, type);
  if (type !== "application/proto") {
    await discard(response.body);
    throw unexpectedType(type, /^application\/(?:json$|connect\+)/);
  }
  const encoding = response.headers.get("content-encoding");
  const header = responseMetadata(response.headers);
  const trailer = takeTrailer(header);
  const reply = { header, ...(trailer && { trailer }) };
  if (call.body.kind === "raw") {
    if (encoding && FETCH_KEEPS_ENCODING) header.set("content-encoding", encoding);
    return { ...reply, body: { kind: "raw", stream: response.body, coded: keepsCoding(call) } };
  }
  if (encoding && !isIdentity(encoding) && !DECODED_BY_FETCH.has(encoding)) {
    await discard(response.body);
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
    await discard(response.body);
    throw tooLarge(maxBytes);
  }
  return new Uint8Array(await response.arrayBuffer());
}

async function readError(call: Call, response: Response, type: string | undefined): Promise<ConnectError> {
  const { status, body, headers } = response;
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect || type !== "application/json") {
    await discard(body);
    return parseError(undefined, status, new Headers());
  }
  const decoded = body && keepsCoding(call) ? decodedStream(body, headers.get("content-encoding")) : body;
  return parseError(await readErrorText(call, decoded), status, responseMetadata(headers));
}

/** Undefined when it cannot be read: the status tells what there is to tell, and a second error must not hide it. */
async function readErrorText(call: Call, body: ReadableStream<Uint8Array> | null): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await readAll(body, MAX_ERROR_BYTES));
  } catch (error) {
    if (call.signal?.aborted) throw error;
    return undefined;
  }
}
