/** WebSockets in raw workerd, opened by Node's own client, in front of a connect-node backend. */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { encodeEnvelope, transformSplitEnvelope } from "@connectrpc/connect/protocol";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, expect, test } from "vitest";
import { startWorkerd } from "../cases/workerd.ts";
import { compileSet } from "../proto.ts";
import { serve } from "../server.ts";

const set = await compileSet(`
  syntax = "proto3";
  package chat.v1;
  import "google/api/annotations.proto";
  service Chat {
    rpc Talk(stream Line) returns (stream Line) { option (google.api.http) = {post: "/v1/rooms/{room}:talk" body: "*"}; }
    rpc Collect(stream Line) returns (Count) { option (google.api.http) = {post: "/v1/lines" body: "*"}; }
    rpc Watch(Line) returns (stream Line) { option (google.api.http) = {get: "/v1/rooms/{room}:watch"}; }
    rpc Follow(Line) returns (stream Line) { option (google.api.http) = {post: "/v1/follow" body: "*"}; }
    rpc Say(Line) returns (Line) { option (google.api.http) = {get: "/v1/say"}; }
  }
  message Line { string room = 1; string text = 2; int64 number = 3; }
  message Count { int32 lines = 1; }
`);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
const Line = registry.getMessage("chat.v1.Line") as DescMessage;
const service = registry.getService("chat.v1.Chat");
if (!service) throw new Error("no service");

/** Messages here have no generated types. */
type Dynamic = MessageInitShape<DescMessage> & { room?: string; text?: string };

let openCalls = 0;
let seen: { readonly room: string; readonly text: string }[] = [];

async function* counted<T>(context: HandlerContext, body: () => AsyncIterable<T>): AsyncGenerator<T> {
  openCalls++;
  try {
    if (context.signal.aborted) return;
    yield* body();
  } finally {
    openCalls--;
  }
}

const adapter = connectNodeAdapter({
  routes: (router) => {
    router.service(service, {
      async collect(lines: AsyncIterable<Dynamic>) {
        let count = 0;
        for await (const _ of lines) count++;
        return { lines: count };
      },
      async *watch({ room }: Dynamic, context: HandlerContext) {
        yield* counted(context, async function* () {
          yield { text: `${room} 1` };
          if (room === "endless") await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
          yield { text: `${room} 2` };
        });
      },
      async *follow({ text }: Dynamic) {
        yield { text: `after ${text}` };
      },
      say: ({ text }: Dynamic) => ({ text: `said ${text}` }),
    } as object);
  },
});

/** Answers line by line. connect-node would hold its answers back until the request has ended, over HTTP/1.1. */
async function talk(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const type = request.headers["content-type"] ?? "";
  response.writeHead(200, { "content-type": type });
  response.flushHeaders();
  openCalls++;
  response.on("close", () => openCalls--);
  const lines = transformSplitEnvelope(1000)(request);
  try {
    for await (const { data } of lines) {
      const { room, text } = fromBinary(Line, data) as unknown as { room: string; text: string };
      seen.push({ room, text });
      if (text === "fail") {
        const error = { code: "failed_precondition", message: "é".repeat(100) };
        response.end(encodeEnvelope(2, new TextEncoder().encode(JSON.stringify({ error }))));
        return;
      }
      const answer = create(Line, { room, text: text.toUpperCase(), number: 9007199254740993n } as Dynamic);
      response.write(encodeEnvelope(0, toBinary(Line, answer)));
    }
    const [flags, end] = type.includes("grpc-web") ? [0x80, "grpc-status: 0\r\n"] : [0x02, "{}"];
    response.end(encodeEnvelope(flags, new TextEncoder().encode(end)));
  } catch {
    // The caller has left.
    response.destroy();
  }
}

const backend = await serve((request, response) =>
  request.url?.endsWith("/Talk") ? talk(request, response) : adapter(request, response),
);
const worker = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
const workerd = await startWorkerd(worker, set, [
  { backends: { "*": { url: backend.url } }, readMaxBytes: 1000, cors: { allowOrigins: ["https://app.example"] } },
  { backends: { "*": { url: backend.url, protocol: "grpc-web" } }, timeoutMs: 300 },
]);
afterAll(async () => {
  await workerd.stop();
  await backend[Symbol.asyncDispose]();
});

interface Closed {
  readonly code: number;
  readonly reason: string;
}

interface Client {
  readonly socket: WebSocket;
  readonly closed: Promise<Closed>;
  /** The next frame; a string for text. Undefined once the socket is closed. */
  next(): Promise<string | ArrayBuffer | undefined>;
}

