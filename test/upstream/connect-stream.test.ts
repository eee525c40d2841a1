import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelopes } from "@connectrpc/connect/protocol";
import { createEndStreamSerialization, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import { callConnectStream } from "../../src/upstream/connect-stream.ts";
import { failure } from "../failure.ts";
import { callOf, drain, fakeBackend, MESSAGE, watched } from "./call.ts";

const TYPE = "application/connect+proto";
const message = { flags: 0, data: MESSAGE };

function endOf(error?: ConnectError, fields: Record<string, string> = {}) {
  const { serialize } = createEndStreamSerialization({});
  return { flags: endStreamFlag, data: serialize({ metadata: new Headers(fields), ...(error && { error }) }) };
}

function answer(...envelopes: Parameters<typeof encodeEnvelopes>): () => Response {
  const headers = { "content-type": TYPE, "x-lead": "1" };
  return () => new Response(encodeEnvelopes(...envelopes) as Uint8Array<ArrayBuffer>, { headers });
}

const optionsOf = (fetch: typeof globalThis.fetch, offersGzip = false) => ({
  url: "http://backend.example",
  fetch,
  readMaxBytes: 1_000,
  offersGzip,
});

test("a stream is called as Connect has it", async () => {
  const { fetch, seen } = fakeBackend(answer(message, endOf()));
  await callConnectStream(callOf("Server", { timeoutMs: 1_500 }), optionsOf(fetch));
  expect(seen[0]?.url).toBe("http://backend.example/test.Service/Server");
  expect(Object.fromEntries(new Headers(seen[0]?.init.headers))).toEqual({
    "connect-protocol-version": "1",
    "connect-timeout-ms": "1500",
    "content-type": TYPE,
  });
});

test.each(["Server", "Bidi"] as const)("%s: messages, header and trailer as connect-es writes them", async (name) => {
  const { fetch } = fakeBackend(answer(message, message, endOf(undefined, { "x-end": "2" })));
  const reply = await callConnectStream(callOf(name), optionsOf(fetch));
  if (reply.body.kind !== "stream") throw new Error(reply.body.kind);
  const { messages, end } = await drain(reply.body.messages);
  expect(messages).toHaveLength(2);
  expect([end.error, Object.fromEntries(end.trailer), reply.header.get("x-lead")]).toEqual([
    undefined,
    { "x-end": "2" },
    "1",
  ]);
});

test("a client stream has one message", async () => {
  const { fetch } = fakeBackend(answer(message, endOf(undefined, { "x-end": "2" })));
  const reply = await callConnectStream(callOf("Client"), optionsOf(fetch));
  expect(reply.body.kind === "message" && (await reply.body.read())).toEqual(MESSAGE);
  expect(reply.trailer?.get("x-end")).toBe("2");
});

test("an error at the end, with its details and metadata", async () => {
  const error = new ConnectError("no", Code.NotFound, { "x-cost": "9" });
  error.details = [{ type: "acme.Reason", value: Uint8Array.of(1, 2) }];
  const stream = await callConnectStream(callOf("Server"), optionsOf(fakeBackend(answer(message, endOf(error))).fetch));
  if (stream.body.kind !== "stream") throw new Error(stream.body.kind);
  const { messages, end } = await drain(stream.body.messages);
  expect([messages.length, end.error?.code, end.error?.details]).toEqual([1, Code.NotFound, error.details]);
  expect(end.trailer.get("x-cost")).toBe("9");

  const single = callConnectStream(callOf("Client"), optionsOf(fakeBackend(answer(endOf(error))).fetch));
  const thrown = await single.catch((error: unknown) => error);
  expect(thrown).toEqual(failure(Code.NotFound, "no"));
  const { metadata } = thrown as ConnectError;
  expect([metadata.get("x-lead"), metadata.get("trailer-x-cost")]).toEqual(["1", "9"]);
});

test.each<[string, number, Record<string, string>, Code]>([
  ["another type", 200, { "content-type": "text/html" }, Code.Unknown],
  ["another codec", 200, { "content-type": "application/connect+json" }, Code.Internal],
  ["a unary answer", 200, { "content-type": "application/proto" }, Code.Unknown],
  ["a coding that nobody offered", 200, { "connect-content-encoding": "snappy" }, Code.Internal],
  ["a proxy's 503", 503, { "content-type": "text/html" }, Code.Unavailable],
  ["a redirect", 307, { location: "/elsewhere" }, Code.Unknown],
])("%s is an error, and its body is let go", async (_, status, header, code) => {
  for (const name of ["Server", "Client"] as const) {
    const { body, gone } = watched(encodeEnvelopes(message, message));
    const { fetch } = fakeBackend(() => new Response(body, { status, headers: { "content-type": TYPE, ...header } }));
    await expect(callConnectStream(callOf(name), optionsOf(fetch))).rejects.toEqual(failure(code));
    await gone;
  }
});
