/**
 * Answers that do not end as their protocol wants: each is the right error for every client protocol, after the messages
 * that were whole, and never success. What passes untouched stays as it is: its caller sees what the backend wrote.
 */
import http, { type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readBody, serve } from "../server.ts";
import { RUNTIMES, startGateways } from "./gateways.ts";
import { type Codec, countMessages, endOf, outcomeOf, type Protocol, restOutcomeOf, typeOf } from "./outcome.ts";
import { set } from "./schema.ts";

interface Ending {
  readonly name: string;
  readonly status?: number;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** What the caller is told. */
  readonly outcome: string;
  /** How many messages reach the caller. Default 0. */
  readonly messages?: number;
}

const READ_MAX_BYTES = 1_000;
const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
const LONG = encodeEnvelope(0, new Uint8Array(READ_MAX_BYTES + 1));
const END = endOf("connect");
const TRAILERS = endOf("grpc-web");
const text = (flags: number, value: string) => encodeEnvelope(flags, Buffer.from(value));
const trailers = (value: string) => text(0x80, value);

/** Of both protocols. */
function shared(end: Uint8Array, encodingField: string): Ending[] {
  return [
    { name: "whole", body: [MESSAGE, MESSAGE, end], outcome: "ok", messages: 2 },
    { name: "whole, without messages", body: [end], outcome: "ok" },
    { name: "messages and no end", body: [MESSAGE, MESSAGE], outcome: "internal", messages: 2 },
    { name: "cut inside a prefix", body: [MESSAGE, MESSAGE.subarray(0, 3)], outcome: "internal", messages: 1 },
    { name: "cut inside a message", body: [MESSAGE, MESSAGE.subarray(0, 6)], outcome: "internal", messages: 1 },
    { name: "cut inside the end", body: [MESSAGE, end.subarray(0, 6)], outcome: "internal", messages: 1 },
    { name: "a message behind the end", body: [MESSAGE, end, MESSAGE], outcome: "internal", messages: 1 },
    { name: "a second end", body: [MESSAGE, end, end], outcome: "internal", messages: 1 },
    { name: "a message that is too long", body: [MESSAGE, LONG, end], outcome: "resource_exhausted", messages: 1 },
    {
      name: "a message that says it has four gigabytes",
      body: [MESSAGE, Uint8Array.of(0, 255, 255, 255, 255)],
      outcome: "resource_exhausted",
      messages: 1,
    },
    { name: "compressed, nothing declared", body: [MESSAGE, text(1, "a"), end], outcome: "internal", messages: 1 },
    {
      name: "compressed, and not what was declared",
      header: { [encodingField]: "gzip" },
      body: [MESSAGE, text(1, "a"), end],
      outcome: "internal",
      messages: 1,
    },
    {
      name: "a bomb",
      header: { [encodingField]: "gzip" },
      body: [MESSAGE, encodeEnvelope(1, gzipSync(new Uint8Array(READ_MAX_BYTES + 1))), end],
      outcome: "resource_exhausted",
      messages: 1,
    },
    {
      name: "compressed in a coding that nobody offered",
      header: { [encodingField]: "snappy" },
      body: [MESSAGE, end],
      outcome: "internal",
    },
    { name: "another content type", header: { "content-type": "text/html" }, outcome: "unknown" },
    { name: "no content type", header: { "content-type": "" }, outcome: "unknown" },
    { name: "a proxy's 503", status: 503, header: { "content-type": "text/html" }, outcome: "unavailable" },
    { name: "a proxy's 401", status: 401, header: { "content-type": "text/html" }, outcome: "unauthenticated" },
    { name: "a redirect", status: 302, header: { location: "/elsewhere" }, outcome: "unknown" },
  ];
}

