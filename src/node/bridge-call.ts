/** One call over the bridge: a gRPC-Web request comes in over HTTP/1.1, a gRPC request goes out over HTTP/2. */
import type { IncomingMessage, ServerResponse } from "node:http";
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { parseTimeout } from "../protocol/deadline.ts";
import {
  brokenEnvelope,
  failureOfConnecting,
  failureOfConnection,
  failureOfHeader,
  failureOfRequest,
  failureOfReset,
  missingTrailers,
} from "./bridge-failure.ts";
import { grpcRequestHeader, statusFields, trailersOnlyFields, webResponseHeader } from "./bridge-header.ts";
import type { Sessions } from "./h2-sessions.ts";
import { RequestFeed } from "./request-feed.ts";
import { explainFailure } from "./unreachable.ts";
import { WebAnswer } from "./web-answer.ts";

const { NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

/**
 * @param path of the gRPC request.
 * @param onFailure told how the call failed, when the backend did not say so itself and could be reached.
 */
export function bridgeCall(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  sessions: Sessions,
  onFailure: (error: ConnectError) => void,
): void {
  const header = grpcRequestHeader(request.headers, path, sessions.url);
  const contentType = request.headers["content-type"] ?? "";
  const feed = new RequestFeed(request);
  const startedMs = performance.now();
  const answer = new WebAnswer(response);
  // By close(CANCEL) Node would end the request stream before it resets it, and the backend could take it for whole.
  const abort = new AbortController();
  let stream: ClientHttp2Stream | undefined;
  let over = false;

  /** Nothing that the backend does after this counts. */
  function cancel(): void {
    over = true;
    feed.stop();
    abort.abort();
  }

  function fail(error: ConnectError): void {
    if (over) return;
    onFailure(error);
    endWith(error);
  }

  function endWith(error: ConnectError): void {
    cancel();
    answer.fail(error, contentType);
  }

  response.on("close", () => {
    // The caller has left; or all is said, and this is too late to matter.
    if (!over) cancel();
  });
  answer.onDrain(() => stream?.resume());

  async function open(triesLeft: number): Promise<void> {
    let session: ClientHttp2Session;
    try {
      session = await sessions.get();
    } catch (error) {
      // Whoever keeps the sessions tells of it, once for all calls.
      if (!over) endWith(failureOfConnecting(explainFailure(error)));
      return;
    }
    if (over) return;
    try {
      stream = session.request(header, { signal: abort.signal });
    } catch (error) {
      return fail(failureOfRequest(error));
    }
    feed.into(stream);
    relay(stream, session, triesLeft);
  }

  function relay(stream: ClientHttp2Stream, session: ClientHttp2Session, triesLeft: number): void {
    let trailers: IncomingHttpHeaders | undefined;
    // Some servers end a call by its header block and an empty frame of data.
    let statusInHeader: IncomingHttpHeaders | undefined;

    function take(chunk: Buffer): void {
      if (over) return;
      const written = answer.write(chunk);
      if (written === "full") stream.pause();
      if (written === "broken") fail(brokenEnvelope());
    }

    stream.on("response", (head, flags) => {
      if (over) return;
      feed.commit();
      const failure = failureOfHeader(head);
      if (failure) return fail(failure);
      if (head["grpc-status"] !== undefined) {
        if (flags & NGHTTP2_FLAG_END_STREAM) trailers = trailersOnlyFields(head);
        else statusInHeader = statusFields(head);
      }
      answer.begin(webResponseHeader(trailers ? { "content-type": head["content-type"] } : head));
      // Not before: data that comes in one piece with the header is told first.
      stream.on("data", take);
    });
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    stream.on("end", () => {
      if (over) return;
      // A reset and a lost connection end it too, and "close" will tell; trailers come only after everything else.
      if (!trailers && (stream.rstCode !== NGHTTP2_NO_ERROR || session.destroyed)) return;
      const end = trailers ?? (answer.empty ? statusInHeader : undefined);
      if (!end) return fail(missingTrailers());
      over = true;
      feed.stop();
      // PROTOCOL-HTTP2, "Early Server Closure".
      stream.close(NGHTTP2_NO_ERROR);
      if (!answer.end(end)) onFailure(brokenEnvelope());
    });
    // An error is followed by "close".
    stream.on("error", () => {});
    stream.on("close", () => {
      if (over) return;
      const refused = stream.rstCode === NGHTTP2_REFUSED_STREAM;
      if (refused && triesLeft > 0 && feed.canReplay) void open(triesLeft - 1);
      else if (session.destroyed) fail(failureOfConnection());
      else fail(failureOfReset(stream.rstCode, performance.now() - startedMs >= timeoutOf(request)));
    });
  }

  void open(1);
}

/** Milliseconds that the call may take. Without any, or with one that is for the backend to refuse, there is no end. */
function timeoutOf({ headers }: IncomingMessage): number {
  const text = headers["grpc-timeout"];
  if (typeof text !== "string") return Number.POSITIVE_INFINITY;
  try {
    return parseTimeout(new Headers({ "grpc-timeout": text })) ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
