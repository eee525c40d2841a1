/**
 * Calls that end before their time, through the gateway in raw workerd and in Node: whoever leaves, whichever moment, the
 * other side learns of it and nothing stays open. Both peers are written by hand, so that every moment is known.
 */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readBody, serve } from "../server.ts";
import { RUNTIMES, startGateways } from "./gateways.ts";
import { type Codec, endOf, type Protocol, readOutcome, readRestOutcome, typeOf } from "./outcome.ts";
import { collect, set, watch } from "./schema.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

let answer: (exchange: Exchange) => unknown = () => undefined;
/** Calls of the backend that have neither ended nor broken. */
const open = new Set<Exchange>();
const backend = await serve((request, response) => {
  const exchange = { request, response };
  open.add(exchange);
  response.on("close", () => open.delete(exchange));
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  answer(exchange);
});

const UPSTREAMS: readonly Protocol[] = ["connect", "grpc-web"];
const gateways = await startGateways(
  set,
  UPSTREAMS.map((protocol) => ({ backends: { "*": { url: backend.url, protocol } } })),
);
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
process.on("unhandledRejection", note);
// The gateway in Node tells of backends that fail.
beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await gateways.stop();
  await backend[Symbol.asyncDispose]();
});

const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
/** field 4, bytes. */
const LARGE = encodeEnvelope(0, Uint8Array.of(0x22, 0x80, 0x80, 4, ...new Uint8Array(65_536)));

interface Caller {
  readonly request: http.ClientRequest;
  /** Rejects when there is none. */
  readonly response: Promise<IncomingMessage>;
}

interface Client {
  readonly name: string;
  /** The upstream protocol for which its bodies pass untouched. */
  readonly passes?: Protocol;
  readonly header: Readonly<Record<string, string>>;
  /** The deadline as a header field. */
  timeout(timeoutMs: number): Readonly<Record<string, string>>;
  path(method: typeof watch | typeof collect): string;
  readonly message: Uint8Array;
  outcome(response: IncomingMessage): Promise<string>;
}

function rpcClient(protocol: Protocol, codec: Codec): Client {
  return {
    name: `${protocol} ${codec}`,
    ...(codec === "proto" && { passes: protocol }),
    header: { "content-type": typeOf(protocol, codec) },
    timeout: (ms) => (protocol === "connect" ? { "connect-timeout-ms": `${ms}` } : { "grpc-timeout": `${ms}m` }),
    path: ({ name }) => `/matrix.v1.Matrix/${name}`,
    message: codec === "proto" ? MESSAGE : encodeEnvelope(0, Buffer.from('{"text":"a"}')),
    outcome: (response) => readOutcome(response, protocol),
  };
}

/** Untouched, re-framed, and transcoded. */
const CLIENTS: readonly Client[] = [
  rpcClient("connect", "proto"),
  rpcClient("grpc-web", "proto"),
  rpcClient("connect", "json"),
  {
    name: "REST",
    header: { "content-type": "application/x-ndjson", accept: "application/x-ndjson, application/json;q=0.5" },
    timeout: (ms) => ({ "x-server-timeout": String(ms / 1_000) }),
    path: ({ name }) => `/v1/${name.toLowerCase()}`,
    message: Buffer.from('{"text":"a"}\n'),
    outcome: readRestOutcome,
  },
];

function call(url: string, client: Client, path: string, timeoutMs?: number): Caller {
  // A message, not a stream of them, has no lines.
  const type = path === "/v1/watch" && { "content-type": "application/json" };
  const headers = { ...client.header, ...type, ...(timeoutMs !== undefined && client.timeout(timeoutMs)) };
  const request = http.request(url + path, { method: "POST", headers, agent: false });
  const response = once(request, "response").then(([one]) => one as IncomingMessage);
  response.catch(() => undefined);
  request.on("error", () => undefined);
  request.write(client.message);
  return { request, response };
}

/** What has been going on when the call ends, and what it takes to get there. */
interface Moment {
  readonly name: string;
  readonly method: typeof watch | typeof collect;
  /** The backend's part. Resolves when the moment has come for it. */
  backend(exchange: Exchange, protocol: Protocol): Promise<unknown>;
  /** The caller's part. */
  caller(caller: Caller): Promise<unknown>;
  /** The answer has begun. */
  readonly answered: boolean;
}

