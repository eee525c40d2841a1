/**
 * Secrets as canaries: no byte of one call shows in the answer, the error or the backend request of another, whatever the
 * kinds of calls around it are, and however those end.
 */
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { serve } from "srvx";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { useWasm } from "../../src/codec/wasm-engine.ts";
import { createGateway } from "../../src/gateway.ts";
import { wasmModule } from "../wasm.ts";
import { type Arrival, echo, messageOf, openBackend, openGateways, set } from "./gateway.ts";

const CALLS = 1_500;
const AT_ONCE = 64;

const backend = await openBackend();
const OPTIONS = [
  { forms: true, emitDefaults: true },
  { forms: true, backends: { "*": { url: backend.url, protocol: "grpc-web" } } },
  { forms: true, readMaxBytes: 65_536 },
] as const;
const workerd = await openGateways(backend, OPTIONS);
afterAll(() => useWasm(undefined));

/** In this process. @returns their ports. */
async function openInNode(engine: WebAssembly.Module | undefined): Promise<readonly number[]> {
  useWasm(engine);
  return Promise.all(
    OPTIONS.map(async (options) => {
      const gateway = createGateway({
        schema: set,
        rpc: "all",
        backends: { "*": { url: backend.url } },
        warn() {},
        ...options,
      });
      const server = serve({ fetch: gateway.fetch, hostname: "127.0.0.1", port: 0, silent: true });
      onTestFinished(() => server.close(true));
      await server.ready();
      return Number(server.url?.split(":").at(2)?.replace("/", ""));
    }),
  );
}

/** Connections go from one call to the next, as those of a proxy would. */
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(() => agent.destroy());

const SECRET = /canary-[0-9a-f]{8}/g;
const secretsIn = (...texts: readonly string[]) => new Set(texts.join("\n").match(SECRET) ?? []);

