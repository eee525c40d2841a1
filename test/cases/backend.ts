/**
 * The backend behind the gateway: connect-node over HTTP/1.1 (and h2c for gRPC), answering as the running case says,
 * and recording all that came. One case at a time.
 */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createBridge } from "../../src/node/bridge.ts";
import type { Conversation } from "./conversation.ts";
import type { Descriptors } from "./descriptors.ts";
import { writeRawAnswer } from "./raw-answer.ts";
import { type Recorded, readRecorded } from "./recorded.ts";
import { addScriptedServices, exchangeKey } from "./script.ts";
import { deliveryOf, type Origins, prefixOf } from "./target.ts";

type Request = http.IncomingMessage | http2.Http2ServerRequest;
type Response = http.ServerResponse | http2.Http2ServerResponse;

export interface Backend {
  readonly origins: Origins;
  /** From now on requests belong to this case. */
  begin(conversation: Conversation): void;
  stop(): Promise<void>;
}

/** Nobody listens there. A port that was free a moment ago may be somebody's by the time it is called. */
const CLOSED = "http://127.0.0.1:1";

export async function startBackend(descriptors: Descriptors): Promise<Backend> {
  let current: Conversation | undefined;
  const belongs = new WeakMap<object, { conversation: Conversation; recorded: Recorded }>();
  const adapter = connectNodeAdapter({
    routes: (router) => addScriptedServices(router, descriptors),
    contextValues: (request) => createContextValues().set(exchangeKey, belongs.get(request)),
    jsonOptions: { registry: descriptors.registry },
  });

  const handle = (request: Request, response: Response): void => {
    if (!current) {
      response.statusCode = 500;
      response.end();
      return;
    }
    const conversation = current;
    const recorded = record(request, response);
    conversation.calls.push(recorded);
    const upstream = conversation.test.upstream;
    if (upstream?.hangs) {
      request.resume();
    } else if (upstream?.raw) {
      const messages = (): number => readRecorded(recorded, prefixOf(conversation.test), descriptors).messages.length;
      writeRawAnswer(request, response, conversation.test, messages).catch((error) =>
        conversation.faults.push(String(error)),
      );
    } else {
      belongs.set(request, { conversation, recorded });
      prepare(request, response, conversation, descriptors);
      adapter(request, response);
    }
  };

  const http1 = http.createServer(handle);
  const h2c = http2.createServer(handle);
  const sessions = new Set<http2.ServerHttp2Session>();
  h2c.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const bridge = await createBridge({ to: await listen(h2c) });
  const origins = { http1: await listen(http1), grpc: bridge.url, closed: CLOSED };
  return {
    origins,
    begin(conversation) {
      current = conversation;
    },
    async stop() {
      await bridge.close();
      http1.close();
      http1.closeAllConnections();
      for (const session of sessions) session.destroy();
      h2c.close();
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Bytes are taken where the parser hands them over, so that whoever reads the request afterwards changes nothing. */
function record(request: Request, response: Response): Recorded {
  const chunks: Buffer[] = [];
  let complete = false;
  const push = request.push;
  request.push = (chunk, encoding) => {
    if (chunk === null) complete = !("aborted" in request && request.aborted);
    else chunks.push(Buffer.from(chunk));
    return push.call(request, chunk, encoding);
  };
  request.on("error", () => {});
  const headers: [string, string][] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    headers.push([request.rawHeaders[i]?.toLowerCase() ?? "", request.rawHeaders[i + 1] ?? ""]);
  }
  const cancelled = new Promise<boolean>((resolve) => {
    response.on("close", () => resolve(!response.writableFinished));
  });
  return {
    method: request.method ?? "",
    url: request.url ?? "",
    headers,
    chunks,
    complete: () => complete,
    cancelled,
  };
}

/** Makes the exchange one that connect-node's adapter serves although it came over HTTP/1.1 and under a prefix. */
function prepare(request: Request, response: Response, conversation: Conversation, descriptors: Descriptors): void {
  request.url = request.url?.slice(prefixOf(conversation.test).length) ?? "";
  if (
    request instanceof http.IncomingMessage &&
    descriptors.method(request.url.slice(1))?.methodKind === "bidi_streaming"
  ) {
    // Half-duplex two-way streams work over HTTP/1.1, but connect-node answers them with 505.
    Object.defineProperty(request, "httpVersion", { value: "2.0" });
  }
  const bytes = deliveryOf(conversation.test).upstreamChunkBytes;
  if (bytes !== undefined && response instanceof http.ServerResponse) cutWrites(response, bytes);
}

/** Every write becomes several of at most `bytes`. */
function cutWrites(response: http.ServerResponse, bytes: number): void {
  const write = response.write.bind(response) as (chunk: Uint8Array, encoding: BufferEncoding) => boolean;
  response.write = (chunk: Uint8Array) => {
    let flushed = true;
    for (let at = 0; at < chunk.length; at += bytes) flushed = write(chunk.subarray(at, at + bytes), "binary");
    return flushed;
  };
}
