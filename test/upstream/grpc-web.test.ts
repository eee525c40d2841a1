import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, encodeEnvelopes } from "@connectrpc/connect/protocol";
import { setTrailerStatus, trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { expect, test } from "vitest";
import { createGrpcWebUpstream, type GrpcWebUpstreamOptions } from "../../src/upstream/grpc-web.ts";
import { failure } from "../failure.ts";
import { callOf, drain, driven, fakeBackend, MESSAGE, watched } from "./call.ts";

const TYPE = "application/grpc-web+proto";

function upstream(fetch: typeof globalThis.fetch, options: Partial<GrpcWebUpstreamOptions> = {}) {
  return createGrpcWebUpstream({
    url: "http://backend.example/prefix",
    fetch,
    readMaxBytes: 1_000,
    offersGzip: false,
    convert: false,
    ...options,
  });
}

function trailers(error?: ConnectError, fields: Record<string, string> = {}) {
  return { flags: trailerFlag, data: trailerSerialize(setTrailerStatus(new Headers(fields), error)) };
}
const message = { flags: 0, data: MESSAGE };

function answer(envelopes: Parameters<typeof encodeEnvelopes>, header: Record<string, string> = {}): () => Response {
  const headers = { "content-type": TYPE, "x-lead": "1", ...header };
  return () => new Response(encodeEnvelopes(...envelopes) as Uint8Array<ArrayBuffer>, { headers });
}

test("a call is gRPC-Web's POST, under the url's prefix, without redirects", async () => {
  const { fetch, seen } = fakeBackend(answer([message, trailers()]));
  await upstream(fetch)(callOf("Unary", { timeoutMs: 1_500, header: new Headers({ "x-ask": "1" }) }));
  expect(seen.map(({ url }) => url)).toEqual(["http://backend.example/prefix/test.Service/Unary"]);
  const { method, headers, body, redirect, cf } = seen[0]?.init ?? {};
  expect([method, redirect, cf]).toEqual(["POST", "manual", undefined]);
  expect(Object.fromEntries(new Headers(headers))).toEqual({
    "content-type": TYPE,
    "grpc-timeout": "1500m",
    "x-ask": "1",
    "x-grpc-web": "1",
  });
  expect(body).toEqual(encodeEnvelope(0, MESSAGE));
});

test("a backend of gRPC gets the bare type, and the edge is told to convert", async () => {
  const { fetch, seen } = fakeBackend(answer([message, trailers()], { "content-type": "application/grpc-web" }));
  await upstream(fetch, { convert: true })(callOf("Unary"));
  const { headers, cf } = seen[0]?.init ?? {};
  expect([new Headers(headers).get("content-type"), cf]).toEqual(["application/grpc-web", { grpcWeb: "convert" }]);
  expect(new Headers(headers).has("grpc-timeout")).toBe(false);
});

test.each(["Unary", "Client"] as const)("%s has one message, with header and trailer", async (name) => {
  const { fetch } = fakeBackend(answer([message, trailers(undefined, { "x-end": "2", "x-end-bin": "AP8" })]));
  const reply = await upstream(fetch)(callOf(name));
  if (reply.body.kind !== "message") throw new Error(reply.body.kind);
  expect(await reply.body.read()).toEqual(MESSAGE);
  expect(reply.header.get("x-lead")).toBe("1");
  // The status is no metadata.
  expect(Object.fromEntries(reply.trailer ?? [])).toEqual({ "x-end": "2", "x-end-bin": "AP8" });
});

test.each(["Server", "Bidi"] as const)("%s has a stream, with the trailer at its end", async (name) => {
  const { fetch } = fakeBackend(answer([message, message, trailers(undefined, { "x-end": "2" })]));
  const reply = await upstream(fetch)(callOf(name));
  if (reply.body.kind !== "stream") throw new Error(reply.body.kind);
  const { messages, end } = await drain(reply.body.messages);
  expect(messages).toEqual([[...MESSAGE], [...MESSAGE]]);
  expect([end.error, Object.fromEntries(end.trailer)]).toEqual([undefined, { "x-end": "2" }]);
});

const NOT_FOUND = new ConnectError("no ☕", Code.NotFound);
test("a unary failure holds its header, and its trailer marked as such", async () => {
  const { fetch } = fakeBackend(answer([trailers(NOT_FOUND, { "x-end": "2" })]));
  const error = await upstream(fetch)(callOf("Unary")).catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.NotFound, "no ☕"));
  const { metadata } = error as ConnectError;
  expect([metadata.get("x-lead"), metadata.get("trailer-x-end")]).toEqual(["1", "2"]);
});

