import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import type { Body, Call, Reply } from "../../src/call.ts";
import { startDeadline } from "../../src/protocol/deadline.ts";
import type { Method } from "../../src/schema/model.ts";
import { type ConnectUpstreamOptions, createConnectUpstream } from "../../src/upstream/connect.ts";
import { failure } from "../failure.ts";
import { compileProto } from "../proto.ts";
import { readBody, serve } from "../server.ts";

const schema = await compileProto(`
  syntax = "proto3";
  package test;
  service Service {
    rpc Plain(M) returns (M);
    rpc Pure(M) returns (M) { option idempotency_level = NO_SIDE_EFFECTS; }
  }
  message M { bytes data = 1; }
`);

function methodOf(name: string): Method {
  const method = schema.services[0]?.methods.find((method) => method.name === name);
  if (!method) throw new Error(`no method ${name}`);
  return method;
}

const MESSAGE = Uint8Array.of(0x0a, 2, 7, 8);

function callOf(rest: Partial<Call> = {}): Call {
  const body: Body = { kind: "message", read: async () => MESSAGE };
  return { method: methodOf("Plain"), header: new Headers(), signal: new AbortController().signal, body, ...rest };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** One call to a server that answers so. */
async function callServer(
  answer: Answer,
  call = callOf(),
  options: Partial<ConnectUpstreamOptions> = {},
): Promise<Reply> {
  await using server = await serve(answer);
  return await upstreamOf(server.url, options)(call);
}

function upstreamOf(url: string, options: Partial<ConnectUpstreamOptions> = {}) {
  return createConnectUpstream({
    url,
    fetch: (...args) => fetch(...args),
    readMaxBytes: 1_000,
    offersGzip: false,
    connectGet: false,
    ...options,
  });
}

function proto(response: ServerResponse, body: Uint8Array, header: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/proto", ...header });
  response.end(body);
}

async function wireOf(reply: Reply): Promise<number[]> {
  if (reply.body.kind !== "message") throw new Error(`the body is ${reply.body.kind}`);
  return [...(await reply.body.read())];
}

test("a call is Connect's unary POST", async () => {
  const seen: unknown[] = [];
  const header = new Headers({ "x-a": "1" });
  const reply = await callServer(
    async ({ method, url, headers }, response) => {
      seen.push(
        method,
        url,
        headers["content-type"],
        headers["connect-protocol-version"],
        headers["connect-timeout-ms"],
        headers["x-a"],
      );
      proto(response, MESSAGE);
    },
    callOf({ header, timeoutMs: 1_234 }),
  );
  expect(seen).toEqual(["POST", "/test.Service/Plain", "application/proto", "1", "1234", "1"]);
  expect(await wireOf(reply)).toEqual([...MESSAGE]);
});

test("the body arrives as it is, the url's prefix is kept, no deadline is none", async () => {
  await using server = await serve(async (request, response) => {
    const { url, headers } = request;
    const body = await readBody(request);
    proto(response, MESSAGE, { "x-seen": JSON.stringify([url, [...body], headers["connect-timeout-ms"] ?? null]) });
  });
  const reply = await upstreamOf(`${server.url}/some/prefix`)(callOf());
  expect(JSON.parse(reply.header.get("x-seen") ?? "")).toEqual(["/some/prefix/test.Service/Plain", [...MESSAGE], null]);
});

test("a deadline has at most ten digits", async () => {
  const reply = await callServer(
    ({ headers }, response) => proto(response, MESSAGE, { "x-seen": String(headers["connect-timeout-ms"]) }),
    callOf({ timeoutMs: 1e15 }),
  );
  expect(reply.header.get("x-seen")).toBe("9999999999");
});

test("the answer's header and trailer are parted, and cleaned", async () => {
  const header = { "x-a": "1", "trailer-x-b": "2", "trailer-x-c-bin": "AQ", connection: "close", "grpc-encoding": "x" };
  const reply = await callServer((_, response) => proto(response, MESSAGE, header));
  const { date: _, ...rest } = Object.fromEntries(reply.header);
  expect(rest).toEqual({ "x-a": "1" });
  expect(Object.fromEntries(reply.trailer ?? [])).toEqual({ "x-b": "2", "x-c-bin": "AQ" });
});

test.each<[string, Answer]>([
  ["of no bytes", (_, response) => proto(response, new Uint8Array(0))],
  [
    "of no bytes, compressed",
    (_, response) => proto(response, new Uint8Array(0), { "content-encoding": "gzip", "content-length": "0" }),
  ],
])("an answer %s is the empty message", async (_, answer) => {
  expect(await wireOf(await callServer(answer))).toEqual([]);
});

test("a compressed answer is decoded", async () => {
  const reply = await callServer((_, response) => proto(response, gzipSync(MESSAGE), { "content-encoding": "gzip" }));
  expect(await wireOf(reply)).toEqual([...MESSAGE]);
  expect(reply.header.has("content-encoding")).toBe(false);
});

test("an encoding that was not offered is the backend's fault", async () => {
  const answer: Answer = (_, response) => proto(response, MESSAGE, { "content-encoding": "snappy" });
  await expect(callServer(answer)).rejects.toEqual(failure(Code.Internal, "snappy"));
});

const atLimit = new Uint8Array(1_000).fill(1);
test.each<[string, Answer]>([
  ["with its length", (_, response) => proto(response, new Uint8Array(1_001), { "content-length": "1001" })],
  [
    "in chunks",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/proto" });
      response.write(atLimit);
      response.end(Uint8Array.of(1));
    },
  ],
  ["without end", (_, response) => drip(response, { "content-type": "application/proto" })],
  ["compressed", (_, response) => proto(response, gzipSync(new Uint8Array(1_001)), { "content-encoding": "gzip" })],
])("an answer over the limit %s is resource_exhausted", async (_, answer) => {
  await expect(callServer(answer)).rejects.toEqual(failure(Code.ResourceExhausted, "1000"));
});

