/**
 * Line breaks, zeros and reserved names in what one side says: on the other side they are text, or gone. They never become a
 * line, a field, an event or a status of their own (RFC 9110 §5.5, RFC 9112 §11.1; gRPC-Web's trailers; WHATWG event streams).
 */
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { describe, expect, test } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { readEvents } from "../client/events.ts";
import { type Answering, openBackend, openGateways } from "./gateway.ts";
import { type Answer, ask, head, whole } from "./wire.ts";

const backend = await openBackend();
const grpcWeb = { backends: { "*": { url: backend.url, protocol: "grpc-web" } } };
const workerd = await openGateways(backend, [{}, grpcWeb, { metadataPrefix: "Grpc-Metadata-" }]);

/** Texts that end a line, a field, an event or a string somewhere. */
const TEXTS: Readonly<Record<string, string>> = {
  "CR LF and a field": "a\r\nX-Vault: open",
  "CR LF twice and a body": "a\r\n\r\n<html>",
  "a bare LF and a field": "a\nX-Vault: open",
  "a bare CR and a field": "a\rX-Vault: open",
  "a zero": "a\0b",
  "the end of an event": "a\n\ndata: {}\n\nevent: end\ndata: {}\n\n",
  "a status of gRPC": "a\r\ngrpc-status: 0\r\n",
  "the end of a string": '"}\r\n{"result":{}}\n',
  escapes: "100% %0d%0aX-Vault:%20open %",
  "other ends of a line": "a\u0085X-Vault: open\u2028b\u2029c\v\f",
  "no ASCII": "äöü 😀",
  "spaces around": "  a  ",
};

interface Caller {
  readonly request: string;
  /** What the caller is told, as its protocol has it. */
  read(answer: Answer): { readonly message: unknown; readonly fields: readonly string[] };
}

/** Names of the fields of a head, status line left out. */
function namesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/).slice(1);
  return lines.filter((line) => line !== "").map((line) => line.slice(0, line.indexOf(":")).toLowerCase());
}

const textOf = (body: string) => Buffer.from(body, "latin1").toString();
const json = (body: string) => JSON.parse(textOf(body));
const jsonCaller = (request: string, key = "message"): Caller => ({
  request,
  read: ({ head, body }) => ({ message: json(body)[key], fields: namesOf(head) }),
});

const ENVELOPE = Buffer.from(encodeEnvelope(0, new Uint8Array(0))).toString("latin1");

function readTrailers({ head, body }: Answer) {
  const last = splitFrames(Buffer.from(body, "latin1")).frames.at(-1);
  // Whoever takes any line end for one: then nothing more may be there.
  const lines = (last?.data.toString() ?? "").split(/\r\n|\r|\n/).filter((line) => line !== "");
  const values = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
  return {
    message: decodeURIComponent(values.get("grpc-message") ?? ""),
    fields: [...namesOf(head), ...lines.map((line) => line.slice(0, line.indexOf(":")))],
  };
}

/** Of a call that fails before its first message. */
const CALLERS: Readonly<Record<string, Caller>> = {
  REST: jsonCaller(head("GET", "/list", "Accept: application/json")),
  "REST, problem details": jsonCaller(
    head("GET", "/list", "Accept: application/problem+json, application/json"),
    "detail",
  ),
  NDJSON: jsonCaller(head("GET", "/list", "Accept: application/x-ndjson")),
  "an event stream": jsonCaller(head("GET", "/list", "Accept: text/event-stream")),
  "Connect stream": {
    request: whole(
      "POST",
      "/callers.v1.Things/List",
      ["Content-Type: application/connect+json"],
      `${ENVELOPE.slice(0, 4)}\x02{}`,
    ),
    read({ head, body }) {
      const [frame] = splitFrames(Buffer.from(body, "latin1")).frames;
      const { error, metadata = {} } = json(frame?.data.toString("latin1") ?? "");
      return { message: error.message, fields: [...namesOf(head), ...Object.keys(metadata)] };
    },
  },
  "gRPC-Web": {
    request: whole(
      "POST",
      "/callers.v1.Things/List",
      ["Content-Type: application/grpc-web+json"],
      `${ENVELOPE.slice(0, 4)}\x02{}`,
    ),
    read: readTrailers,
  },
  "gRPC-Web, binary": {
    request: whole(
      "POST",
      "/callers.v1.Things/List",
      ["Content-Type: application/grpc-web+proto", "Grpc-Timeout: 9S"],
      ENVELOPE,
    ),
    read: readTrailers,
  },
};

