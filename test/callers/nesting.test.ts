/** Small inputs that would become large: nesting without end, messages in messages in an Any, what is compressed a thousandfold. */
import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { echo, openBackend, openGateways } from "./gateway.ts";
import { type Answer, ask, head, whole } from "./wire.ts";

const backend = await openBackend();
const lenient = { forms: true, unknownFields: "ignore", emitDefaults: true };
const workerd = await openGateways(backend, [{ forms: true }, lenient]);
const [strict = 0, lax = 0] = workerd.ports;

afterEach(async () => {
  backend.answer = echo;
  expect((await ask(strict, head("GET", "/one/next"))).body).toBe('{"id":"next"}');
});

/** Far deeper than any stack. */
const LEVELS = 200_000;
const MIB = 1 << 20;

const around = (open: string, close: string, levels = LEVELS) => open.repeat(levels) + close.repeat(levels);
const TYPE = '"@type":"type.googleapis.com/google.protobuf.Any"';

/** JSON that is nested, whole or never closed. */
const NESTED: Readonly<Record<string, string>> = {
  messages: `${'{"thing":'.repeat(LEVELS)}{}${"}".repeat(LEVELS)}`,
  "messages that never end": '{"thing":'.repeat(LEVELS),
  "lists of a Value": `{"value":${around("[", "]")}}`,
  "lists that never end": `{"value":${"[".repeat(LEVELS)}`,
  "objects of a Value": `{"value":${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}}`,
  "a Struct": `{"struct":${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}}`,
  "Any in Any": `{"any":${`{${TYPE},"value":`.repeat(20_000)}{}${"}".repeat(20_000)}}`,
  "Any in Any, the type last": `{"any":${'{"value":'.repeat(20_000)}{${TYPE}}${`,${TYPE}}`.repeat(20_000)}}`,
  "an unknown field": `{"nope":${around("[", "]")}}`,
  "objects of an unknown field": `{"nope":${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}}`,
  "an unknown field in an Any": `{"any":{"@type":"a/callers.v1.Id","nope":${around("[", "]")}}}`,
  "an unknown field before the type of an Any": `{"any":{"nope":${around("[", "]")},"@type":"a/callers.v1.Id"}}`,
  "no field at all": around("[", "]"),
};

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const part = (json: string) =>
  `--b\r\nContent-Disposition: form-data; name="thing"\r\nContent-Type: application/json\r\n\r\n${json}\r\n--b--\r\n`;

const CALLERS: Readonly<Record<string, (json: string) => string>> = {
  REST: (json) => whole("POST", "/things", ["Content-Type: application/json"], json),
  Connect: (json) => whole("POST", "/callers.v1.Things/Set", ["Content-Type: application/json"], json),
  "a part of a form": (json) => whole("POST", "/things", ["Content-Type: multipart/form-data; boundary=b"], part(json)),
  lines: (json) => whole("POST", "/collect", ["Content-Type: application/x-ndjson"], `${json}\n`),
  "an array": (json) => whole("POST", "/collect", ["Content-Type: application/json"], `[${json}]`),
  "Connect stream": (json) =>
    whole(
      "POST",
      "/callers.v1.Things/List",
      ["Content-Type: application/connect+json"],
      latin1(encodeEnvelope(0, Buffer.from(json))),
    ),
  "compressed to a thousandth": (json) =>
    whole("POST", "/things", ["Content-Type: application/json", "Content-Encoding: gzip"], latin1(gzipSync(json))),
};

function isRefusal({ status, body }: Answer): boolean {
  if (status === 400)
    return JSON.parse(body).code === Code.InvalidArgument || JSON.parse(body).code === "invalid_argument";
  const last = String(splitFrames(Buffer.from(body, "latin1")).frames.at(-1)?.data);
  return status === 200 && JSON.parse(last).error.code === "invalid_argument";
}

describe.each(Object.entries(CALLERS))("%s", (_, format) => {
  test.each(Object.entries(NESTED))("%s", async (_, json) => {
    for (const port of [strict, lax]) {
      const answer = await ask(port, format(json));
      expect([answer.status, isRefusal(answer)], answer.body.slice(0, 300)).toEqual([answer.status, true]);
    }
    expect(backend.arrivals).toEqual([]);
  });
});

test("a frame of a socket", async () => {
  for (const json of Object.values(NESTED)) {
    const socket = new WebSocket(`ws://127.0.0.1:${lax}/talk`);
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    socket.send(json);
    expect((await closed).code).toBe(4000 + Code.InvalidArgument);
  }
});

test("names of a query, as long as a URL may be", async () => {
  for (const text of ["thing.".repeat(2_500), "any.".repeat(4_000), ".".repeat(16_000), "thing.thing".repeat(1_000)]) {
    const { status, body } = await ask(strict, head("GET", `/things?${text}text=a`));
    expect([status, body.length < 2_000]).toEqual([400, true]);
  }
});