test("an answer of exactly the limit is none over it", async () => {
  expect(await wireOf(await callServer((_, response) => proto(response, atLimit)))).toHaveLength(1_000);
});

test("an error is read, with details, header and trailer", async () => {
  const error = new ConnectError("told", Code.FailedPrecondition);
  error.details = [{ type: "acme.Any", value: Uint8Array.of(1, 2) }];
  const failed = callServer((_, response) => {
    // The body's code counts, whatever the status.
    response.writeHead(500, { "content-type": "application/json", "x-a": "1", "trailer-x-b": "2" });
    response.end(JSON.stringify(errorToJson(error, undefined)));
  });
  const read = await failed.catch((error: unknown) => error);
  expect(read).toEqual(failure(Code.FailedPrecondition, "told"));
  if (!(read instanceof ConnectError)) return;
  expect(read.details).toEqual(error.details);
  expect([read.metadata.get("x-a"), read.metadata.get("trailer-x-b")]).toEqual(["1", "2"]);
  expect(read.metadata.has("content-type")).toBe(false);
});

test("a compressed error is read too", async () => {
  const failed = callServer((_, response) => {
    response.writeHead(404, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync('{"code":"not_found","message":"told"}'));
  });
  await expect(failed).rejects.toEqual(failure(Code.NotFound, "told"));
});

