/**
 * What only the runtime can show: bodies that pass through workerd are untouched, come piece by piece, and end with
 * their caller. The backend is written by hand, so that every byte and every moment is known.
 */
import { once } from "node:events";
import http, { type IncomingMessage, type RequestOptions, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { startWorkerd } from "./cases/workerd.ts";
import { librarySet } from "./library-backend.ts";
import { readBody, serve } from "./server.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

let answer: Answer = () => undefined;
const backend = await serve((request, response) => answer(request, response));
const worker = fileURLToPath(new URL("cases/worker.ts", import.meta.url));
const workerd = await startWorkerd(worker, librarySet, [{ backends: { "*": { url: backend.url } } }]);
afterAll(async () => {
  await workerd.stop();
  await backend[Symbol.asyncDispose]();
});

const RPC = "/library.v1.Library/CreateBook";
const PROTO = { "content-type": "application/proto" };

/** A request whose body the caller writes. */
function open(path: string, options: RequestOptions): http.ClientRequest {
  return http.request({ host: "127.0.0.1", port: workerd.ports[0], path, method: "POST", agent: false, ...options });
}

async function responseOf(request: http.ClientRequest): Promise<IncomingMessage> {
  const [response] = await once(request, "response");
  return response as IncomingMessage;
}

async function send(path: string, headers: Record<string, string>, body?: Uint8Array | string, method = "POST") {
  const request = open(path, { headers, method });
  request.end(body);
  const response = await responseOf(request);
  return { status: response.statusCode, headers: response.headers, body: await readBody(response) };
}

/** note = 3: a text of that length. */
function bookOf(length: number): Buffer {
  const size = [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
  return Buffer.concat([Uint8Array.of(0x1a, ...size), Buffer.alloc(length, "n")]);
}

test("an answer comes piece by piece: the first is there before the last is sent", async () => {
  const firstSeen = Promise.withResolvers<void>();
  answer = async (_, response) => {
    response.writeHead(200, PROTO);
    response.write("first");
    await firstSeen.promise;
    response.end("last");
  };
  const request = open(RPC, { headers: PROTO });
  request.end();
  const response = await responseOf(request);
  const [first] = await once(response, "data");
  expect(String(first)).toBe("first");
  firstSeen.resolve();
  expect(String(await readBody(response))).toBe("last");
});

test("an upload arrives piece by piece: the first is there before the last is sent", async () => {
  const firstSeen = Promise.withResolvers<string>();
  answer = async (request, response) => {
    const [first] = await once(request, "data");
    firstSeen.resolve(String(first));
    response.writeHead(200, PROTO);
    response.end(await readBody(request));
  };
  const request = open(RPC, { headers: PROTO });
  request.write("first");
  expect(await firstSeen.promise).toBe("first");
  request.end("last");
  expect(String(await readBody(await responseOf(request)))).toBe("last");
});

test("what passes is not looked at: bytes that are no message arrive as they are", async () => {
  const bytes = Buffer.from([0xff, 0xff, 0, 1, 2]);
  answer = async (request, response) => response.writeHead(200, PROTO).end(await readBody(request));
  expect((await send(RPC, PROTO, bytes)).body).toEqual(bytes);
  expect((await send(RPC, { ...PROTO, "connect-timeout-ms": "5000" }, bytes)).body).toEqual(bytes);
});

test.each([
  ["gzip", gzipSync("request"), gzipSync("answer")],
  ["br", brotliCompressSync("request"), brotliCompressSync("answer")],
])("%s passes verbatim, both ways", async (encoding, question, reply) => {
  const seen: unknown[] = [];
  answer = async (request, response) => {
    seen.push(request.headers["content-encoding"], request.headers["accept-encoding"], await readBody(request));
    response.writeHead(200, { ...PROTO, "content-encoding": encoding }).end(reply);
  };
  if (encoding === "br") {
    // A caller's coding that the gateway does not know is refused, one that it only accepts is not.
    const { status } = await send(RPC, { ...PROTO, "content-encoding": encoding }, question);
    expect([status, seen]).toEqual([501, []]);
  }
  const header = { ...PROTO, "accept-encoding": encoding, ...(encoding === "gzip" && { "content-encoding": "gzip" }) };
  for (const deadline of [{}, { "connect-timeout-ms": "5000" }]) {
    seen.length = 0;
    const { headers, body } = await send(RPC, { ...header, ...deadline }, question);
    // With a deadline the gateway may have to read what comes, and asks for a coding that it knows.
    const asked = encoding === "br" && "connect-timeout-ms" in deadline ? "identity" : encoding;
    expect(seen).toEqual([encoding === "gzip" ? "gzip" : undefined, asked, question]);
    expect([headers["content-encoding"], body]).toEqual([encoding, reply]);
  }
});

test.each<[string, Record<string, string>]>([
  ["without a deadline", {}],
  ["with one", { "connect-timeout-ms": "5000" }],
])("a compressed error is read for a caller whose answers pass, %s", async (_, deadline) => {
  answer = (_, response) =>
    response
      .writeHead(404, { "content-type": "application/json", "content-encoding": "gzip" })
      .end(gzipSync('{"code":"data_loss","message":"told"}'));
  const { status, headers, body } = await send(RPC, { ...PROTO, "accept-encoding": "br, gzip;q=0.5", ...deadline });
  expect([status, headers["content-encoding"]]).toEqual([500, undefined]);
  expect(JSON.parse(String(body))).toEqual({ code: "data_loss", message: "told" });
});

test("a caller that names no coding is asked for, and gets, none", async () => {
  answer = ({ headers }, response) => response.writeHead(200, PROTO).end(String(headers["accept-encoding"]));
  expect(String((await send(RPC, PROTO)).body)).toBe("identity");
});

test("a compressed answer is decoded for a caller of JSON, and its coding is not told", async () => {
  // name = 1: "a"
  answer = (_, response) =>
    response.writeHead(200, { ...PROTO, "content-encoding": "gzip" }).end(gzipSync(Uint8Array.of(0x0a, 1, 0x61)));
  const { headers, body } = await send("/v1/books/1", { "accept-encoding": "gzip" }, undefined, "GET");
  expect(headers["content-encoding"]).toBeUndefined();
  expect(JSON.parse(String(body))).toEqual({ name: "a" });
});

test("a compressed request of JSON is decoded, within its limit", async () => {
  answer = async (request, response) => response.writeHead(200, PROTO).end(await readBody(request));
  const header = { "content-type": "application/json", "content-encoding": "gzip" };
  const { body } = await send("/v1/books", header, gzipSync('{"name":"a"}'));
  expect(JSON.parse(String(body))).toEqual({ name: "a" });
  const bomb = gzipSync(Buffer.alloc(64 << 20, " "));
  expect((await send("/v1/books", header, bomb)).status).toBe(413);
  expect((await send("/v1/books", header, "plain")).status).toBe(400);
});

test("large bodies are whole, with a length and in pieces", async () => {
  const book = bookOf(1_000_000);
  const seen: number[] = [];
  answer = async (request, response) => {
    const body = await readBody(request);
    seen.push(body.length);
    response.writeHead(200, PROTO);
    for (let at = 0; at < body.length; at += 70_001) response.write(body.subarray(at, at + 70_001));
    response.end();
  };
  const json = JSON.stringify({ note: "n".repeat(1_000_000) });
  const whole = await send(
    "/v1/books",
    { "content-type": "application/json", "content-length": String(json.length) },
    json,
  );
  expect(String(whole.body)).toBe(json);
  const pieces = open("/v1/books", { headers: { "content-type": "application/json" } });
  for (let at = 0; at < json.length; at += 7_001) pieces.write(json.slice(at, at + 7_001));
  pieces.end();
  expect(String(await readBody(await responseOf(pieces)))).toBe(json);
  expect((await send(RPC, PROTO, book)).body).toEqual(book);
  expect(seen).toEqual([book.length, book.length, book.length]);
});

test.each<[number, Record<string, string>, string]>([
  [302, { location: "http://elsewhere.example/" }, "unknown"],
  [502, { "content-type": "text/html" }, "unavailable"],
  [200, { "content-type": "text/html" }, "unknown"],
])("an answer of HTTP %i %j does not pass, but is an error", async (status, header, code) => {
  answer = (_, response) => response.writeHead(status, header).end("<html>");
  const { headers, body } = await send(RPC, PROTO);
  expect(headers["content-type"]).toBe("application/json");
  expect(JSON.parse(String(body))).toMatchObject({ code });
});

test.each<[string, string, Record<string, string>]>([
  ["passes through", RPC, PROTO],
  ["is transcoded", "/v1/books", { "content-type": "application/json" }],
])(
  "a caller that leaves before the answer, of a call that %s, cancels the backend's call",
  async (_, path, headers) => {
    const onCall = Promise.withResolvers<{ readonly close: Promise<unknown> }>();
    answer = (request) => {
      request.resume();
      onCall.resolve({ close: once(request.socket, "close") });
    };
    const request = open(path, { headers });
    request.on("error", () => undefined);
    request.end("{}");
    const closed = (await onCall.promise).close;
    request.socket?.resetAndDestroy();
    await closed;
  },
);

test.each<[string, Record<string, string>]>([
  ["without a deadline", {}],
  ["with one", { "connect-timeout-ms": "60000" }],
])("a caller that leaves amid an answer that passes, %s, cancels the backend's call", async (_, deadline) => {
  const closed = Promise.withResolvers<void>();
  answer = (_, response) => {
    response.writeHead(200, PROTO);
    const timer = setInterval(() => response.write("more"), 20);
    response.on("close", () => {
      clearInterval(timer);
      closed.resolve();
    });
  };
  const request = open(RPC, { headers: { ...PROTO, ...deadline } });
  request.on("error", () => undefined);
  request.end();
  const response = await responseOf(request);
  response.on("error", () => undefined);
  await once(response, "data");
  request.socket?.resetAndDestroy();
  await closed.promise;
});

test("a caller that breaks off its upload aborts the backend's request, which never ends cleanly", async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  answer = (request) => {
    request.on("data", () => started.resolve());
    request.on("end", () => ended.resolve("cleanly"));
    request.on("error", () => ended.resolve("broken"));
  };
  const request = open(RPC, { headers: PROTO });
  request.on("error", () => undefined);
  request.write("first");
  await started.promise;
  request.socket?.resetAndDestroy();
  expect(await ended.promise).toBe("broken");
});

test("the deadline holds for a body that passes: its transfer is broken, the backend's call ended", async () => {
  const closed = Promise.withResolvers<void>();
  answer = (_, response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, PROTO).write("first");
  };
  const request = open(RPC, { headers: { ...PROTO, "connect-timeout-ms": "300" } });
  request.end();
  const response = await responseOf(request);
  await expect(readBody(response)).rejects.toThrow();
  await closed.promise;
});

test("a backend that says itself that the time is over is heard", async () => {
  answer = (_, response) => {
    response.writeHead(200, PROTO).write("first");
    setTimeout(() => response.end(" and last"), 350);
  };
  const request = open(RPC, { headers: { ...PROTO, "connect-timeout-ms": "300" } });
  request.end();
  expect(String(await readBody(await responseOf(request)))).toBe("first and last");
});

test("an answer that the backend breaks off is broken for the caller", async () => {
  answer = (_, response) => {
    response.writeHead(200, PROTO);
    response.write("first", () => setTimeout(() => response.destroy(), 50));
  };
  const request = open(RPC, { headers: PROTO });
  request.end();
  await expect(readBody(await responseOf(request))).rejects.toThrow();
});
