/** Faults of size, and of time that grows faster than its input. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { ExpectHttp } from "../cases/case.ts";
import { failure } from "../failure.ts";
import { gatewayOf, type Options, postJson, send } from "../library-backend.ts";
import {
  type BuiltCase,
  GET,
  GRPC_WEB,
  JSON_TYPE,
  LONG,
  LONG_JSON,
  LONG_WIRE,
  MIB,
  SET,
  testBuilt,
} from "./built-case.ts";

const SHORT_JSON = Buffer.from('{"id":"a"}');
const REFUSED: ExpectHttp = { status: 400, body_json_partial: { code: Code.InvalidArgument } };
const EXHAUSTED: ExpectHttp = { status: 200, trailers_anywhere: { "grpc-status": String(Code.ResourceExhausted) } };

/** Numbers that are equal in their low 16 bits, as a hash table of V8 once saw them. */
const COLLIDING = Array.from({ length: 50_000 }, (_, i) => String(i * 65_536));
const collidingJson = `{${COLLIDING.map((key) => `"${key}":"1"`).join(",")}}`;
const COLLIDING_MAP = Object.fromEntries(COLLIDING.map((key) => [key, "1"]));

const preflight = (names: string): BuiltCase["request"] => ({
  method: "OPTIONS",
  headers: {
    origin: "https://app.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": names,
  },
});
const CORS = { cors: { allow_origins: ["https://app.example"] } };
const LISTED: ExpectHttp = { status: 204, headers_contain: { "access-control-allow-headers": "content-type" } };

await testBuilt({
  "BUG-103: an answer over the limit is an error, never an empty success": [
    {
      name: "REST",
      options: { max_response_bytes: 1024 },
      request: {},
      rpc: { method: SET, message_json: {} },
      upstream: { message_json: { id: LONG } },
      http: { status: 429, body_json_partial: { code: Code.ResourceExhausted } },
    },
    {
      name: "gRPC-Web",
      options: { max_response_bytes: 1024 },
      request: { path: `/${GET}`, headers: GRPC_WEB, envelopes: [{ flags: 0, base64: "" }] },
      rpc: { method: GET, message_json: {} },
      upstream: { message_json: { id: LONG } },
      http: EXHAUSTED,
    },
    {
      name: "from a gRPC-Web backend",
      options: { max_response_bytes: 1024 },
      request: {},
      rpc: { method: SET, message_json: {} },
      upstream: {
        protocol: "grpc-web",
        raw: {
          status: 200,
          headers: [["content-type", "application/grpc-web+proto"]],
          envelopes: [
            { flags: 0, base64: LONG_WIRE.toString("base64") },
            { flags: 128, text: "grpc-status: 0\r\n" },
          ],
        },
      },
      http: { status: 429, body_json_partial: { code: Code.ResourceExhausted } },
    },
    {
      name: "one that is small while it is compressed",
      options: { max_response_bytes: 1024 },
      request: {},
      rpc: { method: SET, message_json: {} },
      upstream: {
        raw: {
          status: 200,
          headers: [
            ["content-type", "application/proto"],
            ["content-encoding", "gzip"],
          ],
          body_base64: gzipSync(LONG_WIRE).toString("base64"),
        },
      },
      http: { status: 429, body_json_partial: { code: Code.ResourceExhausted } },
    },
  ],
  "BUG-113: keys that collide cost no more than others": [
    {
      name: "in a map",
      request: { path: "/all", bytes: Buffer.from(`{"m":${collidingJson}}`) },
      rpc: { method: "faults.v1.Bodies/Everything", message_json: { m: COLLIDING_MAP } },
      upstream: {},
      http: { status: 200 },
    },
    {
      name: "in a Struct",
      request: { path: "/all", bytes: Buffer.from(`{"struct":${collidingJson}}`) },
      rpc: { method: "faults.v1.Bodies/Everything", message_json: { struct: COLLIDING_MAP } },
      upstream: {},
      http: { status: 200 },
    },
    { name: "unknown ones", request: { bytes: Buffer.from(collidingJson) }, http: REFUSED },
    {
      name: "unknown ones, ignored",
      options: { ignore_unknown_fields: true },
      request: { bytes: Buffer.from(collidingJson) },
      rpc: { method: SET, message_json: {} },
      upstream: {},
      http: { status: 200 },
    },
    {
      name: "names of a form, ignored",
      options: { ignore_unknown_fields: true, forms: true },
      request: {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        // As many as a form may have.
        bytes: Buffer.from(
          COLLIDING.slice(0, 1000)
            .map((key) => `${key}=1`)
            .join("&"),
        ),
      },
      rpc: { method: SET, message_json: {} },
      upstream: {},
      http: { status: 200 },
    },
    {
      name: "in an answer",
      request: { method: "GET", path: "/map", headers: {} },
      rpc: { method: "faults.v1.Bodies/Maps", message_json: {} },
      upstream: { message_json: { m: COLLIDING_MAP } },
      http: { status: 200, body_json: COLLIDING_MAP },
    },
  ],
  "BUG-111: a long list of headers in a preflight is not looked at more than once": [
    { name: "commas", options: CORS, request: preflight(",".repeat(60_000)), http: LISTED },
    { name: "names", options: CORS, request: preflight("x-a,".repeat(15_000)), http: LISTED },
  ],
  "BUG-112: nor is one of spaces": [
    { name: "spaces", options: CORS, request: preflight(`x${" ".repeat(60_000)},y`), http: LISTED },
    { name: "tabs", options: CORS, request: preflight(`x${"\t".repeat(60_000)}`), http: LISTED },
  ],
});

