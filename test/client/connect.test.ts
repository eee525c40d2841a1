import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import { connectAllow, createConnectExchange, formatConnectFailure } from "../../src/client/connect.ts";
import type { ClientOptions, Exchange } from "../../src/client/exchange.ts";
import { splitTarget } from "../../src/client/target.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { codecsOf, methodOf, OPTIONS, replyOf, requestMessage, shown, wireOf } from "./shop.ts";

interface Init extends RequestInit {
  readonly method?: string;
}

function exchangeOf(
  name: string,
  target: string,
  init: Init,
  passthrough = false,
  options: Partial<ClientOptions> = {},
): Exchange {
  const request = new Request(`http://gateway.example${target}`, init);
  const method = methodOf(name);
  const { query } = splitTarget(request.url);
  return createConnectExchange({ request, method, query }, codecsOf(method), { ...OPTIONS, ...options }, passthrough);
}

function post(body: BodyInit, contentType?: string, header: Record<string, string> = {}): Init {
  const content = typeof body === "string" ? new Blob([body]) : body;
  return { method: "POST", body: content, headers: { ...(contentType && { "content-type": contentType }), ...header } };
}

const create = (init: Init, passthrough = false, options: Partial<ClientOptions> = {}) =>
  exchangeOf("Create", "/shop.v1.Shop/Create", init, passthrough, options);
const find = (query: string, options: Partial<ClientOptions> = {}) =>
  exchangeOf("Find", `/shop.v1.Shop/Find?${query}`, {}, false, options);

const JSON_TEXT = '{"name":"a","count":1}';
const WIRE = wireOf("shop.v1.Request", { name: "a", count: 1 });
const MESSAGE = { name: "a", count: 1 };

test.each<[string, BodyInit, string | undefined]>([
  ["JSON", JSON_TEXT, "application/json"],
  ["JSON with a charset", JSON_TEXT, "application/json; charset=utf-8"],
  ["JSON without a type", JSON_TEXT, undefined],
  ["binary", WIRE, "application/proto"],
  ["binary, empty", new Uint8Array(0), "application/proto"],
])("POST of %s", async (_, body, contentType) => {
  const empty = body instanceof Uint8Array && body.length === 0;
  expect(await requestMessage(create(post(body, contentType, { "connect-protocol-version": "1" })))).toEqual(
    empty ? {} : MESSAGE,
  );
});

test.each([
  ["JSON", JSON_TEXT, "application/json"],
  ["binary", WIRE, "application/proto"],
])("POST of compressed %s", async (_, body, contentType) => {
  const init = post(new Uint8Array(gzipSync(body)), contentType, { "content-encoding": "gzip" });
  expect(await requestMessage(create(init))).toEqual(MESSAGE);
});

test.each([
  "text/plain",
  "application/xml",
  "application/connect+proto",
  "application/json; charset=latin1",
  "application/x+json",
])("POST of %s is 415", (contentType) => {
  const error = caught(() => create(post("{}", contentType)).open());
  expect(httpOfError(error)).toMatchObject({
    status: 415,
    header: { "accept-post": expect.stringContaining("application/proto") },
  });
});

test("an encoding that nobody knows is unimplemented, and the message lists those that are", () => {
  const init = post("{}", "application/json", { "content-encoding": "zstd" });
  expect(() => create(init).open()).toThrow(failure(Code.Unimplemented, '"zstd"', "gzip"));
});

test("another protocol version is refused", () => {
  const init = post("{}", "application/json", { "connect-protocol-version": "2" });
  expect(() => create(init).open()).toThrow(failure(Code.InvalidArgument, "connect-protocol-version"));
});

test("a message over the limit is resource_exhausted, compressed or not", async () => {
  const body = "x".repeat(50);
  for (const init of [
    post(body),
    post(new Uint8Array(gzipSync(body)), "application/json", { "content-encoding": "gzip" }),
  ]) {
    const refused = requestMessage(create(init, false, { readMaxBytes: 49 }));
    await expect(refused).rejects.toEqual(failure(Code.ResourceExhausted, "49"));
  }
});

test("binary passes untouched where it may, JSON never", async () => {
  const binary = create(post(WIRE, "application/proto"), true).open();
  expect(binary.body.kind).toBe("raw");
  expect(create(post(JSON_TEXT, "application/json"), true).open().body.kind).toBe("message");
  const header = { "content-encoding": "gzip", "accept-encoding": "gzip, br", "x-a": "1" };
  const compressed = create(post(new Uint8Array(gzipSync(WIRE)), "application/proto", header), true).open();
  expect(Object.fromEntries(compressed.header)).toEqual(header);
  expect(Object.fromEntries(binary.header)).toEqual({ "accept-encoding": "identity" });
});