/** Numbers that are the same in each run: mulberry32. */
function sampler(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** What comes of a call. */
type Ending = "ok" | "refused" | "failed" | "left";

interface Kind {
  /** The status of a whole answer; undefined: the caller leaves before. */
  readonly status?: number;
  readonly ending: Ending;
  send(secret: string, length: number): Sent;
}

const json = { "content-type": "application/json" };
const textOf = (secret: string, length: number) => `${secret}${"x".repeat(length)}${secret}`;
const wireOf = (text: string) => {
  const bytes = Buffer.from(text);
  const size = [(bytes.length & 0x7f) | 0x80, ((bytes.length >> 7) & 0x7f) | 0x80, bytes.length >> 14];
  return Buffer.concat([Uint8Array.of(0x0a, ...size), bytes]);
};
const envelope = (data: Uint8Array | string) =>
  Buffer.from(encodeEnvelope(0, typeof data === "string" ? Buffer.from(data) : data));
const post = (path: string, type: string, body: string | Buffer): Sent => ({
  path,
  method: "POST",
  headers: { "content-type": type },
  body,
});

const KINDS: Readonly<Record<string, Kind>> = {
  path: { status: 200, ending: "ok", send: (secret) => ({ path: `/one/${secret}` }) },
  query: {
    status: 200,
    ending: "ok",
    send: (secret) => ({ path: `/things?text=${secret}&list=${secret}&thing.text=${secret}` }),
  },
  "JSON for the fast engines": {
    status: 200,
    ending: "ok",
    send: (secret, length) =>
      post("/things", "application/json", JSON.stringify({ text: textOf(secret, length), list: [secret] })),
  },
  "JSON for the careful engine": {
    status: 200,
    ending: "ok",
    // Keys that are escaped, a type that comes last, a Struct.
    send: (secret, length) =>
      post(
        "/things",
        "application/json",
        `{"\\u0074ext":"${textOf(secret, length)}","any":{"id":"${secret}","@type":"type.googleapis.com/callers.v1.Id"},"struct":{"${secret}":["${secret}"]}}`,
      ),
  },
  "a form": {
    status: 200,
    ending: "ok",
    send: (secret, length) =>
      post(
        "/things",
        "multipart/form-data; boundary=b",
        `--b\r\nContent-Disposition: form-data; name=text\r\n\r\n${textOf(secret, length)}\r\n--b--\r\n`,
      ),
  },
  compressed: {
    status: 200,
    ending: "ok",
    send: (secret, length) => ({
      path: "/things",
      method: "POST",
      headers: { ...json, "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify({ text: textOf(secret, length) })),
    }),
  },
  upload: {
    status: 200,
    ending: "ok",
    send: (secret, length) => post("/raw", `text/plain; x=${secret}`, textOf(secret, length)),
  },
  lines: {
    status: 200,
    ending: "ok",
    send: (secret) => post("/collect", "application/x-ndjson", `{"text":"${secret}"}\n`.repeat(3)),
  },
  "an answer in lines": {
    status: 200,
    ending: "ok",
    send: (secret) => ({ path: `/list?text=${secret}`, headers: { accept: "application/x-ndjson" } }),
  },
  "an answer as events": {
    status: 200,
    ending: "ok",
    send: (secret) => ({ path: `/list?text=${secret}`, headers: { accept: "text/event-stream" } }),
  },
  Connect: {
    status: 200,
    ending: "ok",
    send: (secret, length) =>
      post("/callers.v1.Things/Set", "application/json", JSON.stringify({ text: textOf(secret, length) })),
  },
  "Connect in binary": {
    status: 200,
    ending: "ok",
    send: (secret, length) => post("/callers.v1.Things/Set", "application/proto", wireOf(textOf(secret, length))),
  },
  "Connect stream": {
    status: 200,
    ending: "ok",
    send: (secret) =>
      post(
        "/callers.v1.Things/Talk",
        "application/connect+json",
        Buffer.concat([1, 2, 3].map(() => envelope(`{"text":"${secret}"}`))),
      ),
  },
  "gRPC-Web": {
    status: 200,
    ending: "ok",
    send: (secret, length) =>
      post("/callers.v1.Things/Set", "application/grpc-web+proto", envelope(wireOf(textOf(secret, length)))),
  },
  "an unknown field": {
    status: 400,
    ending: "refused",
    send: (secret, length) => post("/things", "application/json", `{"text":"${textOf(secret, length)}","${secret}":1}`),
  },
  "JSON that breaks": {
    status: 400,
    ending: "refused",
    send: (secret, length) => post("/things", "application/json", `{"text":"${textOf(secret, length)}`),
  },
  "no such enum": {
    status: 400,
    ending: "refused",
    send: (secret) => post("/things", "application/json", `{"kind":"${secret}"}`),
  },
  "no such path": { status: 404, ending: "refused", send: (secret) => ({ path: `/nowhere/${secret}` }) },
  "no such parameter": { status: 400, ending: "refused", send: (secret) => ({ path: `/things?${secret}=1` }) },
  "no such type": { status: 415, ending: "refused", send: (secret) => post("/things", `text/${secret}`, secret) },
  "no message at all": {
    status: 400,
    ending: "refused",
    send: (secret) => post("/callers.v1.Things/Set", "application/json", `["${secret}"]`),
  },
  "a backend that fails": {
    status: 404,
    ending: "failed",
    send: (secret) => ({ path: `/one/${secret}`, headers: { "x-act": "fail" } }),
  },
  "a backend that breaks off": {
    status: 500,
    ending: "failed",
    send: (secret) => ({ path: `/one/${secret}`, headers: { "x-act": "break" } }),
  },
  "left before the answer": {
    ending: "left",
    send: (secret) => ({ path: `/one/${secret}`, headers: { "x-act": "hang" } }),
  },
  "left amid the answer": {
    ending: "left",
    send: (secret) => ({ path: `/list?text=${secret}`, headers: { accept: "text/event-stream", "x-act": "stream" } }),
  },
  "left amid the body": {
    ending: "left",
    send: (secret, length) => ({
      ...post("/things", "application/json", `{"text":"${textOf(secret, length)}`),
      headers: { ...json, "content-length": length + 10_000 },
    }),
  },
};

/** Answers after a while, with the secret of the header in a header, and what was sent. */
const answer = async (arrival: Arrival, response: http.ServerResponse) => {
  const { "x-secret": secret = "", "x-act": act } = arrival.headers;
  const type = arrival.headers["content-type"] ?? "";
  await sleep(chance(15));
  response.setHeader("x-echo", secret);
  if (act === "hang") return;
  if (act === "break") {
    response.writeHead(200, { "content-type": type, "content-length": 60_000 }).write(String(secret));
    setTimeout(() => response.destroy(), 5);
    return;
  }
  if (act === "fail") {
    const status = type.includes("grpc-web")
      ? { "content-type": type, "grpc-status": "5", "grpc-message": `no ${secret}` }
      : { "content-type": "application/json" };
    response.writeHead(type.includes("grpc-web") ? 200 : 404, status);
    response.end(type.includes("grpc-web") ? "" : JSON.stringify({ code: "not_found", message: `no ${secret}` }));
    return;
  }
  if (act === "stream") {
    response.writeHead(200, { "content-type": type });
    const timer = setInterval(() => response.write(envelope(wireOf(`${secret}`))), 5);
    response.on("close", () => clearInterval(timer));
    return;
  }
  echo(arrival, response);
};
const chance = sampler(7);

interface Result {
  readonly kind: string;
  readonly secret: string;
  readonly status: number | undefined;
  /** Head and body. */
  readonly text: string;
}

async function call(kind: string, secret: string, port: number, length: number): Promise<Result> {
  const { ending, send } = KINDS[kind] as Kind;
  const { path, method = "GET", headers, body } = send(secret, length);
  const request = http.request({
    host: "127.0.0.1",
    port,
    path,
    method,
    headers: { "x-secret": secret, ...headers },
    agent: ending === "left" ? false : agent,
  });
  request.on("error", () => undefined);
  if (ending === "left") {
    if (body) request.write(body);
    else request.end();
    await sleep(10 + chance(30));
    request.destroy();
    return { kind, secret, status: undefined, text: "" };
  }
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = `${response.rawHeaders.join("\n")}\n`;
  for await (const chunk of response) text += (chunk as Buffer).toString("latin1");
  return { kind, secret, status: response.statusCode, text };
}

async function callAll(count: number, port: () => number): Promise<Result[]> {
  const names = Object.keys(KINDS);
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < count; n = next++) {
      const secret = `canary-${n.toString(16).padStart(8, "0")}`;
      // Large ones and small ones in turn: what is left of one in a buffer would be behind the other.
      const length = [0, 10, 1_000, 50_000][chance(4)] ?? 0;
      results.push(await call(names[chance(names.length)] ?? "path", secret, port(), length));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Over a WebSocket of its own: its secret goes there and back. */
async function talk(secret: string, port: number, leaves: boolean): Promise<readonly string[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/talk`);
  const came: string[] = [];
  socket.addEventListener("message", ({ data }) => came.push(String(data)));
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  for (let i = 0; i < 3; i++) socket.send(JSON.stringify({ text: secret }));
  if (leaves) socket.close();
  else socket.send("");
  await closed;
  return came;
}

describe("no call sees anything of another", () => {
  test.each([
    ["workerd", async () => workerd.ports, 60],
    // There are no WebSockets.
    ["Node, with the engine in WebAssembly", () => openInNode(wasmModule), 0],
    ["Node, with the engine in TypeScript", () => openInNode(undefined), 0],
  ] as const)(
    "of every kind, at once, before Connect and gRPC-Web, in %s",
    { timeout: 60_000 },
    async (_, open, count) => {
      const ports = await open();
      backend.answer = answer;
      const log = vi.spyOn(console, "error").mockReturnValue();
      const sockets = Array.from({ length: count }, async (_, i) => {
        const secret = `canary-5000${i.toString(16).padStart(4, "0")}`;
        await sleep(20 * i);
        return { secret, came: await talk(secret, ports[i % 2] ?? 0, i % 3 === 0), leaves: i % 3 === 0 };
      });
      const results = await callAll(CALLS, () => ports[chance(ports.length)] ?? 0);

      log.mockRestore();

      const seen = new Map<string, number>();
      for (const { kind, secret, status, text } of results) {
        const { ending, status: expected } = KINDS[kind] as Kind;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        expect([kind, secret, status, text.slice(0, 300)]).toEqual([kind, secret, expected, text.slice(0, 300)]);
        const found = secretsIn(text);
        found.delete(secret);
        expect([kind, [...found]]).toEqual([kind, []]);
        // What a whole answer must have of its own, so that the search is known to find.
        if (ending === "ok")
          expect(text.match(SECRET)?.length ?? 0, `${kind}: ${text.slice(0, 300)}`).toBeGreaterThan(1);
      }
      expect([...seen.keys()].sort()).toEqual(Object.keys(KINDS).sort());

      for (const { secret, came, leaves } of await Promise.all(sockets)) {
        expect([...secretsIn(...came)]).toEqual(leaves && came.length === 0 ? [] : [secret]);
      }

      for (const arrival of backend.arrivals) {
        const found = secretsIn(JSON.stringify(arrival.headers), arrival.url, arrival.body.toString("latin1"));
        // A socket whose caller has left may have brought none.
        expect([arrival.url, found.size]).toEqual([arrival.url, arrival.isWhole ? 1 : Math.min(found.size, 1)]);
      }
      // Refused ones reach nobody.
      const reached = new Set(backend.arrivals.map(({ headers }) => String(headers["x-secret"])));
      const strays = results.filter(({ kind, secret }) => KINDS[kind]?.ending === "refused" && reached.has(secret));
      expect(strays).toEqual([]);
      expect(backend.arrivals.filter(({ isWhole }) => isWhole).every((one) => messageOf(one) !== undefined)).toBe(true);
      expect(workerd.log()).not.toMatch(/unhandled/i);
    },
  );
});
