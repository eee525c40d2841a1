import { gunzipSync, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, encodeEnvelopes } from "@connectrpc/connect/protocol";
import { endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import type { Body, Reply } from "../../src/call.ts";
import { connectStreamDialect } from "../../src/client/connect-stream.ts";
import { createEnvelopedExchange, failedEnd } from "../../src/client/enveloped.ts";
import type { ClientOptions, Exchange } from "../../src/client/exchange.ts";
import { grpcWebDialect } from "../../src/client/grpc-web.ts";
import { singleMessage } from "../../src/protocol/messages.ts";
import { splitFrames } from "../cases/envelope.ts";
import { failure } from "../failure.ts";
import { driven } from "../upstream/call.ts";
import { codecsOf, methodOf, OPTIONS, shown, wireOf } from "./shop.ts";

const JSON_TEXT = '{"name":"a","count":1}';
const MESSAGE = { name: "a", count: 1 };
const WIRE = wireOf("shop.v1.Request", MESSAGE);

interface Setting {
  readonly method?: string;
  readonly header?: Record<string, string>;
  readonly passthrough?: boolean;
  readonly options?: Partial<ClientOptions>;
  readonly httpMethod?: string;
}

function exchangeOf(type: string, body: Uint8Array | string, setting: Setting = {}): Exchange {
  const { method = "Chat", header, passthrough = false, options, httpMethod = "POST" } = setting;
  const dialect = connectStreamDialect(type) ?? grpcWebDialect(type);
  if (!dialect) throw new Error(type);
  const request = new Request("http://gateway.example/", {
    method: httpMethod,
    headers: { "content-type": type, ...header },
    ...(httpMethod === "POST" && { body: body as BodyInit }),
  });
  const desc = methodOf(method);
  return createEnvelopedExchange(
    { request, method: desc },
    codecsOf(desc),
    { ...OPTIONS, ...options },
    dialect,
    passthrough,
  );
}

/** Messages of a request, as JSON that protobuf-es writes of the wire. */
async function requestOf(body: Body): Promise<unknown[]> {
  if (body.kind === "raw") throw new Error("the body is raw");
  if (body.kind === "message") return [shown("shop.v1.Request", await body.read())];
  const seen: unknown[] = [];
  for (let batch = await body.messages.next(); batch; batch = await body.messages.next()) {
    seen.push(...batch.map((wire) => shown("shop.v1.Request", wire)));
  }
  const { error } = await body.messages.end;
  if (error) throw error;
  return seen;
}

const envelope = (data: Uint8Array | string, flags = 0) => encodeEnvelope(flags, new Uint8Array(Buffer.from(data)));
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

test.each<[string, Uint8Array | string, Record<string, string>]>([
  ["application/connect+proto", envelope(WIRE), {}],
  ["application/connect+json", envelope(JSON_TEXT), {}],
  ["application/grpc-web+proto", envelope(WIRE), {}],
  ["application/grpc-web+json", envelope(JSON_TEXT), {}],
  ["application/grpc-web-text", base64(envelope(WIRE)), {}],
  ["application/connect+json", envelope(gzipSync(JSON_TEXT), 1), { "connect-content-encoding": "gzip" }],
  ["application/grpc-web", envelope(gzipSync(WIRE), 1), { "grpc-encoding": "gzip" }],
])("a message of %s, in every kind of call", async (type, body, header) => {
  for (const method of ["Create", "Watch", "Collect", "Chat"]) {
    const opened = exchangeOf(type, body, { method, header }).open();
    expect(await requestOf(opened.body)).toEqual([MESSAGE]);
    expect([...opened.header]).toEqual([]);
    expect("duplex" in opened.body && opened.body.duplex).toBe(method === "Chat" ? "full" : false);
  }
});

test("streams hold any number of messages, other calls one", async () => {
  const two = encodeEnvelopes({ flags: 0, data: WIRE }, { flags: 0, data: WIRE });
  const read = (method: string, body: Uint8Array) =>
    requestOf(exchangeOf("application/connect+proto", body, { method }).open().body);
  expect(await read("Collect", two)).toEqual([MESSAGE, MESSAGE]);
  expect(await read("Collect", new Uint8Array(0))).toEqual([]);
  await expect(read("Watch", two)).rejects.toEqual(failure(Code.Unimplemented, "more than one"));
  await expect(read("Watch", new Uint8Array(0))).rejects.toEqual(failure(Code.Unimplemented, "no message"));
});

test.each<[string, string, Uint8Array | string, Record<string, string>, Code]>([
  ["JSON that is none", "application/connect+json", envelope("{"), {}, Code.InvalidArgument],
  ["an unknown field", "application/connect+json", envelope('{"x":1}'), {}, Code.InvalidArgument],
  ["half an envelope", "application/connect+proto", envelope(WIRE).subarray(0, 7), {}, Code.InvalidArgument],
  ["no base64", "application/grpc-web-text", "!!!!", {}, Code.InvalidArgument],
  ["half a group of base64", "application/grpc-web-text", "AAA", {}, Code.InvalidArgument],
  ["a message over the limit", "application/connect+proto", envelope(new Uint8Array(101)), {}, Code.ResourceExhausted],
  [
    "a bomb",
    "application/connect+proto",
    envelope(gzipSync(new Uint8Array(101)), 1),
    { "connect-content-encoding": "gzip" },
    Code.ResourceExhausted,
  ],
  ["no gzip", "application/grpc-web", envelope("plain", 1), { "grpc-encoding": "gzip" }, Code.InvalidArgument],
])("%s is refused in every kind of call", async (_, type, body, header, code) => {
  for (const method of ["Create", "Watch", "Collect", "Chat"]) {
    const opened = exchangeOf(type, body, { method, header, options: { readMaxBytes: 100 } }).open();
    await expect(requestOf(opened.body)).rejects.toEqual(failure(code));
  }
});

test("a coding that nobody knows is unimplemented, and other HTTP methods than POST are refused, before anything is read", () => {
  const unknown = exchangeOf("application/grpc-web", "", { header: { "grpc-encoding": "snappy" } });
  expect(() => unknown.open()).toThrow(failure(Code.Unimplemented, '"snappy"', "gzip"));
  const put = exchangeOf("application/grpc-web", "", { httpMethod: "PUT" });
  expect(() => put.open()).toThrow(failure(Code.Unimplemented, "POST"));
});

test.each<[string, Record<string, string>, Record<string, string>]>([
  [
    "application/connect+proto",
    { "connect-content-encoding": "gzip", "connect-accept-encoding": "gzip, br", "grpc-encoding": "x", "x-a": "1" },
    { "connect-content-encoding": "gzip", "connect-accept-encoding": "gzip, br", "x-a": "1" },
  ],
  [
    "application/grpc-web+proto",
    { "grpc-encoding": "identity", "grpc-accept-encoding": "gzip", "grpc-timeout": "1S" },
    { "grpc-accept-encoding": "gzip" },
  ],
])("%s passes untouched where it may, with what belongs to it", async (type, header, passed) => {
  const bytes = Uint8Array.of(9, 9, 9);
  const opened = exchangeOf(type, bytes, { header, passthrough: true }).open();
  expect(Object.fromEntries(opened.header)).toEqual(passed);
  if (opened.body.kind !== "raw") throw new Error(opened.body.kind);
  expect(await new Response(opened.body.stream).bytes()).toEqual(bytes);
  const stream = new Blob([bytes]).stream();
  const answer = await exchangeOf(type, bytes, { passthrough: true }).respond({
    header: new Headers({ "x-lead": "1" }),
    body: { kind: "raw", stream },
  });
  expect([answer.headers.get("content-type"), answer.headers.get("x-lead")]).toEqual([type, "1"]);
  expect(await answer.bytes()).toEqual(bytes);
});

test.each(["application/connect+json", "application/grpc-web+json", "application/grpc-web-text"])(
  "%s never passes untouched",
  (type) => {
    expect(exchangeOf(type, "", { passthrough: true }).open().body.kind).not.toBe("raw");
  },
);

const ITEM = wireOf("shop.v1.Item", { name: "b" });
const message = (): Reply => ({
  header: new Headers({ "x-lead": "1" }),
  trailer: new Headers({ "x-end": "2" }),
  body: { kind: "message", read: async () => ITEM },
});

test("an answer of one message, or of a stream, ends with its trailer", async () => {
  const streamed: Reply = {
    header: new Headers({ "x-lead": "1" }),
    body: { kind: "stream", messages: singleMessage(ITEM, new Headers({ "x-end": "2" })) },
  };
  for (const reply of [message(), streamed]) {
    const response = await exchangeOf("application/connect+json", "").respond(reply);
    expect([response.status, response.headers.get("x-lead")]).toEqual([200, "1"]);
    const { frames, rest } = splitFrames(await response.bytes());
    expect([frames.length, rest.length, frames[0]?.flags]).toEqual([2, 0, 0]);
    expect(JSON.parse(String(frames[0]?.data))).toEqual({ name: "b" });
    expect(endStreamFromJson(String(frames[1]?.data)).metadata.get("x-end")).toBe("2");
  }
});

test("messages are compressed from their size on, where the caller takes it, and each says so", async () => {
  const answer = async (accept: string, minBytes: number | undefined) => {
    const header = { "grpc-accept-encoding": accept };
    const setting = { header, options: { compressMinBytes: minBytes } };
    const response = await exchangeOf("application/grpc-web", "", setting).respond(message());
    const { frames } = splitFrames(await response.bytes());
    return { encoding: response.headers.get("grpc-encoding"), flags: frames[0]?.flags, data: frames[0]?.data };
  };
  const zipped = await answer("gzip", 1);
  expect([zipped.encoding, zipped.flags, gunzipSync(zipped.data ?? "")]).toEqual(["gzip", 1, Buffer.from(ITEM)]);
  expect(await answer("gzip", 1_000)).toEqual({ encoding: "gzip", flags: 0, data: Buffer.from(ITEM) });
  expect(await answer("snappy", 1)).toEqual({ encoding: null, flags: 0, data: Buffer.from(ITEM) });
  expect(await answer("gzip", undefined)).toEqual({ encoding: null, flags: 0, data: Buffer.from(ITEM) });
});

test("a message that cannot be shown ends the stream with an error, and cancels the backend's", async () => {
  const { messages, send, cancelled } = driven();
  send(ITEM);
  send(Uint8Array.of(0x0a, 9));
  const reply: Reply = { header: new Headers(), body: { kind: "stream", messages } };
  const response = await exchangeOf("application/connect+json", "").respond(reply);
  const { frames } = splitFrames(await response.bytes());
  expect(frames.map(({ flags }) => flags)).toEqual([0, 2]);
  expect(endStreamFromJson(String(frames[1]?.data)).error).toEqual(failure(Code.Internal));
  await cancelled;
});

test("a reader that leaves cancels the backend's stream", async () => {
  const { messages, send, cancelled } = driven();
  send(ITEM);
  const reply: Reply = { header: new Headers(), body: { kind: "stream", messages } };
  const reader = (await exchangeOf("application/grpc-web-text", "").respond(reply)).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(await cancelled).toEqual(failure(Code.Canceled));
});

test("metadata of a failure is trailing, however it was marked, and what belongs to the exchange is left out", () => {
  const fields = { "x-cost": "9", "trailer-x-end": "2", "grpc-status": "0", "content-type": "text/html" };
  const error = new ConnectError("no", Code.NotFound, fields);
  const end = failedEnd(error);
  expect([end.error, Object.fromEntries(end.trailer)]).toEqual([error, { "x-cost": "9", "x-end": "2" }]);
});