function begin({ response }: Exchange, protocol: Protocol): void {
  response.writeHead(200, { "content-type": typeOf(protocol) });
  response.write(MESSAGE);
}

const MOMENTS: readonly Moment[] = [
  {
    name: "before the answer",
    method: watch,
    backend: ({ request }) => readBody(request),
    caller: async ({ request }) => request.end(),
    answered: false,
  },
  {
    name: "amid an upload",
    method: collect,
    backend: ({ request }) => once(request, "data"),
    caller: async () => undefined,
    answered: false,
  },
  {
    name: "amid an answer that pauses",
    method: watch,
    backend: async (exchange, protocol) => begin(exchange, protocol),
    async caller({ request, response }) {
      request.end();
      const answer = await response;
      await new Promise<void>((resolve) => {
        answer.once("data", () => {
          answer.pause();
          resolve();
        });
      });
    },
    answered: true,
  },
  {
    name: "while the caller does not read",
    method: watch,
    async backend(exchange, protocol) {
      begin(exchange, protocol);
      // Until nobody takes more.
      for (;;) {
        if (exchange.response.write(LARGE)) continue;
        const drained = await Promise.race([once(exchange.response, "drain"), sleep(150)]).catch(() => undefined);
        if (!drained) return;
      }
    },
    async caller({ request, response }) {
      request.end();
      (await response).pause();
    },
    answered: true,
  },
];

const PATHS = UPSTREAMS.flatMap((upstream, i) => CLIENTS.map((client) => ({ client, upstream, i })));

for (const runtime of RUNTIMES) {
  for (const { client, upstream, i } of PATHS) {
    const passes = client.passes === upstream;
    describe(`${client.name} to ${upstream} through ${runtime}`, () => {
      for (const moment of MOMENTS) {
        /** A call at its moment. */
        async function reach(timeoutMs?: number): Promise<{ caller: Caller; exchange: Exchange }> {
          const reached = Promise.withResolvers<Exchange>();
          answer = (exchange) =>
            moment.backend(exchange, upstream).then(
              () => reached.resolve(exchange),
              () => undefined,
            );
          const caller = call(gateways.url(runtime, i), client, client.path(moment.method), timeoutMs);
          await moment.caller(caller);
          return { caller, exchange: await reached.promise };
        }
        const nothingOpen = () => vi.waitFor(() => expect(open.size).toBe(0), { timeout: 5_000, interval: 20 });

        it(`the caller leaves ${moment.name}: the backend's call is cancelled`, async () => {
          const { caller, exchange } = await reach();
          expect(open.size).toBe(1);
          caller.request.socket?.resetAndDestroy();
          await nothingOpen();
          if (moment.name === "amid an upload") expect(exchange.request.complete).toBe(false);
          expect(exchange.response.writableFinished).toBe(false);
          expect(unhandled).toEqual([]);
        });

        it(`the deadline passes ${moment.name}: both sides learn of it`, async () => {
          const { caller, exchange } = await reach(400);
          await nothingOpen();
          expect(exchange.response.writableFinished).toBe(false);
          const outcome = await client.outcome(await caller.response);
          // The last record of an untouched body is the backend's to write.
          expect(outcome).toBe(moment.answered && passes ? "broken" : "deadline_exceeded");
          caller.request.destroy();
          expect(unhandled).toEqual([]);
        });

        it(`the backend dies ${moment.name}: the caller is told`, async () => {
          const { caller, exchange } = await reach();
          exchange.response.socket?.resetAndDestroy();
          const outcome = await client.outcome(await caller.response);
          expect(outcome).toBe(moment.answered ? (passes ? "broken" : "internal") : "unavailable");
          caller.request.destroy();
          await nothingOpen();
          expect(unhandled).toEqual([]);
        });
      }

      it("an answer that comes before the upload has ended is whole, and ends the upload", async () => {
        answer = async ({ request, response }) => {
          await once(request, "data");
          begin({ request, response }, upstream);
          response.end(endOf(upstream));
        };
        const caller = call(gateways.url(runtime, i), client, client.path(collect));
        expect(await client.outcome(await caller.response)).toBe("ok");
        caller.request.destroy();
        await vi.waitFor(() => expect(open.size).toBe(0));
        expect(unhandled).toEqual([]);
      });
    });
  }
}
