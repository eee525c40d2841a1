/** Every limit of a request or an answer: one below it and the limit itself are served, one above is refused as documented. */
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { describe, expect, test } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { openBackend, openGateways } from "./gateway.ts";
import { type Answer, ask, head, whole } from "./wire.ts";

const backend = await openBackend();
/** Small ones, so that nothing here is large. */
const LIMITS = {
  maxUrlBytes: 400,
  maxHeaderBytes: 700,
  maxParameters: 10,
  maxDepth: 10,
  readMaxBytes: 1000,
  upstreamReadMaxBytes: 1500,
  maxJsonBytes: 3000,
  forms: true,
} as const;
/** Of the third gateway. */
const RATIO = 10;
const workerd = await openGateways(backend, [LIMITS, {}, { maxCompressionRatio: RATIO }]);
const [port = 0, defaults = 0, dense = 0] = workerd.ports;

interface Refusal {
  readonly status: number;
  readonly code: Code;
}

interface Limit {
  readonly limit: number;
  /** A request, or an answer, of that size. */
  send(size: number): Promise<Answer>;
  readonly over: Refusal;
  /** The fault is in the request: nothing of it reaches a backend. */
  readonly isCallers?: false;
}

const JSON_TYPE = "Content-Type: application/json";
const text = (length: number) => "a".repeat(length);
const rpc = (name: string, type: string, body: string, ...lines: readonly string[]) =>
  whole("POST", `/callers.v1.Things/${name}`, [`Content-Type: ${type}`, ...lines], body);
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const enveloped = (data: Uint8Array | string, flags = 0) =>
  latin1(encodeEnvelope(flags, typeof data === "string" ? Buffer.from(data) : data));
/** A message in protobuf of so many bytes, from 131 on: `text`. */
const wireOf = (size: number) =>
  Buffer.concat([Uint8Array.of(0x0a, ((size - 3) & 0x7f) | 0x80, (size - 3) >> 7), Buffer.from(text(size - 3))]);
/** JSON of so many bytes. */
const jsonOf = (size: number) => JSON.stringify({ text: text(size - '{"text":""}'.length) });