// Connect protocol, "HTTP to Error Code"
test.each<[number, string, string, Code]>([
  [400, "text/plain", "x", Code.Internal],
  [401, "text/html", "<html>", Code.Unauthenticated],
  [403, "text/html", "<html>", Code.PermissionDenied],
  [404, "text/html", "<html>", Code.Unimplemented],
  [429, "text/plain", "", Code.Unavailable],
  [502, "text/html", "<html>", Code.Unavailable],
  [503, "application/json", "{", Code.Unavailable],
  [504, "application/json", '{"message":"x"}', Code.Unavailable],
  [500, "application/json", "[]", Code.Unknown],
  [418, "application/proto", "", Code.Unknown],
  [204, "application/proto", "", Code.Unknown],
  [206, "application/proto", "", Code.Unknown],
  // Connect protocol, Unary-Response: 200 with another type.
  [200, "text/html", "<html>", Code.Unknown],
  [200, "", "", Code.Unknown],
  [200, "application/json", "{}", Code.Internal],
  [200, "application/connect+proto", "", Code.Internal],
])("HTTP %i of type %j and body %j has code %i", async (status, contentType, body, code) => {
  const failed = callServer((_, response) => {
    response.writeHead(status, contentType === "" ? {} : { "content-type": contentType });
    response.end(body);
  });
  await expect(failed).rejects.toEqual(failure(code));
});

test("a redirect is not followed", async () => {
  let calls = 0;
  const failed = callServer((_, response) => {
    calls++;
    response.writeHead(307, { location: "/elsewhere" });
    response.end();
  });
  await expect(failed).rejects.toEqual(failure(Code.Unknown, "307"));
  expect(calls).toBe(1);
});

test("where nobody listens is unavailable, and the message does not say where", async () => {
  const server = await serve(() => undefined);
  await server[Symbol.asyncDispose]();
  const error = await upstreamOf(server.url)(callOf()).catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.Unavailable));
  expect(String(error)).not.toContain("127.0.0.1");
});

test.each<[string, Answer]>([
  ["is not HTTP", ({ socket }) => socket.end("SSH-2.0-server\r\n")],
  ["hangs up", ({ socket }) => socket.destroy()],
])("a backend that %s is unavailable", async (_, answer) => {
  await expect(callServer(answer)).rejects.toEqual(failure(Code.Unavailable));
});

// DESIGN §4: a backend that breaks its protocol gets the code of Connect's clients, 13 or 2.
test.each<[string, Answer]>([
  [
    "breaks off with a length",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/proto", "content-length": "100" });
      response.write(MESSAGE, () => response.destroy());
    },
  ],
  [
    "breaks off in chunks",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/proto" });
      response.write(MESSAGE, () => response.destroy());
    },
  ],
  ["is not in its coding", (_, response) => proto(response, Buffer.from("plain"), { "content-encoding": "gzip" })],
])("an answer that %s is an internal error, never a short message", async (_, answer) => {
  await expect(callServer(answer)).rejects.toEqual(failure(Code.Internal));
});

test.each<[string, Answer]>([
  [
    "breaks off",
    (_, response) => {
      response.writeHead(403, { "content-type": "application/json", "content-length": "100" });
      response.write('{"code":"not_f', () => response.destroy());
    },
  ],
  [
    "is not in its coding",
    (_, response) => {
      response.writeHead(403, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end('{"code":"not_found"}');
    },
  ],
  [
    "is longer than errors may be",
    (_, response) => {
      response.writeHead(403, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "not_found", message: "x".repeat(1 << 20) }));
    },
  ],
])("an error that %s has the code of its status", async (_, answer) => {
  await expect(callServer(answer)).rejects.toEqual(failure(Code.PermissionDenied));
});

test("a redirect is no error of the backend's, whatever its body says", async () => {
  const failed = callServer((_, response) => {
    response.writeHead(302, { "content-type": "application/json", location: "/elsewhere" });
    response.end('{"code":"not_found"}');
  });
  const error = await failed.catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.Unknown));
  expect((error as ConnectError).metadata.has("location")).toBe(false);
});

test.each<[string, Answer]>([
  ["never answers", () => undefined],
  [
    "never ends",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/proto" });
      response.write(MESSAGE);
    },
  ],
])("a backend that %s is let go at the deadline", async (_, answer) => {
  let closed: Promise<unknown> | undefined;
  await using server = await serve((request, response) => {
    closed = once(request.socket, "close");
    answer(request, response);
  });
  const { signal } = startDeadline(new AbortController().signal, 100);
  await expect(upstreamOf(server.url)(callOf({ signal }))).rejects.toEqual(failure(Code.DeadlineExceeded));
  await closed;
  expect(closed).toBeDefined();
});