const ENDINGS: Readonly<Record<Protocol, readonly Ending[]>> = {
  connect: [
    ...shared(END, "connect-content-encoding"),
    { name: "nothing", body: [], outcome: "internal" },
    { name: "an end that is no JSON", body: [MESSAGE, text(2, "ok")], outcome: "internal", messages: 1 },
    { name: "an end that is no object", body: [MESSAGE, text(2, "[]")], outcome: "internal", messages: 1 },
    {
      name: "an error, then nothing",
      body: [text(2, '{"error":{"code":"not_found","message":"no"}}')],
      outcome: "not_found",
    },
    {
      name: "an error after a message",
      body: [MESSAGE, text(2, '{"error":{"code":"data_loss"}}')],
      outcome: "data_loss",
      messages: 1,
    },
    {
      name: "an error of a code that nobody knows",
      body: [MESSAGE, text(2, '{"error":{"code":"gone"}}')],
      outcome: "unknown",
      messages: 1,
    },
    { name: "an error of no code", body: [MESSAGE, text(2, '{"error":{}}')], outcome: "unknown", messages: 1 },
    { name: "the end of gRPC-Web", body: [MESSAGE, TRAILERS], outcome: "internal", messages: 1 },
  ],
  "grpc-web": [
    ...shared(TRAILERS, "grpc-encoding"),
    { name: "nothing, and no status", body: [], outcome: "unknown" },
    { name: "only a status in the header", header: { "grpc-status": "9" }, body: [], outcome: "failed_precondition" },
    { name: "only status 0 in the header", header: { "grpc-status": "0" }, body: [], outcome: "ok" },
    {
      name: "a status in the header, messages, and no trailers",
      header: { "grpc-status": "0" },
      body: [MESSAGE],
      outcome: "internal",
      messages: 1,
    },
    {
      name: "a status in the header and one in the trailers",
      header: { "grpc-status": "5" },
      body: [MESSAGE, TRAILERS],
      outcome: "ok",
      messages: 1,
    },
    { name: "trailers without status", body: [MESSAGE, trailers("x: 1\r\n")], outcome: "unknown", messages: 1 },
    { name: "empty trailers", body: [MESSAGE, trailers("")], outcome: "unknown", messages: 1 },
    { name: "a status that is none", body: [MESSAGE, trailers("grpc-status:x")], outcome: "unknown", messages: 1 },
    {
      name: "a status that nobody knows",
      body: [MESSAGE, trailers("grpc-status: 77")],
      outcome: "unknown",
      messages: 1,
    },
    { name: "an error, then nothing", body: [trailers("grpc-status: 5\r\n")], outcome: "not_found" },
    {
      name: "an error after a message",
      body: [MESSAGE, trailers("grpc-status: 15\r\n")],
      outcome: "data_loss",
      messages: 1,
    },
    { name: "HTTP 400 with a status", status: 400, header: { "grpc-status": "7" }, outcome: "permission_denied" },
    { name: "the end of Connect", body: [MESSAGE, END], outcome: "internal", messages: 1 },
  ],
};

let ending: { readonly protocol: Protocol; readonly ending: Ending };
const backend = await serve(async (request, response) => {
  await readBody(request);
  const { status = 200, header, body } = ending.ending;
  const fields = Object.entries({ "content-type": typeOf(ending.protocol), ...header }).filter(([, value]) => value);
  response.writeHead(status, Object.fromEntries(fields));
  response.end(Buffer.concat(body ?? [Buffer.from("<html>")]));
});
const UPSTREAMS: readonly Protocol[] = ["connect", "grpc-web"];
const gateways = await startGateways(
  set,
  UPSTREAMS.map((protocol) => ({
    upstreamReadMaxBytes: READ_MAX_BYTES,
    backends: { "*": { url: backend.url, protocol } },
  })),
);
beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await gateways.stop();
  await backend[Symbol.asyncDispose]();
});

async function post(url: string, header: Record<string, string>, body: Uint8Array): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  http.request(url, { method: "POST", headers: header, agent: false }, resolve).on("error", reject).end(body);
  return promise;
}

interface Told {
  readonly outcome: string;
  readonly messages: number;
}

async function callRpc(url: string, protocol: Protocol, codec: Codec): Promise<Told> {
  const request = codec === "proto" ? MESSAGE : text(0, '{"text":"a"}');
  const response = await post(`${url}/matrix.v1.Matrix/Watch`, { "content-type": typeOf(protocol, codec) }, request);
  const body = await readBody(response);
  return { outcome: outcomeOf(response, body, protocol), messages: countMessages(body, protocol) };
}

async function callRest(url: string): Promise<Told> {
  const header = { "content-type": "application/json", accept: "application/x-ndjson" };
  const response = await post(`${url}/v1/watch`, header, Buffer.from("{}"));
  return restOutcomeOf(response, String(await readBody(response)));
}

const CLIENTS: readonly { name: string; passes?: Protocol; call(url: string): Promise<Told> }[] = [
  { name: "Connect proto", passes: "connect", call: (url) => callRpc(url, "connect", "proto") },
  { name: "Connect JSON", call: (url) => callRpc(url, "connect", "json") },
  { name: "gRPC-Web proto", passes: "grpc-web", call: (url) => callRpc(url, "grpc-web", "proto") },
  { name: "gRPC-Web JSON", call: (url) => callRpc(url, "grpc-web", "json") },
  { name: "REST", call: callRest },
];

for (const runtime of RUNTIMES) {
  for (const [i, upstream] of UPSTREAMS.entries()) {
    for (const client of CLIENTS.filter(({ passes }) => passes !== upstream)) {
      describe(`${client.name} to ${upstream} through ${runtime}`, () => {
        it.each(ENDINGS[upstream])("$name: $outcome", async (one) => {
          ending = { protocol: upstream, ending: one };
          const { outcome, messages = 0 } = one;
          expect(await client.call(gateways.url(runtime, i))).toEqual({ outcome, messages });
        });
      });
    }

    describe(`untouched, ${upstream} through ${runtime}`, () => {
      const passing = ENDINGS[upstream].filter(({ status, body }) => status === undefined && body);
      it.each(passing)("$name", async (one) => {
        ending = { protocol: upstream, ending: one };
        const url = `${gateways.url(runtime, i)}/matrix.v1.Matrix/Watch`;
        const response = await post(url, { "content-type": typeOf(upstream) }, MESSAGE);
        expect(await readBody(response)).toEqual(Buffer.concat(one.body ?? []));
        expect(response.headers["grpc-status"]).toBe(one.header?.["grpc-status"]);
      });
    });
  }
}
