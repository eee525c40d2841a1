/** Faults of callers who leave while a stream answers. */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readDescriptors } from "../cases/descriptors.ts";
import { startWorkerd } from "../cases/workerd.ts";
import { gatewayOf } from "../library-backend.ts";
import { readBody, serve } from "../server.ts";
import { FAULTS_PROTO } from "./fault.ts";

const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
const LEFT_TIMEOUT_MS = 5_000;

interface Moment {
  readonly name: string;
  /** How long after a message the backend sends the next; undefined: never. */
  readonly everyMs?: number;
  leave(socket: Socket): void;
}

const MOMENTS: readonly Moment[] = [
  { name: "with a reset, while nothing comes", leave: (socket) => socket.resetAndDestroy() },
  // Who closes may still read, for all that TCP says: only what is written to them finds out.
  { name: "by closing, while messages come", everyMs: 20, leave: (socket) => socket.destroy() },
];

let everyMs: number | undefined;
/** The answer of the backend, begun; it never ends. */
let begun = Promise.withResolvers<ServerResponse>();
const backend = await serve(async (request, response) => {
  await readBody(request);
  response.writeHead(200, { "content-type": "application/connect+proto" });
  response.write(MESSAGE);
  const timer = everyMs === undefined ? undefined : setInterval(() => response.write(MESSAGE), everyMs);
  response.on("close", () => clearInterval(timer));
  begun.resolve(response);
});
const { set } = await readDescriptors(FAULTS_PROTO);
const WORKER = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
const OPTIONS = { backends: { "*": { url: backend.url } }, rpc: "all" } as const;
const flagged = await startWorkerd(WORKER, set, [OPTIONS]);
const plain = await startWorkerd(WORKER, set, [OPTIONS], []);
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
process.on("unhandledRejection", note);
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await Promise.all([flagged.stop(), plain.stop()]);
  await backend[Symbol.asyncDispose]();
});

/** Takes the first message of a stream and goes; the backend's call must break off. */
async function leaveAfterFirst(port: number | undefined, accept: string, moment: Moment): Promise<void> {
  begun = Promise.withResolvers();
  everyMs = moment.everyMs;
  const request = http.get(`http://127.0.0.1:${port}/v1/list`, { headers: { accept }, agent: false });
  request.on("error", () => undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  await once(response, "data");
  const answer = await begun.promise;
  const closed = once(answer, "close", { signal: AbortSignal.timeout(LEFT_TIMEOUT_MS) });
  moment.leave(response.socket);
  await closed;
  expect(answer.writableFinished).toBe(false);
}

const TYPES = ["application/json", "application/x-ndjson", "text/event-stream"];
const LEAVING = MOMENTS.flatMap((moment) => TYPES.map((accept) => ({ ...moment, accept })));

describe("BUG-202: who leaves amid a stream ends the backend's call", () => {
  it.each(LEAVING)("$accept, $name", async ({ accept, ...moment }) => {
    await leaveAfterFirst(flagged.ports[0], accept, moment);
    expect(flagged.log()).not.toMatch(/unhandled|uncaught/i);
  });
});

describe("BUG-203: also where the runtime has no signal of a request", () => {
  it.each(LEAVING)("$accept, $name", async ({ accept, ...moment }) => {
    await leaveAfterFirst(plain.ports[0], accept, moment);
  });
});

describe("BUG-205: breaking a stream off leaves no rejection that nobody handles", () => {
  const reasons: readonly [string, (controller: AbortController, reader: ReadableStreamDefaultReader) => unknown][] = [
    ["the signal", (controller) => controller.abort()],
    ["the signal, for a reason", (controller) => controller.abort(new Error("gone"))],
    ["the reader", (_, reader) => reader.cancel()],
    [
      "both",
      (controller, reader) => {
        controller.abort();
        return reader.cancel().catch(() => undefined);
      },
    ],
  ];
  it.each(reasons.flatMap((reason) => TYPES.map((type) => [...reason, type] as const)))(
    "%s, %s, %s",
    async (_, leave, accept) => {
      vi.spyOn(console, "error").mockReturnValue();
      begun = Promise.withResolvers();
      const controller = new AbortController();
      const gateway = gatewayOf(backend.url, { schema: set, rpc: "all" });
      const request = new Request("http://gateway.example/v1/list", { headers: { accept }, signal: controller.signal });
      const reader = (await gateway.fetch(request)).body?.getReader();
      if (!reader) throw new Error("no body");
      await reader.read();
      const response = await begun.promise;
      const closed = once(response, "close", { signal: AbortSignal.timeout(LEFT_TIMEOUT_MS) });
      leave(controller, reader);
      await closed;
      await reader.read().catch(() => undefined);
      // Rejections are told of after the microtasks.
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(unhandled).toEqual([]);
    },
  );
});