test("a slow body that comes in time is whole", async () => {
  const reply = await callServer(async (_, response) => {
    response.writeHead(200, { "content-type": "application/proto" });
    for (const byte of MESSAGE) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    response.end();
  });
  expect(await wireOf(reply)).toEqual([...MESSAGE]);
});

test("the caller's leaving aborts the request, and the error says so", async () => {
  const caller = new AbortController();
  let closed: Promise<unknown> | undefined;
  await using server = await serve(({ socket }) => {
    closed = once(socket, "close");
    caller.abort();
  });
  const { signal } = startDeadline(caller.signal, undefined);
  await expect(upstreamOf(server.url)(callOf({ signal }))).rejects.toEqual(failure(Code.Canceled));
  await closed;
  expect(closed).toBeDefined();
});

test("an error of the caller's body is told, and nobody is called", async () => {
  let calls = 0;
  const refused = new ConnectError("bad JSON", Code.InvalidArgument);
  const body: Body = { kind: "message", read: () => Promise.reject(refused) };
  await expect(callServer(() => calls++, callOf({ body }))).rejects.toBe(refused);
  expect(calls).toBe(0);
});

test("a raw body passes as it is, both ways", async () => {
  const body: Body = { kind: "raw", stream: new Blob([MESSAGE]).stream() };
  const reply = await callServer(
    async (request, response) => proto(response, await readBody(request)),
    callOf({ body }),
  );
  if (reply.body.kind !== "raw") throw new Error("not raw");
  expect([...new Uint8Array(await new Response(reply.body.stream).arrayBuffer())]).toEqual([...MESSAGE]);
  const none = await callServer(
    (_, response) => proto(response, MESSAGE),
    callOf({ body: { kind: "raw", stream: null } }),
  );
  expect(none.body.kind).toBe("raw");
});

test("a raw body's answer of another type is an error still", async () => {
  const body: Body = { kind: "raw", stream: null };
  const failed = callServer(
    (_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<html>"),
    callOf({ body }),
  );
  await expect(failed).rejects.toEqual(failure(Code.Unavailable));
});

test("methods without side effects go as GET where that is wanted", async () => {
  const echo: Answer = ({ method, url, headers }, response) =>
    proto(response, MESSAGE, {
      "x-seen": JSON.stringify([method, url, headers["content-type"], headers["connect-protocol-version"]]),
    });
  const seen = async (name: string, connectGet: boolean, body?: Body) => {
    const reply = await callServer(echo, callOf({ method: methodOf(name), ...(body && { body }) }), { connectGet });
    return JSON.parse(reply.header.get("x-seen") ?? "");
  };
  const message = Buffer.from(MESSAGE).toString("base64url");
  const query = `connect=v1&base64=1&encoding=proto&message=${message}`;
  expect(await seen("Pure", true)).toEqual(["GET", `/test.Service/Pure?${query}`, null, null]);
  expect(await seen("Pure", false)).toEqual(["POST", "/test.Service/Pure", "application/proto", "1"]);
  expect(await seen("Plain", true)).toEqual(["POST", "/test.Service/Plain", "application/proto", "1"]);
  const long: Body = { kind: "message", read: async () => new Uint8Array(7_000) };
  expect(await seen("Pure", true, long)).toEqual(["POST", "/test.Service/Pure", "application/proto", "1"]);
});

/** Writes until the other side has had enough. */
function drip(response: ServerResponse, header: Record<string, string>): void {
  response.writeHead(200, header);
  const timer = setInterval(() => response.write(new Uint8Array(300)), 1);
  response.on("close", () => clearInterval(timer));
}
