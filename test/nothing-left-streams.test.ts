/** Streams in Node: when a call is over, however it ended, no timer and no listener of it is left. */
import { getEventListeners } from "node:events";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createGateway } from "../src/gateway.ts";
import { endOf, type Protocol, typeOf } from "./matrix/outcome.ts";
import { set } from "./matrix/schema.ts";

beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.useFakeTimers({ shouldAdvanceTime: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
const JSON_MESSAGE = encodeEnvelope(0, Buffer.from('{"text":"a"}'));

type Answer = (protocol: Protocol) => Promise<Response> | Response;

function answerOf(protocol: Protocol, body: BodyInit): Response {
  return new Response(body, { headers: { "content-type": typeOf(protocol) } });
}

/** A message, and then what `next` does. */
function begun(protocol: Protocol, next: (controller: ReadableStreamDefaultController) => void): Response {
  let isFirst = true;
  const body = new ReadableStream({
    pull(controller) {
      if (isFirst) controller.enqueue(MESSAGE);
      else next(controller);
      isFirst = false;
    },
  });
  return answerOf(protocol, body);
}

const ANSWERS: readonly [string, Answer][] = [
  ["a whole stream", (protocol) => answerOf(protocol, Buffer.concat([MESSAGE, MESSAGE, endOf(protocol)]))],
  ["a stream without messages", (protocol) => answerOf(protocol, Buffer.from(endOf(protocol)))],
  ["a stream without end", (protocol) => answerOf(protocol, Buffer.from(MESSAGE))],
  ["no body", (protocol) => new Response(null, { headers: { "content-type": typeOf(protocol) } })],
  ["a body that breaks", (protocol) => begun(protocol, (controller) => controller.error(new Error("cut")))],
  ["another type", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ["a failure of HTTP", () => new Response("<html>", { status: 503 })],
  ["nothing", () => Promise.reject(new TypeError("refused"))],
];

const WATCH = "/matrix.v1.Matrix/Watch";
const COLLECT = "/matrix.v1.Matrix/Collect";
const CALLERS: readonly [string, string, Record<string, string>, Uint8Array][] = [
  ["Connect", WATCH, { "content-type": typeOf("connect") }, MESSAGE],
  ["Connect JSON", WATCH, { "content-type": typeOf("connect", "json") }, JSON_MESSAGE],
  ["Connect client stream", COLLECT, { "content-type": typeOf("connect", "json") }, JSON_MESSAGE],
  ["gRPC-Web", WATCH, { "content-type": typeOf("grpc-web") }, MESSAGE],
  ["gRPC-Web client stream", COLLECT, { "content-type": typeOf("grpc-web") }, MESSAGE],
  [
    "REST lines",
    "/v1/watch",
    { "content-type": "application/json", accept: "application/x-ndjson" },
    Buffer.from("{}"),
  ],
  ["REST array", "/v1/watch", { "content-type": "application/json" }, Buffer.from("{}")],
];

/** A call with a deadline of an hour. */
async function open(protocol: Protocol, answer: Answer, [, path, headers, body]: (typeof CALLERS)[number]) {
  const fetch = async (_: unknown, { body, signal }: RequestInit = {}) => {
    if (body instanceof ReadableStream) await new Response(body).arrayBuffer();
    signal?.throwIfAborted();
    return answer(protocol);
  };
  const backends = { "*": { url: "http://backend.example", protocol, fetch } };
  const gateway = createGateway({ schema: set, backends, timeoutMs: 3_600_000, warn: () => undefined });
  const init = { method: "POST", headers, body: body as BodyInit };
  const request = new Request(`http://gateway.example${path}`, init);
  return { request, response: await gateway.fetch(request) };
}

function nothingLeft({ signal }: Request): Promise<void> {
  return vi.waitFor(() => expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([0, 0]));
}

for (const protocol of ["connect", "grpc-web"] as const) {
  for (const caller of CALLERS) {
    describe(`${caller[0]} to ${protocol}`, () => {
      test.each(ANSWERS)("%s", async (_, answer) => {
        const { request, response } = await open(protocol, answer, caller);
        await response.arrayBuffer().catch(() => undefined);
        await nothingLeft(request);
      });

      test("a stream that its caller leaves", async () => {
        const endless = () => begun(protocol, (controller) => controller.enqueue(MESSAGE));
        const { request, response } = await open(protocol, endless, caller);
        await response.body?.getReader().cancel();
        await nothingLeft(request);
      });
    });
  }
}