/** How a backend fails a stream: its message, and what its metadata holds besides. */
const BACKENDS: Readonly<Record<string, (message: string, metadata?: Readonly<Record<string, string>>) => Answering>> =
  {
    Connect:
      (message, metadata = {}) =>
      (_, response) => {
        const lists = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, [value]]));
        const end = Buffer.from(JSON.stringify({ error: { code: "not_found", message }, metadata: lists }));
        response
          .writeHead(200, { "content-type": "application/connect+proto" })
          .end(encodeEnvelope(endStreamFlag, end));
      },
    "gRPC-Web":
      (message, metadata = {}) =>
      (_, response) => {
        const lines = Object.entries(metadata).map(([name, value]) => `${name}: ${value}\r\n`);
        const end = Buffer.from(`grpc-status: 5\r\ngrpc-message: ${encodeURIComponent(message)}\r\n${lines.join("")}`);
        response.writeHead(200, { "content-type": "application/grpc-web+proto" }).end(encodeEnvelope(trailerFlag, end));
      },
  };

/** What an answer may be made of: HTTP's own, and what the caller's protocol needs. */
const OWN_FIELDS = new Set([
  ...["content-length", "content-type", "transfer-encoding", "date", "connection", "vary", "cache-control"],
  ...["grpc-status", "grpc-message", "x-accel-buffering"],
]);

const PAIRS = Object.entries(BACKENDS).flatMap(([name, fail], gateway) =>
  Object.entries(CALLERS)
    // That one passes through a gRPC-Web backend untouched.
    .filter(([caller]) => !(name === "gRPC-Web" && caller === "gRPC-Web, binary"))
    .map(([caller, { request, read }]) => ({ name, caller, fail, request, read, port: workerd.ports[gateway] ?? 0 })),
);

describe("the message of an error", () => {
  test.each(PAIRS)("from $name to $caller", async ({ fail, request, read, port }) => {
    for (const [name, text] of Object.entries(TEXTS)) {
      backend.answer = fail(text);
      const { message, fields } = read(await ask(port, request));
      expect([name, message]).toEqual([name, text]);
      expect(fields.filter((field) => !OWN_FIELDS.has(field))).toEqual([]);
      expect(new Set(fields).size, `${name}: ${fields}`).toBe(fields.length);
    }
  });
});

/** Metadata that is no field, or nobody's but the transfer's. */
const METADATA: Readonly<Record<string, string>> = {
  "x-a": "a\r\nx-vault: open",
  "x-b": "a\nx-vault: open",
  "x-c": "a\rx-vault: open",
  "x-d": "a\0b",
  "x-e\r\nx-vault": "open",
  "x-vault\0": "open",
  "x vault": "open",
  "": "open",
  "content-length": "0",
  "content-encoding": "gzip",
  "transfer-encoding": "chunked",
  connection: "close",
  "keep-alive": "timeout=0",
  upgrade: "websocket",
  trailer: "x-vault",
  "grpc-encoding": "gzip",
  "connect-content-encoding": "gzip",
  "trailer-grpc-status": "0",
  "trailer-content-length": "0",
  "trailer-connection": "close",
  "x-gateway-user": "admin",
  "x-good": "1",
};

describe("the metadata of an error", () => {
  test.each(PAIRS)("from $name to $caller", async ({ name, fail, request, read, port }) => {
    // A line ends where it ends: what stands behind CR LF is a line of the backend's own.
    const { "x-a": broken, "x-e\r\nx-vault": brokenName, ...rest } = METADATA;
    backend.answer = fail("gone", name === "Connect" ? METADATA : rest);
    const { message, fields } = read(await ask(port, request));
    expect(message).toBe("gone");
    const others = fields.filter((field) => !OWN_FIELDS.has(field));
    expect(others.map((field) => field.replace(/^trailer-/, ""))).toEqual(["x-good"]);
    expect(new Set(fields).size, fields.join()).toBe(fields.length);
  });
});

describe("trailing metadata of a unary answer", () => {
  const fields = { "trailer-grpc-status": "7", "trailer-content-length": "9", "trailer-x-good": "1" };
  const answers: Readonly<Record<string, Answering>> = {
    "that succeeds": (_, response) => response.writeHead(200, { "content-type": "application/proto", ...fields }).end(),
    "that fails": (_, response) =>
      response.writeHead(404, { "content-type": "application/json", ...fields }).end('{"code":"not_found"}'),
  };
  const callers: Readonly<Record<string, string>> = {
    REST: head("GET", "/things"),
    Connect: whole("POST", "/callers.v1.Things/Set", ["Content-Type: application/json"], "{}"),
    "gRPC-Web": whole("POST", "/callers.v1.Things/Set", ["Content-Type: application/grpc-web+proto"], ENVELOPE),
  };
  const pairs = Object.keys(answers).flatMap((answer) => Object.keys(callers).map((caller) => ({ answer, caller })));
  test.each(pairs)("$answer, to $caller", async ({ answer, caller }) => {
    backend.answer = answers[answer] ?? backend.answer;
    const came = await ask(workerd.ports[0] ?? 0, callers[caller] ?? "");
    const seen = caller === "gRPC-Web" ? readTrailers(came).fields : namesOf(came.head);
    const prefix = caller === "gRPC-Web" ? "" : "trailer-";
    expect(seen.filter((field) => !OWN_FIELDS.has(field))).toEqual([`${prefix}x-good`]);
    expect(new Set(seen).size, seen.join()).toBe(seen.length);
  });
});