async function open(path: string, protocols: string[] = [], gateway = 0): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${workerd.ports[gateway]}${path}`, protocols);
  socket.binaryType = "arraybuffer";
  const frames: (string | ArrayBuffer)[] = [];
  let wake: () => void = () => undefined;
  let isClosed = false;
  socket.addEventListener("message", ({ data }) => {
    frames.push(data);
    wake();
  });
  const closed = new Promise<Closed>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => {
      isClosed = true;
      resolve({ code, reason });
      wake();
    });
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("no socket")));
  });
  return {
    socket,
    closed,
    async next() {
      while (frames.length === 0 && !isClosed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return frames.shift();
    },
  };
}

/** What an upgrade is answered with that gets no socket. */
async function refused(path: string, headers: Record<string, string> = {}): Promise<{ status?: number; body: string }> {
  const request = http.get({
    host: "127.0.0.1",
    port: workerd.ports[0],
    path,
    agent: false,
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: "" });
    });
    request.on("response", async (response) => {
      let body = "";
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, body });
    });
  });
}

const json = async (client: Client): Promise<unknown> => JSON.parse(String(await client.next()));

async function untilClosed(): Promise<void> {
  while (openCalls > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

test.each([0, 1])("a two-way stream answers each message before the next is sent (gateway %d)", async (gateway) => {
  seen = [];
  const client = await open("/v1/rooms/blue:talk", [], gateway);
  for (const text of ["a", "b"]) {
    client.socket.send(JSON.stringify({ text }));
    expect(await json(client)).toMatchObject({ text: text.toUpperCase(), number: "9007199254740993" });
  }
  client.socket.send("");
  expect(await client.closed).toEqual({ code: 1000, reason: "" });
  expect(seen).toEqual([
    { room: "blue", text: "a" },
    { room: "", text: "b" },
  ]);
});

test("an RPC path takes the whole message", async () => {
  const client = await open("/chat.v1.Chat/Talk");
  client.socket.send('{"room":"r","text":"x"}');
  expect(await json(client)).toEqual({ room: "r", text: "X", number: "9007199254740993" });
  client.socket.close();
  await untilClosed();
});

test("binary frames are wire; the subprotocol says how answers are written", async () => {
  const client = await open("/chat.v1.Chat/Talk", ["proto"]);
  expect(client.socket.protocol).toBe("proto");
  client.socket.send(toBinary(Line, create(Line, { text: "x" } as Dynamic)));
  const answer = fromBinary(Line, new Uint8Array((await client.next()) as ArrayBuffer));
  expect(answer).toMatchObject({ text: "X", number: 9007199254740993n });
  client.socket.send("");
  expect((await client.closed).code).toBe(1000);
});

test("a subprotocol that is offered is chosen, or none", async () => {
  const { socket } = await open("/chat.v1.Chat/Talk", ["other", "json"]);
  expect(socket.protocol).toBe("json");
  socket.close();
  // This client, like browsers, wants one of those that it has offered.
  await expect(open("/chat.v1.Chat/Talk", ["other"])).rejects.toThrow();
  await untilClosed();
});

test("one answer for many messages", async () => {
  const client = await open("/v1/lines");
  for (let i = 0; i < 5; i++) client.socket.send("{}");
  client.socket.send("");
  expect(await json(client)).toEqual({ lines: 5 });
  expect((await client.closed).code).toBe(1000);
});

test("a route without a body needs no message", async () => {
  const client = await open("/v1/rooms/red:watch");
  expect(await json(client)).toEqual({ text: "red 1" });
  expect(await json(client)).toEqual({ text: "red 2" });
  expect((await client.closed).code).toBe(1000);
});

test("one with a body begins with its one message", async () => {
  const client = await open("/v1/follow");
  client.socket.send('{"text":"x"}');
  expect(await json(client)).toEqual({ text: "after x" });
  expect((await client.closed).code).toBe(1000);
});

test("a failure is the close: 4000 and its code, its message cut to whole characters", async () => {
  const client = await open("/v1/rooms/a:talk");
  client.socket.send('{"text":"fail"}');
  expect(await client.closed).toEqual({ code: 4009, reason: "é".repeat(61) });
});

test.each([
  ["not JSON", "{", 4003],
  ["a field that is none", '{"none":1}', 4003],
  ["another value than the path's", '{"room":"b"}', 4003],
  ["more than a message may hold", JSON.stringify({ text: "x".repeat(1000) }), 4008],
])("%s closes the socket and ends the backend's call", async (_, frame, code) => {
  const client = await open("/v1/rooms/a:talk");
  client.socket.send(frame);
  expect((await client.closed).code).toBe(code);
  await untilClosed();
});

test("a message after the end of the request", async () => {
  const client = await open("/v1/rooms/a:talk");
  client.socket.send("");
  client.socket.send("{}");
  expect(await client.closed).toMatchObject({ code: expect.toSatisfy((code) => code === 1000 || code === 4003) });
  await untilClosed();
});

test("a caller that leaves ends the backend's call, whenever", async () => {
  const idle = await open("/v1/rooms/endless:watch");
  await json(idle);
  expect(openCalls).toBe(1);
  idle.socket.close();
  await untilClosed();
  const early = await open("/v1/rooms/a:talk");
  early.socket.close();
  await untilClosed();
});

test("the deadline closes the socket", async () => {
  const client = await open("/v1/rooms/endless:watch", [], 1);
  expect(await json(client)).toEqual({ text: "endless 1" });
  expect((await client.closed).code).toBe(4004);
  await untilClosed();
});

test("what the head refuses gets no socket", async () => {
  expect(await refused("/v1/rooms/%zz:watch")).toMatchObject({ status: 400 });
  expect(await refused("/v1/none")).toMatchObject({ status: 404 });
  expect(await refused("/v1/rooms/a:watch", { "x-server-timeout": "soon" })).toMatchObject({ status: 400 });
});

test("a unary method takes no notice of an upgrade", async () => {
  expect(await refused("/v1/say?text=x")).toEqual({ status: 200, body: '{"text":"said x"}' });
});

test.each([
  ["https://app.example", 101],
  ["https://evil.example", 403],
  ["null", 403],
])("a page of %s: %d", async (origin, status) => {
  expect((await refused("/v1/rooms/a:watch", { origin })).status).toBe(status);
});

test("a page of the gateway's own host", async () => {
  expect((await refused("/v1/rooms/a:watch", { origin: `http://127.0.0.1:${workerd.ports[0]}` })).status).toBe(101);
});
