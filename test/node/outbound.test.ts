/** The dev server in front of grpc-js: Connect and REST come in, and workerd's fetches go over the bridge. */
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevServer, startDevServer } from "../../src/node/dev.ts";
import { serve, type TestServer } from "../server.ts";
import { type GrpcBackend, noteSet, startGrpcBackend } from "./grpc-backend.ts";
import { collect, failureOf, type Notes, noteService, several, until } from "./notes.ts";

let backend: GrpcBackend;
let other: TestServer;
let server: DevServer;
let notes: Notes;
const log: string[] = [];

beforeAll(async () => {
  backend = await startGrpcBackend();
  // For what is no gRPC fetch goes on as if nothing were in between: redirects, coding, type.
  other = await serve(
    connectNodeAdapter({ routes: (router) => router.service(noteService, { echo: (note: object) => note } as never) }),
  );
  server = await start({ "*": { url: `http://127.0.0.1:${backend.port}`, protocol: "grpc" } });
  notes = createClient(
    noteService as never,
    createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
  ) as never;
}, 30_000);

afterAll(async () => {
  await server.close();
  backend.stop();
  await other[Symbol.asyncDispose]();
});

function start(backends: object): Promise<DevServer> {
  return startDevServer({
    schema: noteSet,
    variables: { ISTHMUS_BACKENDS: JSON.stringify(backends), ISTHMUS_RPC: "all" },
    host: "127.0.0.1",
    port: 0,
    warn: (message) => log.push(message),
    log: (message) => log.push(message),
  });
}

test("all four kinds of call", async () => {
  expect(await notes.echo({ text: "ä☕" })).toMatchObject({ text: "ä☕" });
  expect((await collect(notes.list({ count: 50, size: 100 }))).map(({ count }) => count)).toHaveLength(50);
  const sent = Array.from({ length: 20 }, () => ({ data: new Uint8Array(1000) }));
  expect(await notes.collect(several(...sent))).toMatchObject({ count: 20, size: 20_000 });
  const answers = await collect(notes.talk(several({ text: "a" }, { text: "b" })));
  expect(answers.map(({ text }) => text)).toEqual(["a", "b"]);
  expect(log).toEqual([]);
});

test("messages of 4 MB, metadata, and an error with its details", async () => {
  const data = new Uint8Array(4_000_000).fill(7);
  let header = new Headers();
  const onHeader = (fields: Headers) => {
    header = fields;
  };
  const answer = await notes.echo({ data }, { headers: { "x-ask": "a", "x-ask-bin": "AP8K" }, onHeader });
  expect(Buffer.compare(answer.data, data)).toBe(0);
  expect([header.get("x-answer"), header.get("x-answer-bin")]).toEqual(["a", "AP8K"]);
  const error = await failureOf(notes.echo({ text: "fail" }));
  expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "not yet ☕" });
  expect(error.details).toMatchObject([{ type: "note.v1.Note" }]);
});

/** A plain close is a half-close to workerd: it takes the caller for gone when it writes, or at a reset. */
function leave(request: http.ClientRequest): void {
  request.socket?.resetAndDestroy();
}

function callConnect(method: string, type: string, body: string | Buffer): http.ClientRequest {
  const request = http.request(`${server.url}/note.v1.Notes/${method}`, {
    method: "POST",
    headers: { "content-type": type },
    agent: false,
  });
  request.on("error", () => {}).write(body);
  return request;
}

test("callers who leave, and calls that are late, leave nothing open", async () => {
  const late = await failureOf(notes.echo({ text: "hang" }, { timeoutMs: 300 }));
  expect(late.code).toBe(Code.DeadlineExceeded);
  await until(() => backend.seen.open === 0);

  const unary = callConnect("Echo", "application/json", '{"text":"hang"}');
  unary.end();
  await until(() => backend.seen.open === 1);
  leave(unary);
  await until(() => backend.seen.open === 0);

  // count: 1, text: "hang"
  const list = Buffer.from([0, 0, 0, 0, 8, 0x18, 1, 0x0a, 4, 104, 97, 110, 103]);
  const stream = callConnect("List", "application/connect+proto", list);
  stream.end();
  const response = await new Promise<http.IncomingMessage>((resolve) => stream.on("response", resolve));
  await new Promise((resolve) => response.on("error", () => {}).once("data", resolve));
  expect(backend.seen.open).toBe(1);
  leave(stream);
  await until(() => backend.seen.open === 0);

  const upload = callConnect("Collect", "application/connect+proto", Buffer.from([0, 0, 0, 0, 2, 0x18, 1]));
  await until(() => backend.seen.open === 1);
  leave(upload);
  await until(() => backend.seen.open === 0);
});

test("a slow reader stops the backend", async () => {
  const before = backend.seen.bytes;
  // count: 200, size: 1 MiB
  const list = Buffer.from([0, 0, 0, 0, 7, 0x18, 0xc8, 0x01, 0x20, 0x80, 0x80, 0x40]);
  const request = callConnect("List", "application/connect+proto", list);
  request.end();
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on("response", resolve));
  await sleep(1500);
  const written = backend.seen.bytes - before;
  expect(written).toBeLessThan(64 << 20);
  await sleep(500);
  expect(backend.seen.bytes - before).toBe(written);
  response.on("error", () => {});
  leave(request);
  await until(() => backend.seen.open === 0);
});

test("beside a backend that speaks Connect; and why others do not answer", { timeout: 40_000 }, async () => {
  log.length = 0;
  const both = await start({
    "note.v1.Notes": { url: other.url },
    "*": { url: "http://127.0.0.1:1", protocol: "grpc" },
  });
  try {
    const response = await fetch(`${both.url}/note.v1.Notes/Echo`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"text":"x"}',
    });
    expect([response.status, await response.json()]).toEqual([200, { text: "x" }]);
    await until(() => log.length > 0);
    expect(log).toEqual(["backend http://127.0.0.1:1: nobody listens there (connection refused)"]);
  } finally {
    await both.close();
  }
});