/** A gateway in Node, whose backend answers with an empty message; what reached it is counted. */
function inNode(options: Options = {}) {
  let calls = 0;
  const fetch = async (): Promise<Response> => {
    calls++;
    return new Response(new Uint8Array(0), { headers: { "content-type": "application/proto" } });
  };
  return {
    gateway: gatewayOf("", { backends: { "*": { url: "http://b.example", fetch } }, ...options }),
    calls: () => calls,
  };
}

/** 64 KiB of JSON text at a time, up to `bytes`; and how many were taken. */
function longBody(bytes: number): { readonly stream: ReadableStream<Uint8Array>; taken(): number } {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
        taken += 65_536;
        if (taken >= bytes) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => taken };
}

const HALF = { duplex: "half" } as RequestInit;

describe("BUG-102: what is over the limit is not read to its end", () => {
  it.each(["/v1/books", "/library.v1.Library/CreateBook"])("%s", async (path) => {
    const { gateway, calls } = inNode({ readMaxBytes: MIB });
    const body = longBody(64 * MIB);
    const response = await send(gateway, path, { method: "POST", body: body.stream, headers: JSON_TYPE, ...HALF });
    expect(response.status).toBe(path.startsWith("/v1") ? 413 : 429);
    expect(body.taken()).toBeLessThanOrEqual(MIB + 2 * 65_536);
    expect(calls()).toBe(0);
  });
});

describe("BUG-104: the bytes that came are counted, whatever Content-Length says", () => {
  const declared: readonly [string, number, number][] = [
    ["the true length", 4096, 4096],
    ["a length that is too small", 10, 4096],
    ["a length that is over the limit, of less", 4096, 10],
  ];
  it.each(declared)("%s", async (_, length, bytes) => {
    const { gateway, calls } = inNode({ readMaxBytes: 1024 });
    const body = new Blob([" ".repeat(bytes)]).stream();
    const headers = { ...JSON_TYPE, "content-length": String(length) };
    const response = await send(gateway, "/v1/books", { method: "POST", body, headers, ...HALF });
    expect(response.status).toBe(413);
    expect(calls()).toBe(0);
  });
});

describe("BUG-108: Brotli with bytes behind it ends, where there is Brotli", () => {
  const broken: readonly [string, Buffer][] = [
    ["a zero", Buffer.concat([brotliCompressSync(SHORT_JSON), Buffer.alloc(1)])],
    ["much", Buffer.concat([brotliCompressSync(SHORT_JSON), Buffer.alloc(100_000, 0x55)])],
    ["cut off", brotliCompressSync(LONG_JSON).subarray(0, 8)],
  ];
  it.each(broken)("%s", async (_, body) => {
    const { gateway, calls } = inNode();
    const headers = { ...JSON_TYPE, "content-encoding": "br" };
    const response = await send(gateway, "/v1/books", { method: "POST", body: new Uint8Array(body), headers });
    expect(response.status).toBe(400);
    expect(calls()).toBe(0);
  });
});

describe("BUG-110: a limit is a number that can be counted to", () => {
  it("the largest integer lets a compressed message through whole", async () => {
    const { gateway, calls } = inNode({ readMaxBytes: Number.MAX_SAFE_INTEGER, upstreamReadMaxBytes: 2 ** 32 });
    const headers = { ...JSON_TYPE, "content-encoding": "gzip" };
    const body = new Uint8Array(gzipSync(JSON.stringify({ note: LONG })));
    expect((await send(gateway, "/v1/books", { method: "POST", body, headers })).status).toBe(200);
    expect(calls()).toBe(1);
  });
  it.each([Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1, Number.NaN, 0, -1, 1.5])("%d is refused", (limit) => {
    expect(() => inNode({ readMaxBytes: limit })).toThrow(failure(Code.InvalidArgument, "readMaxBytes"));
    expect(() => inNode({ upstreamReadMaxBytes: limit })).toThrow(
      failure(Code.InvalidArgument, "upstreamReadMaxBytes"),
    );
  });
});

/** No runtime takes fields of 4 MiB; in the Node of a library user they are of any size. Anything quadratic never ends. */
describe("headers of 4 MiB", () => {
  const SIZE = 4 * MIB;
  const fields: readonly [string, string, string][] = [
    ["access-control-request-headers", "x", ` ${" ".repeat(SIZE)},y`],
    ["access-control-request-headers", "", ",".repeat(SIZE)],
    ["accept", "x", `/y${" ".repeat(SIZE)}z`],
    ["accept", "a/b;", "q=".repeat(SIZE / 2)],
    ["accept", "", ",".repeat(SIZE)],
    ["content-type", "application/json;", `${" ".repeat(SIZE)}x`],
    ["content-type", "application/json;", ';charset="'.repeat(SIZE / 10)],
    ["accept-encoding", "gzip;", `${" ".repeat(SIZE)}q`],
    ["connection", "x", ",".repeat(SIZE)],
    ["connection", "x", `${" ".repeat(SIZE)}y`],
    ["origin", "https://", "a.".repeat(SIZE / 2)],
    ["x-a-bin", "AQI", `${" ".repeat(SIZE)}=`],
    ["x-server-timeout", "1", "0".repeat(SIZE)],
    ["host", "a", "a".repeat(SIZE)],
  ];
  it.each(fields)("%s: %s…", async (name, first, rest) => {
    const { gateway } = inNode({ cors: { allowOrigins: ["https://*.app.example"] }, compressMinBytes: 1 });
    const isPreflight = name.startsWith("access-control") || name === "origin";
    const headers = { origin: "https://a.app.example", "access-control-request-method": "POST", [name]: first + rest };
    const init = isPreflight ? { method: "OPTIONS", headers } : postJson({}, { [name]: first + rest });
    expect((await send(gateway, "/v1/books", init)).status).toBeLessThan(500);
  });
});