/** `{"thing":{"thing":{}}}` has three levels. */
const nested = (levels: number) => `${'{"thing":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
/** As messages: the Thing, its Value, and for each list a ListValue and the Value in it, which the empty one lacks. */
const listed = (levels: number) => {
  const lists = Math.floor((levels - 1) / 2);
  return `{"value":${"[".repeat(lists)}${levels % 2 === 0 ? "null" : ""}${"]".repeat(lists)}}`;
};

function urlOf(size: number): string {
  const url = "/one/";
  return url + text(size - "http://gateway.example".length - url.length);
}

const HOST_BYTES = "hostgateway.example".length;
function headerOf(size: number, count = 1): string {
  const each = Math.floor((size - HOST_BYTES) / count);
  const rest = size - HOST_BYTES - each * count;
  const lines = Array.from(
    { length: count },
    // Of a family that does not pass: backends have limits of their own.
    (_, i) => `cf-${i}: ${text(each + (i === 0 ? rest : 0) - `cf-${i}`.length)}`,
  );
  return head("GET", "/one/a", ...lines);
}

const query = (count: number) => Array.from({ length: count }, () => "list=a").join("&");
const multipart = (count: number) => {
  const parts = Array.from({ length: count }, () => '--b\r\nContent-Disposition: form-data; name="list"\r\n\r\na\r\n');
  return whole("POST", "/things", ["Content-Type: multipart/form-data; boundary=b"], `${parts.join("")}--b--\r\n`);
};

const MESSAGE: Pick<Limit, "limit"> = { limit: LIMITS.readMaxBytes };
const TOO_LARGE: Refusal = { status: 413, code: Code.ResourceExhausted };
const EXHAUSTED: Refusal = { status: 429, code: Code.ResourceExhausted };
/** Streams and gRPC-Web tell it in their last envelope. */
const EXHAUSTED_AT_END: Refusal = { status: 200, code: Code.ResourceExhausted };
const INVALID: Refusal = { status: 400, code: Code.InvalidArgument };

const answerWith = (body: Buffer) => {
  backend.answer = (_, response) => response.writeHead(200, { "content-type": "application/proto" }).end(body);
};

const GZIP = "Content-Encoding: gzip";
const CODED_BYTES = 100;
const RATIO_LIMIT: Pick<Limit, "limit"> = { limit: RATIO * CODED_BYTES };

/** A file of CODED_BYTES: an extra field (RFC 1952 §2.3.1.1) makes up for what the content takes less. */
function gzipOf(content: string): string {
  const deflated = deflateRawSync(content);
  const extra = Buffer.alloc(CODED_BYTES - 20 - deflated.length);
  const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, extra.length, 0]);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(content), 0);
  end.writeUInt32LE(content.length, 4);
  return latin1(Buffer.concat([head, extra, deflated, end]));
}

const ALL: Readonly<Record<string, Limit>> = {
  "maxUrlBytes, path": {
    limit: LIMITS.maxUrlBytes,
    send: (size) => ask(port, head("GET", urlOf(size))),
    over: { status: 414, code: Code.InvalidArgument },
  },
  "maxUrlBytes, Connect GET": {
    limit: LIMITS.maxUrlBytes,
    send(size) {
      const url = "/callers.v1.Things/Get?connect=v1&encoding=json&message={}&x=";
      return ask(port, head("GET", url + text(size - "http://gateway.example".length - url.length)));
    },
    over: { status: 414, code: Code.InvalidArgument },
  },
  "maxHeaderBytes, one field": {
    limit: LIMITS.maxHeaderBytes,
    send: (size) => ask(port, headerOf(size)),
    over: { status: 431, code: Code.ResourceExhausted },
  },
  "maxHeaderBytes, many fields": {
    limit: LIMITS.maxHeaderBytes,
    send: (size) => ask(port, headerOf(size, 50)),
    over: { status: 431, code: Code.ResourceExhausted },
  },
  "maxParameters, query": {
    limit: LIMITS.maxParameters,
    send: (size) => ask(port, head("GET", `/things?${query(size)}`)),
    over: INVALID,
  },
  "maxParameters, empty ones": {
    limit: LIMITS.maxParameters,
    send: (size) => ask(port, head("GET", `/things?${"&".repeat(size - 1)}`)),
    over: INVALID,
  },
  "maxParameters, a form": {
    limit: LIMITS.maxParameters,
    send: (size) =>
      ask(port, whole("POST", "/things", ["Content-Type: application/x-www-form-urlencoded"], query(size))),
    over: TOO_LARGE,
  },
  "maxParameters, parts of a form": {
    limit: LIMITS.maxParameters,
    send: (size) => ask(port, multipart(size)),
    over: TOO_LARGE,
  },
  "maxDepth, messages": {
    limit: LIMITS.maxDepth,
    send: (size) => ask(port, whole("POST", "/things", [JSON_TYPE], nested(size))),
    over: INVALID,
  },
  "maxDepth, lists of a Value": {
    limit: LIMITS.maxDepth,
    send: (size) => ask(port, whole("POST", "/things", [JSON_TYPE], listed(size))),
    over: INVALID,
  },
  "maxDepth, Connect": {
    limit: LIMITS.maxDepth,
    send: (size) => ask(port, rpc("Set", "application/json", nested(size))),
    over: INVALID,
  },
  "maxDepth, names of a query": {
    limit: LIMITS.maxDepth,
    send: (size) => ask(port, head("GET", `/things?${"thing.".repeat(size - 1)}text=a`)),
    over: INVALID,
  },
  "readMaxBytes, REST": {
    ...MESSAGE,
    send: (size) => ask(port, whole("POST", "/things", [JSON_TYPE], jsonOf(size))),
    over: TOO_LARGE,
  },
  "readMaxBytes, REST in chunks": {
    ...MESSAGE,
    send(size) {
      const body = jsonOf(size);
      const chunks = `1f4\r\n${body.slice(0, 500)}\r\n${(size - 500).toString(16)}\r\n${body.slice(500)}\r\n0\r\n\r\n`;
      return ask(port, head("POST", "/things", JSON_TYPE, "Transfer-Encoding: chunked") + chunks);
    },
    over: TOO_LARGE,
  },
  "readMaxBytes, decompressed": {
    ...MESSAGE,
    send: (size) =>
      ask(port, whole("POST", "/things", [JSON_TYPE, "Content-Encoding: gzip"], latin1(gzipSync(jsonOf(size))))),
    over: TOO_LARGE,
  },
  "readMaxBytes, an upload": {
    ...MESSAGE,
    send: (size) => ask(port, whole("POST", "/raw", ["Content-Type: text/plain"], text(size))),
    over: TOO_LARGE,
  },
  "readMaxBytes, Connect": {
    ...MESSAGE,
    send: (size) => ask(port, rpc("Set", "application/json", jsonOf(size))),
    over: EXHAUSTED,
  },
  "readMaxBytes, Connect, decompressed": {
    ...MESSAGE,
    send: (size) => ask(port, rpc("Set", "application/json", latin1(gzipSync(jsonOf(size))), "Content-Encoding: gzip")),
    over: EXHAUSTED,
  },
  "readMaxBytes, Connect stream": {
    ...MESSAGE,
    send: (size) => ask(port, rpc("List", "application/connect+json", enveloped(jsonOf(size)))),
    over: EXHAUSTED_AT_END,
  },
  "readMaxBytes, Connect stream, decompressed": {
    ...MESSAGE,
    send: (size) =>
      ask(
        port,
        rpc("List", "application/connect+json", enveloped(gzipSync(jsonOf(size)), 1), "Connect-Content-Encoding: gzip"),
      ),
    over: EXHAUSTED_AT_END,
  },
  "readMaxBytes, gRPC-Web": {
    ...MESSAGE,
    send: (size) => ask(port, rpc("Set", "application/grpc-web+proto", enveloped(wireOf(size)))),
    over: EXHAUSTED_AT_END,
  },
  "readMaxBytes, a line": {
    ...MESSAGE,
    send: (size) => ask(port, whole("POST", "/collect", ["Content-Type: application/x-ndjson"], `${jsonOf(size)}\n`)),
    over: TOO_LARGE,
  },
  "readMaxBytes, an element": {
    ...MESSAGE,
    send: (size) => ask(port, whole("POST", "/collect", [JSON_TYPE], `[${jsonOf(size)}]`)),
    over: TOO_LARGE,
  },
  "maxCompressionRatio, REST": {
    ...RATIO_LIMIT,
    send: (size) => ask(dense, whole("POST", "/things", [JSON_TYPE, GZIP], gzipOf(jsonOf(size)))),
    over: TOO_LARGE,
  },
  "maxCompressionRatio, REST in chunks": {
    ...RATIO_LIMIT,
    send(size) {
      const body = gzipOf(jsonOf(size));
      const chunks = `32\r\n${body.slice(0, 50)}\r\n32\r\n${body.slice(50)}\r\n0\r\n\r\n`;
      return ask(dense, head("POST", "/things", JSON_TYPE, GZIP, "Transfer-Encoding: chunked") + chunks);
    },
    over: TOO_LARGE,
  },
  "maxCompressionRatio, an upload": {
    ...RATIO_LIMIT,
    send: (size) => ask(dense, whole("POST", "/raw", ["Content-Type: text/plain", GZIP], gzipOf(text(size)))),
    over: TOO_LARGE,
  },
  "maxCompressionRatio, a line": {
    ...RATIO_LIMIT,
    send: (size) =>
      ask(
        dense,
        whole("POST", "/collect", ["Content-Type: application/x-ndjson", GZIP], gzipOf(`${jsonOf(size - 1)}\n`)),
      ),
    over: TOO_LARGE,
  },
  "maxCompressionRatio, Connect": {
    ...RATIO_LIMIT,
    send: (size) => ask(dense, rpc("Set", "application/json", gzipOf(jsonOf(size)), GZIP)),
    over: EXHAUSTED,
  },
  "maxCompressionRatio, Connect GET": {
    ...RATIO_LIMIT,
    send(size) {
      const message = Buffer.from(gzipOf(jsonOf(size)), "latin1").toString("base64url");
      const query = `connect=v1&encoding=json&base64=1&compression=gzip&message=${message}`;
      return ask(dense, head("GET", `/callers.v1.Things/Get?${query}`));
    },
    over: EXHAUSTED,
  },
  "maxCompressionRatio, Connect stream": {
    ...RATIO_LIMIT,
    send: (size) =>
      ask(
        dense,
        rpc(
          "List",
          "application/connect+json",
          enveloped(Buffer.from(gzipOf(jsonOf(size)), "latin1"), 1),
          "Connect-Content-Encoding: gzip",
        ),
      ),
    over: EXHAUSTED_AT_END,
  },
  upstreamReadMaxBytes: {
    limit: LIMITS.upstreamReadMaxBytes,
    send(size) {
      answerWith(wireOf(size));
      return ask(port, head("GET", "/things"));
    },
    over: EXHAUSTED,
    isCallers: false,
  },
  maxJsonBytes: {
    limit: LIMITS.maxJsonBytes,
    // What is escaped in JSON takes more bytes there: six for a zero.
    send(size) {
      const zeros = Math.floor((size - '{"text":""}'.length) / 6);
      const letters = size - '{"text":""}'.length - zeros * 6;
      const content = "\0".repeat(zeros) + text(letters);
      answerWith(
        Buffer.concat([Uint8Array.of(0x0a, (content.length & 0x7f) | 0x80, content.length >> 7), Buffer.from(content)]),
      );
      return ask(port, head("GET", "/things"));
    },
    over: EXHAUSTED,
    isCallers: false,
  },
};

/** The code of a failure, in whichever dialect; undefined: there is none. */
function codeOf({ head, body }: Answer): number | undefined {
  const type = /^content-type: *([^\r;]+)/im.exec(head)?.[1] ?? "";
  const last = /connect\+|grpc-web/.test(type)
    ? splitFrames(Buffer.from(body, "latin1")).frames.at(-1)?.data
    : undefined;
  if (type.startsWith("application/grpc-web"))
    return Number(/grpc-status: *(\d+)/.exec(String(last))?.[1]) || undefined;
  const isJson = last !== undefined || /\bjson$/.test(type);
  const json = isJson ? JSON.parse(String(last ?? body)) : {};
  const code = last ? json.error?.code : json.code;
  return typeof code === "string" ? CODES.get(code) : code;
}

const CODES = new Map([
  ["invalid_argument", Code.InvalidArgument],
  ["resource_exhausted", Code.ResourceExhausted],
]);

/** How a backend of streams ends them. */
const streamEnd = () => {
  backend.answer = ({ headers, body }, response) => {
    const type = headers["content-type"] ?? "";
    const stream = type.startsWith("application/connect+");
    response.writeHead(200, { "content-type": type }).end(stream ? enveloped("{}", 2) : body);
  };
};

describe.each(Object.entries(ALL))("%s", (name, { limit, send, over, isCallers = true }) => {
  test.each([
    ["one below", limit - 1],
    ["the limit", limit],
  ])("%s is served", async (_, size) => {
    // A stream of one message that has to be there gets one.
    if (name.includes("stream")) streamEnd();
    if (/line|element/.test(name)) {
      backend.answer = (_, response) =>
        response
          .writeHead(200, { "content-type": "application/connect+proto" })
          .end(Buffer.from(enveloped("") + enveloped("{}", 2), "latin1"));
    }
    const answer = await send(size);
    expect([answer.status, codeOf(answer), backend.arrivals.length]).toEqual([200, undefined, 1]);
  });

  test("one above is refused", async () => {
    const answer = await send(limit + 1);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual(over);
    expect(backend.arrivals.length).toBe(isCallers ? 0 : 1);
  });
});

describe("the defaults", () => {
  test.each<[string, () => Promise<Answer>, number]>([
    ["a URL of 16 KiB", () => ask(defaults, head("GET", urlOf(16_384))), 200],
    ["one more", () => ask(defaults, head("GET", urlOf(16_385))), 414],
    ["a header of 128 KiB", () => ask(defaults, headerOf(131_072, 3)), 200],
    ["one more", () => ask(defaults, headerOf(131_073, 3)), 431],
    ["1000 query parameters", () => ask(defaults, head("GET", `/things?${query(1000)}`)), 200],
    ["1001", () => ask(defaults, head("GET", `/things?${query(1001)}`)), 400],
    ["100 levels", () => ask(defaults, whole("POST", "/things", [JSON_TYPE], nested(100))), 200],
    ["101", () => ask(defaults, whole("POST", "/things", [JSON_TYPE], nested(101))), 400],
    ["4 MiB", () => ask(defaults, whole("POST", "/things", [JSON_TYPE], jsonOf(4 << 20))), 200],
    // Told by the head: workerd closes the connection behind an early answer, which who still writes may not see.
    ["one more byte", () => ask(defaults, head("POST", "/things", JSON_TYPE, "Content-Length: 4194305")), 413],
  ])("%s", async (_, send, status) => {
    expect((await send()).status).toBe(status);
  });

  test("100,000 query parameters: too long for the runtime already", async () => {
    const { status } = await ask(defaults, head("GET", `/things?${query(100_000)}`));
    expect([414, 431]).toContain(status);
    expect(backend.arrivals).toEqual([]);
  });
});