/** Messages in messages: a field of that tag, each around the one before. */
function wireAround(tag: number, levels: number, innermost: Buffer = Buffer.alloc(0)): Buffer {
  const parts: Buffer[] = [innermost];
  let size = innermost.length;
  for (let i = 0; i < levels; i++) {
    const bytes: number[] = [tag];
    let rest = size;
    for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
    parts.push(Buffer.from(bytes));
    size += bytes.length;
  }
  return Buffer.concat(parts.reverse());
}

const anyOf = (type: string, value: Buffer) => {
  const url = Buffer.from(`a/${type}`);
  return Buffer.concat([Uint8Array.of(0x0a, url.length), url, wireAround(0x12, 1, value)]);
};
let anyInAny = anyOf("callers.v1.Id", Buffer.alloc(0));
for (let i = 0; i < 1_000; i++) anyInAny = anyOf("google.protobuf.Any", anyInAny);

/** Answers that nest: thing = 8, any = 5, value = 7. */
const ANSWERS: Readonly<Record<string, Buffer>> = {
  messages: wireAround(0x42, LEVELS),
  "Any in Any": wireAround(0x2a, 1, anyInAny),
  // A ListValue in a Value is field 6, a Value in a ListValue field 1.
  "lists of a Value": wireAround(
    0x3a,
    1,
    Array.from({ length: 2_000 }).reduce<Buffer>(
      (inner) => wireAround(0x32, 1, wireAround(0x0a, 1, inner)),
      Buffer.alloc(0),
    ),
  ),
};

describe("an answer that nests", () => {
  test.each(Object.entries(ANSWERS))("%s", async (_, wire) => {
    backend.answer = (_, response) => response.writeHead(200, { "content-type": "application/proto" }).end(wire);
    for (const port of [strict, lax]) {
      const { status, body } = await ask(port, head("GET", "/things"));
      // The backend's fault.
      expect([status, JSON.parse(body).code]).toEqual([500, Code.Internal]);
    }
  });

  test("groups that nobody knows", async () => {
    // Field 15.
    const groups = Buffer.concat([Buffer.alloc(LEVELS, 0x7b), Buffer.alloc(LEVELS, 0x7c)]);
    backend.answer = (_, response) => response.writeHead(200, { "content-type": "application/proto" }).end(groups);
    const { status, body } = await ask(strict, head("GET", "/things"));
    expect([status, JSON.parse(body).code]).toEqual([500, Code.Internal]);
  });

  test("details of an error never hide it", async () => {
    const value = anyInAny.toString("base64");
    const error = { code: "not_found", message: "no", details: [{ type: "google.protobuf.Any", value }] };
    backend.answer = (_, response) =>
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(error));
    const { status, body } = await ask(strict, head("GET", "/things"));
    expect([status, JSON.parse(body).code, JSON.parse(body).message]).toEqual([404, Code.NotFound, "no"]);
    backend.answer = (_, response) =>
      response.writeHead(404, { "content-type": "application/json" }).end(around("[", "]"));
    expect((await ask(strict, head("GET", "/things"))).status).toBe(501);
  });
});

/** 64 MiB of zeros or spaces in 64 kB, and more of it. */
const BOMB = latin1(gzipSync(Buffer.alloc(64 * MIB, " ")));
const BOMBS: Readonly<Record<string, readonly [request: string, status: number]>> = {
  REST: [whole("POST", "/things", ["Content-Type: application/json", "Content-Encoding: gzip"], BOMB), 413],
  "an upload": [whole("POST", "/raw", ["Content-Type: text/plain", "Content-Encoding: gzip"], BOMB), 413],
  "a form": [
    whole("POST", "/things", ["Content-Type: multipart/form-data; boundary=b", "Content-Encoding: gzip"], BOMB),
    413,
  ],
  "a line": [whole("POST", "/collect", ["Content-Type: application/x-ndjson", "Content-Encoding: gzip"], BOMB), 413],
  Connect: [
    whole("POST", "/callers.v1.Things/Set", ["Content-Type: application/json", "Content-Encoding: gzip"], BOMB),
    429,
  ],
  "twice compressed": [
    whole(
      "POST",
      "/things",
      ["Content-Type: application/json", "Content-Encoding: gzip"],
      latin1(gzipSync(Buffer.from(BOMB, "latin1"))),
    ),
    400,
  ],
  "two codings": [
    whole("POST", "/things", ["Content-Type: application/json", "Content-Encoding: gzip, gzip"], BOMB),
    415,
  ],
};

describe("a bomb", () => {
  test.each(Object.entries(BOMBS))("%s", async (_, [request, status]) => {
    expect((await ask(strict, request)).status).toBe(status);
    expect(backend.arrivals).toEqual([]);
  });

  test("in each of a hundred envelopes", async () => {
    const envelope = latin1(encodeEnvelope(1, gzipSync(Buffer.alloc(64 * MIB, " "))));
    const lines = ["Content-Type: application/connect+json", "Connect-Content-Encoding: gzip"];
    const { body } = await ask(strict, whole("POST", "/callers.v1.Things/Talk", lines, envelope.repeat(100)));
    expect(body).toContain("resource_exhausted");
  });
});