test("a header that is the whole answer is the trailer too, but for HTTP's date", async () => {
  const date = "Tue, 15 Nov 1994 08:12:31 GMT";
  const { fetch } = fakeBackend(answer([], { date, "grpc-status": "5", "x-end": "2" }));
  const reply = await upstream(fetch)(callOf("Server"));
  if (reply.body.kind !== "stream") throw new Error(reply.body.kind);
  const { end } = await drain(reply.body.messages);
  expect([end.error, Object.fromEntries(end.trailer)]).toEqual([
    failure(Code.NotFound),
    { "x-end": "2", "x-lead": "1" },
  ]);
});

test("a failed stream ends with its error and trailer after its messages", async () => {
  const { fetch } = fakeBackend(answer([message, trailers(NOT_FOUND, { "x-end": "2" })]));
  const reply = await upstream(fetch)(callOf("Server"));
  if (reply.body.kind !== "stream") throw new Error(reply.body.kind);
  const { messages, end } = await drain(reply.body.messages);
  expect(messages).toHaveLength(1);
  expect(end.error).toEqual(failure(Code.NotFound, "no ☕"));
  expect(end.trailer.get("x-end")).toBe("2");
});

test("text is read too, each piece padded by itself", async () => {
  const pieces = [message, trailers()].map((one) => Buffer.from(encodeEnvelopes(one)).toString("base64"));
  const headers = { "content-type": "application/grpc-web-text+proto" };
  const { fetch } = fakeBackend(() => new Response(pieces.join(""), { headers }));
  const reply = await upstream(fetch)(callOf("Unary"));
  expect(reply.body.kind === "message" && (await reply.body.read())).toEqual(MESSAGE);
});

test.each<[string, number, Record<string, string>, Code]>([
  ["another type", 200, { "content-type": "text/html" }, Code.Unknown],
  ["another codec", 200, { "content-type": "application/grpc-web+json" }, Code.Internal],
  ["a coding that nobody offered", 200, { "grpc-encoding": "snappy" }, Code.Internal],
  ["a proxy's 502", 502, { "content-type": "text/html" }, Code.Unavailable],
  ["a redirect", 302, { location: "/elsewhere" }, Code.Unknown],
  ["a status with HTTP 400", 400, { "grpc-status": "7" }, Code.PermissionDenied],
])("%s is an error, and its body is let go", async (_, status, header, code) => {
  for (const name of ["Unary", "Server", "Client"] as const) {
    const { body, gone } = watched(encodeEnvelopes(message, message));
    const { fetch } = fakeBackend(() => new Response(body, { status, headers: { "content-type": TYPE, ...header } }));
    await expect(upstream(fetch)(callOf(name))).rejects.toEqual(failure(code));
    await gone;
  }
});

test("a second message where one is due is unimplemented, and the rest is let go", async () => {
  const { body, gone } = watched(encodeEnvelopes(message, message));
  const { fetch } = fakeBackend(() => new Response(body, { headers: { "content-type": TYPE } }));
  await expect(upstream(fetch)(callOf("Unary"))).rejects.toEqual(failure(Code.Unimplemented));
  await gone;
});

test("an answer that is complete ends what is left of the request", async () => {
  for (const name of ["Client", "Bidi"] as const) {
    const request = driven();
    request.send(MESSAGE);
    // Reads nothing.
    const fetch = async () => answer([message, trailers()])();
    const reply = await upstream(fetch)(callOf(name, { body: { kind: "stream", messages: request.messages } }));
    if (reply.body.kind === "stream") expect((await drain(reply.body.messages)).end.error).toBeUndefined();
    expect(await request.cancelled).toEqual(failure(Code.Canceled));
  }
});

test("an untouched body keeps what it cannot do without", async () => {
  const raw = { kind: "raw", stream: null } as const;
  const header = { "grpc-encoding": "gzip", "grpc-status": "5", "grpc-message": "no", "grpc-accept-encoding": "br" };
  const { fetch } = fakeBackend(answer([], header));
  const reply = await upstream(fetch)(callOf("Server", { body: raw }));
  expect(reply.body.kind).toBe("raw");
  expect(Object.fromEntries(reply.header)).toEqual({
    "grpc-encoding": "gzip",
    "grpc-message": "no",
    "grpc-status": "5",
    "x-lead": "1",
  });
  const text = fakeBackend(() => new Response("", { headers: { "content-type": "application/grpc-web-text" } }));
  await expect(upstream(text.fetch)(callOf("Server", { body: raw }))).rejects.toEqual(failure(Code.Internal));
});
