/** In Node a timer outlives its call: it would hold the request, and the process. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gatewayOf, type Options, postJson, send } from "./library-backend.ts";

const PROTO = { "content-type": "application/proto" };
const RPC = "/library.v1.Library/CreateBook";
const BINARY: RequestInit = { method: "POST", body: new Uint8Array(2), headers: PROTO };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A gateway with a deadline in front of a backend that answers so. */
function gatewayBefore(answer: () => Response | Promise<Response>, options: Options = {}) {
  const backends = { "*": { url: "http://backend.example", fetch: async () => answer() } };
  return gatewayOf("", { backends, timeoutMs: 3_600_000, ...options });
}

const answers: readonly [string, () => Response | Promise<Response>][] = [
  ["a message", () => new Response(new Uint8Array(0), { headers: PROTO })],
  ["no body at all", () => new Response(null, { headers: PROTO })],
  ["an error", () => Response.json({ code: "not_found" }, { status: 404 })],
  ["another type", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  [
    "a body that breaks",
    () => new Response(new ReadableStream({ pull: (c) => c.error(new Error("cut")) }), { headers: PROTO }),
  ],
  ["nothing", () => Promise.reject(new TypeError("refused"))],
];
const callers: readonly [string, string, RequestInit][] = [
  ["REST", "/v1/books", postJson({})],
  ["Connect with JSON", RPC, postJson({})],
  ["Connect in binary, which passes through", RPC, BINARY],
];
const calls = callers.flatMap((caller) => answers.map((answer) => [...caller, ...answer] as const));

test.each(calls)("$0 leaves no timer, answered by $3", async (_caller, path, init, _answer, answer) => {
  const response = await send(gatewayBefore(answer), path, init);
  await response.arrayBuffer().catch(() => undefined);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
});

test("a caller who leaves in the middle of a body that passes through ends it, and its timer", async () => {
  const cancelled = Promise.withResolvers<void>();
  const endless = () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(10));
    return new Response(new ReadableStream({ pull, cancel: () => cancelled.resolve() }), { headers: PROTO });
  };
  const response = await send(gatewayBefore(endless), RPC, BINARY);
  const reader = response.body?.getReader();
  await reader?.read();
  expect(vi.getTimerCount()).toBe(1);
  await reader?.cancel();
  await cancelled.promise;
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
});