const base64 = Buffer.from(WIRE).toString("base64url");
const zipped = Buffer.from(gzipSync(WIRE)).toString("base64url");
test.each([
  [`connect=v1&encoding=json&message=${encodeURIComponent(JSON_TEXT)}`, MESSAGE],
  [`encoding=json&message=${encodeURIComponent(JSON_TEXT)}`, MESSAGE],
  [`connect=v1&encoding=json&base64=1&message=${Buffer.from(JSON_TEXT).toString("base64")}`, MESSAGE],
  [`connect=v1&encoding=proto&base64=1&message=${base64}`, MESSAGE],
  [`connect=v1&encoding=proto&base64=1&compression=gzip&message=${zipped}`, MESSAGE],
  [`connect=v1&encoding=proto&base64=1&compression=identity&message=${base64}`, MESSAGE],
  ["connect=v1&encoding=proto&message=", {}],
])("GET ?%s", async (query, message) => {
  expect(await requestMessage(find(query))).toEqual(message);
});

test.each<[string, Code, string]>([
  ["connect=v2&encoding=json&message={}", Code.InvalidArgument, "connect"],
  ["connect=v1&encoding=json", Code.InvalidArgument, "message"],
  ["connect=v1&message={}", Code.InvalidArgument, "encoding"],
  ["connect=v1&encoding=xml&message={}", Code.InvalidArgument, "xml"],
  ["connect=v1&encoding=json&compression=zstd&message={}", Code.Unimplemented, "zstd"],
  ["connect=v1&encoding=json&base64=1&message=*", Code.InvalidArgument, "base64"],
  ["connect=v1&encoding=json&message=%FF", Code.InvalidArgument, "JSON"],
  ["connect=v1&encoding=json&message={", Code.InvalidArgument, "JSON"],
  [`connect=v1&encoding=proto&base64=1&compression=gzip&message=${base64}`, Code.InvalidArgument, "gzip"],
])("GET ?%s is refused", async (query, code, mention) => {
  const refused = (async () => requestMessage(find(query)))();
  await expect(refused).rejects.toEqual(failure(code, mention));
});

test.each([
  [`encoding=json&message={}${"%20".repeat(100)}`],
  [
    `encoding=proto&base64=1&compression=gzip&message=${Buffer.from(gzipSync(new Uint8Array(1_000))).toString("base64url")}`,
  ],
])("GET ?%s over the limit is resource_exhausted", async (query) => {
  await expect(requestMessage(find(query, { readMaxBytes: 100 }))).rejects.toEqual(
    failure(Code.ResourceExhausted, "100"),
  );
});

test.each([
  ["Create", "GET", "OPTIONS, POST"],
  ["Create", "PUT", "OPTIONS, POST"],
  ["Find", "PUT", "GET, OPTIONS, POST"],
])("%s by %s is 405", (name, httpMethod, allow) => {
  const error = caught(() => exchangeOf(name, `/shop.v1.Shop/${name}`, { method: httpMethod }).open());
  expect(httpOfError(error)).toEqual({ status: 405, header: { allow } });
  expect(connectAllow(methodOf(name)).join(", ")).toBe(allow);
});

test("answers in the codec of the call, with header and trailer", async () => {
  const reply = () =>
    replyOf(
      "shop.v1.Item",
      { name: "a" },
      { header: new Headers({ "x-a": "1" }), trailer: new Headers({ "x-b": "2" }) },
    );
  const json = create(post("{}"));
  json.open();
  const answer = await json.respond(reply());
  expect(Object.fromEntries(answer.headers)).toEqual({
    "content-type": "application/json",
    "x-a": "1",
    "trailer-x-b": "2",
  });
  expect(await answer.json()).toEqual({ name: "a" });
  const binary = create(post(WIRE, "application/proto"));
  binary.open();
  const wire = await binary.respond(reply());
  expect(wire.headers.get("content-type")).toBe("application/proto");
  expect(shown("shop.v1.Item", new Uint8Array(await wire.arrayBuffer()))).toEqual({ name: "a" });
});

test("a failure is Connect's error JSON, as connect-es reads it", async () => {
  const error = new ConnectError("told", Code.Aborted, { "x-a": "1", "trailer-x-b": "2", "content-length": "9" });
  error.details = [{ type: "acme.Any", value: Uint8Array.of(1) }];
  const response = formatConnectFailure(error);
  expect(response.status).toBe(409);
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "application/json",
    "x-a": "1",
    "trailer-x-b": "2",
  });
  const read = errorFromJson(JSON.parse(await response.text()), undefined, new ConnectError("fallback"));
  expect([read.code, read.rawMessage, read.details]).toEqual([Code.Aborted, "told", error.details]);
});

function caught(run: () => unknown): ConnectError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