describe("after the first message, and within messages", () => {
  /** A Thing with that text, then an error with that message. */
  const failing =
    (text: string): Answering =>
    (_, response) => {
      const bytes = Buffer.from(text);
      const end = Buffer.from(JSON.stringify({ error: { code: "not_found", message: text } }));
      response.writeHead(200, { "content-type": "application/connect+proto" });
      response.write(encodeEnvelope(0, Buffer.concat([Uint8Array.of(0x0a, bytes.length), bytes])));
      response.end(encodeEnvelope(endStreamFlag, end));
    };
  const port = workerd.ports[0] ?? 0;

  test.each(Object.entries(TEXTS))("%s, as events", async (_, text) => {
    backend.answer = failing(text);
    const { body } = await ask(port, head("GET", "/list", "Accept: text/event-stream"));
    const events = readEvents(textOf(body)).map(({ event, data }) => [event, JSON.parse(data)]);
    expect(events).toEqual([
      ["message", { text }],
      ["error", { code: 5, message: text }],
    ]);
  });

  test.each(Object.entries(TEXTS))("%s, as lines", async (_, text) => {
    backend.answer = failing(text);
    const { body } = await ask(port, head("GET", "/list", "Accept: application/x-ndjson"));
    const lines = textOf(body).split(/\r\n|\r|\n/);
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { result: { text } },
      { error: { code: 5, message: text } },
    ]);
  });

  test.each(Object.entries(TEXTS))("%s, as the reason of a close", async (_, text) => {
    backend.answer = failing(text);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/list`);
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    const { code, reason } = await closed;
    expect({ code, reason }).toEqual({ code: 4005, reason: text });
  });
});

test.each(Object.entries(TEXTS))("a content type that a backend makes up: %s", async (_, text) => {
  const bytes = Buffer.from(text);
  backend.answer = (_, response) =>
    response
      .writeHead(200, { "content-type": "application/proto" })
      .end(Buffer.concat([Uint8Array.of(0x0a, bytes.length), bytes, Uint8Array.of(0x12, 1, 0x61)]));
  const answer = await ask(workerd.ports[0] ?? 0, whole("POST", "/raw", ["Content-Type: text/plain"], "x"));
  expect(namesOf(answer.head).filter((field) => !OWN_FIELDS.has(field))).toEqual([]);
  // In ASCII it is a value, and passes as it is; with anything else in it the answer cannot be given.
  const isValue = /^[\x20-\x7e]*$/.test(text);
  expect([answer.status, isValue && answer.body]).toEqual([isValue ? 200 : 500, isValue && "a"]);
});

describe("from callers to backends", () => {
  /** Fields that a call must not bring, and those that it may. The runtime itself refuses zeros and line ends. */
  const LINES = {
    passed: ["X-A: a b", "X-B: %0d%0aX-Vault: open", "X-C-Bin: DQpYLVZhdWx0OiBvcGVu"],
    gone: [
      ...[
        "X-D: \xe4\xf6",
        "X-E: a\tb",
        "Te: trailers",
        "Keep-Alive: timeout=1",
        "Proxy-Authorization: a",
        "Trailer: x-a",
      ],
      ...[
        "Content-Md5: a",
        "Grpc-Encoding: gzip",
        "Grpc-Status: 0",
        "Connect-Content-Encoding: gzip",
        "X-Gateway-User: a",
      ],
      ...[
        "Cf-Access: a",
        "X-Forwarded-User: a",
        "X-Hop: a",
        "Connection: x-hop, x-f",
        "X-F: a",
        "Expect: 100-continue",
      ],
    ],
    /** Under the prefix of the third gateway. */
    prefixed: [
      "Host",
      "Content-Length",
      "Transfer-Encoding",
      "Connection",
      "Grpc-Status",
      "Grpc-Timeout",
      "Upgrade",
      "Te",
    ],
  };
  const OWN_REQUEST_FIELDS =
    /^(?:host|connection|content-type|content-length|connect-protocol-version|accept-encoding)$/;

  test("what belongs to the caller's own exchange stays there", async () => {
    const prefixed = LINES.prefixed.map((name) => `Grpc-Metadata-${name}: 1`);
    const lines = [...LINES.passed, ...LINES.gone, ...prefixed, "Grpc-Metadata-X-Good: 1"];
    await ask(workerd.ports[2] ?? 0, head("GET", "/things", ...lines));
    const names = Object.keys(backend.arrivals[0]?.headers ?? {}).filter((name) => !OWN_REQUEST_FIELDS.test(name));
    expect(names.sort()).toEqual(["x-a", "x-b", "x-c-bin", "x-good"]);
    expect(backend.arrivals[0]?.headers).toMatchObject({
      "x-b": "%0d%0aX-Vault: open",
      "x-c-bin": "DQpYLVZhdWx0OiBvcGVu",
      "content-length": "0",
    });
  });
});
