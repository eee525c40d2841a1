/** What every upstream protocol does alike: the fetch, a request that streams, and what their failures mean. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, Messages } from "../call.ts";
import { streamOf } from "../protocol/bytes.ts";
import { formatEnvelopes } from "../protocol/envelope.ts";
import { withFirst } from "../protocol/messages.ts";

export interface UpstreamOptions {
  /** Origin and optional path prefix of the backend, without a trailing slash. */
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Bytes of one response message. */
  readonly readMaxBytes: number;
  /** Streams, and all answers of gRPC-Web, may come compressed. Of other answers `fetch` itself says so. */
  readonly offersGzip: boolean;
}

/** `cf` is Cloudflare's: what its edge does with the request. */
export interface BackendRequest extends RequestInit {
  readonly cf?: object;
}

/**
 * @throws ConnectError the reason of the abort when the call was aborted; unavailable when there is no answer.
 */
export async function fetchBackend(
  call: Call,
  url: string,
  init: BackendRequest,
  options: UpstreamOptions,
): Promise<Response> {
  try {
    // A cached redirect target could be anywhere; connect's own client refuses them too.
    return await options.fetch(url, { redirect: "manual", ...(call.signal && { signal: call.signal }), ...init });
  } catch (error) {
    // What fetch throws says more about the network inside than the caller may know: the log has it.
    throw failureOf(call, options, "the backend cannot be reached", Code.Unavailable, error);
  }
}

/** The head of an answer that is none of the protocol's. */
export function unexpected(what: string, code: Code): ConnectError {
  return new ConnectError(`the backend answered with ${what}`, code);
}

/** @param family types of the protocol: to answer with another of them is a fault inside it, anything else is no answer at all. */
export function unexpectedType(type: string | undefined, family: RegExp): ConnectError {
  const code = family.test(type ?? "") ? Code.Internal : Code.Unknown;
  return unexpected(`content type ${type ?? "none"}`, code);
}

/** For the error of a body that holds something else: who puts such bodies there, a proxy most often, can be found. */
export function describeHead({ status, headers }: Response): string {
  return `the backend answered with HTTP ${status}, content type ${headers.get("content-type") ?? "none"}`;
}

/** An answer that began well: it broke off, or is not in its coding. The code is that of connect-es for either. */
export function brokenAnswer(call: Call, options: UpstreamOptions, cause: unknown): ConnectError {
  return failureOf(call, options, "the answer of the backend cannot be read", Code.Internal, cause);
}

/** When the call was aborted, its reason says more than what the abort broke. */
function failureOf(
  { method, signal }: Call,
  { url }: UpstreamOptions,
  message: string,
  code: Code,
  cause: unknown,
): ConnectError {
  if (signal?.aborted && signal.reason instanceof ConnectError) return signal.reason;
  console.error(`${url}${method.path}: ${message}: ${describeCause(cause)}`);
  return new ConnectError(message, code, undefined, undefined, cause);
}

/** Node's fetch says "fetch failed" and keeps what happened as the cause. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

/** The body of a fetch. `duplex` is Node's: a request with a stream as body needs it there. */
export function bodyInit(payload: Payload): RequestInit & { duplex?: "half" } {
  if (payload instanceof Uint8Array) return { body: payload as Uint8Array<ArrayBuffer> };
  return payload ? { body: payload, duplex: "half" } : {};
}

export type Payload = Uint8Array | ReadableStream<Uint8Array> | null;

export interface EnvelopedRequest {
  readonly payload: Payload;
  /** The call, aborted also when its own request breaks: the backend must not take what came for all there is. */
  readonly call: Call;
  /** The answer is complete, or there will be none: what is left of the request is not wanted. */
  stop(): void;
}

/**
 * The request of a call as envelopes.
 *
 * @throws ConnectError the request's own failure, if it shows before the backend was called.
 */
export async function openEnvelopes(call: Call): Promise<EnvelopedRequest> {
  const { body } = call;
  if (body.kind === "raw") return { payload: body.stream, call, stop() {} };
  if (body.kind === "message") return { payload: formatEnvelopes([await body.read()]), call, stop() {} };
  let { messages } = body;
  const controller = new AbortController();
  /** False once the rest of the request does not matter: then that it is cut short is no failure of the call. */
  let isWanted = true;
  const leave = () => {
    isWanted = false;
    return messages.cancel(new ConnectError("the rest of the request is not wanted", Code.Canceled));
  };
  const abort = () => {
    messages.cancel(ConnectError.from(call.signal?.reason, Code.Canceled));
    controller.abort(call.signal?.reason);
  };
  if (call.signal?.aborted) abort();
  else call.signal?.addEventListener("abort", abort, { once: true });
  if (body.duplex !== "full") messages = await awaitFirst(messages);
  messages.end.then(({ error }) => error && isWanted && controller.abort(error));
  return {
    payload: envelopeStream(messages, leave),
    call: { ...call, signal: controller.signal },
    stop() {
      call.signal?.removeEventListener("abort", abort);
      leave();
    },
  };
}

/** A request that is wrong from the start never reaches the backend. */
async function awaitFirst(messages: Messages): Promise<Messages> {
  const first = messages.next();
  if (await first) return withFirst(first, messages);
  const { error } = await messages.end;
  if (error) throw error;
  return messages;
}

/** The request has no end of its own: its body ends, or breaks. */
function envelopeStream(messages: Messages, cancel: () => unknown): ReadableStream<Uint8Array> {
  return streamOf({
    async next() {
      const batch = await messages.next();
      if (batch) return formatEnvelopes(batch);
      const { error } = await messages.end;
      if (error) throw error;
      return undefined;
    },
    cancel,
  });
}
