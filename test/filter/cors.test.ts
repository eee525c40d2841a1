import { readFile } from "node:fs/promises";
import { createFileRegistry, type DescMethodUnary, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, cors as peer, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { expect, test, vi } from "vitest";
import type { FetchFn } from "../../src/call.ts";
import { ALWAYS_ALLOWED, ALWAYS_EXPOSED, type CorsOptions, createCors } from "../../src/filter/cors.ts";
import type { Gateway } from "../../src/gateway.ts";
import { gatewayOf, librarySet, notFound, type Options, postJson, send, serveLibrary } from "../library-backend.ts";
import { createBrowser } from "./browser.ts";

const APP = "https://app.example";
const EVIL = "https://evil.example";

function corsOf(options: CorsOptions, methods: readonly string[], next: FetchFn): FetchFn {
  const defaults = { allowCredentials: false, allowHeaders: [], exposeHeaders: [], maxAgeS: 7200 };
  return createCors({ ...defaults, ...options }, () => methods)(next);
}

/** Every field of an answer that CORS is about. */
function corsHeaders({ headers }: Response): Record<string, string> {
  const ours = (name: string) => name.startsWith("access-control-") || name === "vary";
  return Object.fromEntries([...headers].filter(([name]) => ours(name)));
}

const LIST = { allowOrigins: [APP, "https://*.app.example"] };
const EXPOSED = { "access-control-expose-headers": ALWAYS_EXPOSED.join(", ") };

test.each<[string, CorsOptions, string | undefined, Record<string, string>, Record<string, string>]>([
  ["an origin of the list", LIST, APP, {}, { "access-control-allow-origin": APP, vary: "Origin", ...EXPOSED }],
  [
    "an origin that a pattern lets in is named itself",
    LIST,
    "https://a.app.example",
    {},
    { "access-control-allow-origin": "https://a.app.example", vary: "Origin", ...EXPOSED },
  ],
  ["another origin", LIST, EVIL, {}, { vary: "Origin" }],
  ["no origin: a cache must know that it matters", LIST, undefined, {}, { vary: "Origin" }],
  [
    "credentials",
    { ...LIST, allowCredentials: true },
    APP,
    {},
    { "access-control-allow-origin": APP, "access-control-allow-credentials": "true", vary: "Origin", ...EXPOSED },
  ],
  ["no credentials for another origin", { ...LIST, allowCredentials: true }, EVIL, {}, { vary: "Origin" }],
  ["everybody", { allowOrigins: ["*"] }, EVIL, {}, { "access-control-allow-origin": "*", ...EXPOSED }],
  [
    "everybody, and a cache may give it to any",
    { allowOrigins: ["*"] },
    undefined,
    {},
    { "access-control-allow-origin": "*", ...EXPOSED },
  ],
  [
    "what the backend says does not count",
    LIST,
    APP,
    {
      "access-control-allow-origin": "*",
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "*",
      "access-control-allow-headers": "*",
      "access-control-expose-headers": "x-secret",
      "access-control-max-age": "1",
    },
    { "access-control-allow-origin": APP, vary: "Origin", ...EXPOSED },
  ],
  ["nor for another origin", LIST, EVIL, { "access-control-allow-origin": EVIL }, { vary: "Origin" }],
  ["Vary is added to", LIST, EVIL, { vary: "Accept-Language" }, { vary: "Accept-Language, Origin" }],
  ["Vary names Origin already", LIST, EVIL, { vary: "accept, ORIGIN" }, { vary: "accept, ORIGIN" }],
  ["Vary names something like it", LIST, EVIL, { vary: "x-origin" }, { vary: "x-origin, Origin" }],
  ["Vary is everything already", LIST, EVIL, { vary: "*" }, { vary: "*" }],
])("an answer: %s", async (_, options, origin, answered, expected) => {
  const cors = corsOf(options, [], async () => new Response("body", { status: 418, headers: answered }));
  const headers = new Headers(origin === undefined ? {} : { origin });
  const response = await cors(new Request("http://gateway.example/x", { headers }));
  expect(corsHeaders(response)).toEqual(expected);
  expect([response.status, await response.text()]).toEqual([418, "body"]);
});

const PREFLIGHT = {
  "access-control-allow-origin": APP,
  "access-control-allow-headers": ALWAYS_ALLOWED.join(", "),
  "access-control-max-age": "7200",
  vary: "Origin",
};
const METHODS = "access-control-allow-methods";

test.each<[string, CorsOptions, readonly string[], string, Record<string, string>]>([
  ["the methods of the path", LIST, ["GET", "POST"], APP, { ...PREFLIGHT, [METHODS]: "GET, POST" }],
  ["a path that nothing has", LIST, [], APP, PREFLIGHT],
  ["another origin", LIST, ["GET"], EVIL, { vary: "Origin" }],
  ["an opaque origin", LIST, ["GET"], "null", { vary: "Origin" }],
  ["any method", LIST, ["*"], APP, { ...PREFLIGHT, [METHODS]: "PURGE", vary: "Origin, Access-Control-Request-Method" }],
  [
    "everybody",
    { allowOrigins: ["*"] },
    ["GET"],
    EVIL,
    {
      "access-control-allow-origin": "*",
      "access-control-allow-headers": ALWAYS_ALLOWED.join(", "),
      "access-control-max-age": "7200",
      [METHODS]: "GET",
    },
  ],
  [
    "all options",
    { ...LIST, allowCredentials: true, allowHeaders: ["X-Mine"], exposeHeaders: ["x-yours"], maxAgeS: 0 },
    ["GET"],
    APP,
    {
      ...PREFLIGHT,
      [METHODS]: "GET",
      "access-control-allow-credentials": "true",
      "access-control-allow-headers": [...ALWAYS_ALLOWED, "X-Mine"].join(", "),
      "access-control-max-age": "0",
    },
  ],
])("a preflight: %s", async (_, options, methods, origin, expected) => {
  let passed = 0;
  const cors = corsOf(options, methods, async () => {
    passed++;
    return new Response();
  });
  for (const asked of ["x-evil", ",".repeat(60_000), undefined]) {
    const headers = new Headers({ origin, "access-control-request-method": "PURGE" });
    if (asked !== undefined) headers.set("access-control-request-headers", asked);
    const response = await cors(new Request("http://gateway.example/x", { method: "OPTIONS", headers }));
    expect([response.status, corsHeaders(response)]).toEqual([204, expected]);
  }
  expect(passed).toBe(0);
});

test.each<[string, Record<string, string>]>([
  ["GET", { origin: APP, "access-control-request-method": "GET" }],
  ["OPTIONS", { origin: APP }],
  ["OPTIONS", { "access-control-request-method": "GET" }],
])("no preflight: %s with %j", async (method, headers) => {
  const cors = corsOf(LIST, ["GET"], async () => new Response("passed"));
  const response = await cors(new Request("http://gateway.example/x", { method, headers }));
  expect(await response.text()).toBe("passed");
  expect(response.headers.get("vary")).toBe("Origin");
});

test("an answer whose headers cannot be changed is copied; one whose headers can stays itself", async () => {
  const fixed = await fetch("data:text/plain,body");
  expect(() => fixed.headers.set("x", "y")).toThrow(TypeError);
  const open = new Response("body");
  for (const answer of [fixed, open]) {
    const response = await corsOf(
      LIST,
      [],
      async () => answer,
    )(new Request("http://a.example", { headers: { origin: APP } }));
    expect(response === answer).toBe(answer === open);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    expect([response.headers.get("content-type")?.split(";")[0], await response.text()]).toEqual([
      "text/plain",
      "body",
    ]);
  }
});

test("the README names what is always allowed and exposed", async () => {
  const readme = (await readFile(new URL("../../README.md", import.meta.url), "utf8")).replace(/\s+/g, " ");
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  expect(readme).toContain(`Always allowed: ${list(ALWAYS_ALLOWED)}.`);
  expect(readme).toContain(`Always exposed: ${list(ALWAYS_EXPOSED)}.`);
});

test("what connect-es names is allowed and exposed", () => {
  // Fetch, "forbidden request-header": no script can set it. And the other is of gRPC over HTTP/2.
  const never = ["accept-encoding", "grpc-message-type"];
  const names = (list: readonly string[]) =>
    list.map((name) => name.toLowerCase()).filter((name) => !never.includes(name));
  expect(ALWAYS_ALLOWED).toEqual(expect.arrayContaining(names(peer.allowedHeaders)));
  expect(ALWAYS_EXPOSED).toEqual(expect.arrayContaining(names(peer.exposedHeaders)));
});

function gateway(url: string, options: Options = {}): Gateway {
  return gatewayOf(url, { rpc: "all", cors: LIST, ...options });
}

/** Status, or what the browser tells the script instead. */
async function outcome(browser: { fetch: typeof fetch }, path: string, init: RequestInit): Promise<number | string> {
  try {
    return (await browser.fetch(`http://gateway.example${path}`, init)).status;
  } catch (error) {
    return error instanceof TypeError ? error.message : String(error);
  }
}

const PROTO = { "content-type": "application/proto" };
const AUTHORIZED = { authorization: "Bearer x" };

test.each<[string, string, RequestInit, Options["cors"] & object, number | string, readonly string[]]>([
  ["simple", "/v1/books/1", {}, LIST, 200, ["GET"]],
  ["post", "/v1/books", postJson({}), LIST, 200, ["OPTIONS", "POST"]],
  ["post", "/v1/books", postJson({}, AUTHORIZED), LIST, 200, ["OPTIONS", "POST"]],
  ["rpc", "/library.v1.Library/CreateBook", { method: "POST", headers: PROTO }, LIST, 200, ["OPTIONS", "POST"]],
  ["own header", "/v1/books/1", { headers: { "x-mine": "1" } }, LIST, "preflight: header x-mine", ["OPTIONS"]],
  [
    "own header that is listed",
    "/v1/books/1",
    { headers: { "x-mine": "1" } },
    { ...LIST, allowHeaders: ["X-Mine"] },
    200,
    ["OPTIONS", "GET"],
  ],
  [
    "any header, authorization too",
    "/v1/books/1",
    { headers: { "x-mine": "1", ...AUTHORIZED } },
    { ...LIST, allowHeaders: ["*"] },
    200,
    ["OPTIONS", "GET"],
  ],
  ["a method that the path has not", "/v1/books/1", { method: "DELETE" }, LIST, "preflight: method", ["OPTIONS"]],
  // What the script can read is the gateway's own error, not a failure of the network.
  ["unknown path", "/v1/nope", postJson({}), LIST, 404, ["OPTIONS", "POST"]],
  ["unknown rpc", "/library.v1.Library/Nope", postJson({}), LIST, 404, ["OPTIONS", "POST"]],
  ["bad path", "/v1/books/%zz", { headers: AUTHORIZED }, LIST, 400, ["OPTIONS", "GET"]],
  ["bad body", "/v1/books", postJson("text"), LIST, 400, ["OPTIONS", "POST"]],
  ["bad type", "/v1/books", { method: "POST", body: "x" }, LIST, 415, ["POST"]],
  ["other origin", "/v1/books", postJson({}), { allowOrigins: [EVIL] }, "CORS check", ["OPTIONS"]],
  ["other origin, simple", "/v1/books/1", {}, { allowOrigins: [EVIL] }, "CORS check", ["GET"]],
  ["everybody", "/v1/books", postJson({}), { allowOrigins: ["*"] }, 200, ["OPTIONS", "POST"]],
])("a page: %s: %s", async (_, path, init, cors, expected, sent) => {
  await using backend = await serveLibrary();
  const browser = createBrowser({ origin: APP }, gateway(backend.url, { cors }).fetch);
  expect(await outcome(browser, path, init)).toBe(expected);
  expect(browser.sent).toEqual(sent);
});

test.each<[Options["cors"] & object, number | string]>([
  [{ ...LIST, allowCredentials: true }, 200],
  [LIST, "CORS check"],
  [{ allowOrigins: ["*"] }, "CORS check"],
])("a page with credentials: %j: %s", async (cors, expected) => {
  await using backend = await serveLibrary();
  const browser = createBrowser({ origin: APP, credentials: true }, gateway(backend.url, { cors }).fetch);
  expect(await outcome(browser, "/v1/books", postJson({}, AUTHORIZED))).toBe(expected);
});

test.each<[readonly string[], Record<string, string | null>]>([
  [[], { etag: '"1"', "x-mine": null, "trailer-x-end": null }],
  [["X-Mine"], { etag: '"1"', "x-mine": "1", "trailer-x-end": null }],
  [["*"], { etag: '"1"', "x-mine": "1", "trailer-x-end": "2" }],
])("a script sees headers that are exposed: %j", async (exposeHeaders, seen) => {
  await using backend = await serveLibrary((request, { responseHeader, responseTrailer }) => {
    responseHeader.set("etag", '"1"');
    responseHeader.set("x-mine", "1");
    responseTrailer.set("x-end", "2");
    return request;
  });
  const { fetch } = createBrowser({ origin: APP }, gateway(backend.url, { cors: { ...LIST, exposeHeaders } }).fetch);
  const { headers } = await fetch("http://gateway.example/v1/books/1");
  expect(Object.fromEntries(Object.keys(seen).map((name) => [name, headers.get(name)]))).toEqual(seen);
});

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, librarySet));
const GET_BOOK = registry.getService("library.v1.Library")?.method.getBook as DescMethodUnary;

const CONNECT_WEB = { baseUrl: "http://gateway.example" };
type Fetch = typeof fetch;

test.each<[string, (fetch: Fetch) => Transport, readonly string[]]>([
  ["Connect, JSON", (fetch) => createConnectTransport({ ...CONNECT_WEB, fetch }), ["OPTIONS", "POST"]],
  [
    "Connect, binary",
    (fetch) => createConnectTransport({ ...CONNECT_WEB, fetch, useBinaryFormat: true }),
    ["OPTIONS", "POST"],
  ],
  ["Connect, GET", (fetch) => createConnectTransport({ ...CONNECT_WEB, fetch, useHttpGet: true }), ["OPTIONS", "GET"]],
  ["gRPC-Web", (fetch) => createGrpcWebTransport({ ...CONNECT_WEB, fetch }), ["OPTIONS", "POST"]],
])("connect-web in a page: %s", async (_, transportOf, sent) => {
  await using backend = await serveLibrary((request) => {
    if (request.name === "books/lent") throw notFound("books/lent");
    return request;
  });
  const browser = createBrowser({ origin: APP }, gateway(backend.url).fetch);
  const transport = transportOf(browser.fetch);
  const call = (name: string) => transport.unary(GET_BOOK, undefined, 5_000, AUTHORIZED, { name });
  expect((await call("books/1")).message).toMatchObject({ name: "books/1" });
  expect(browser.sent).toEqual(sent);
  const failed = await call("books/lent").catch(ConnectError.from);
  expect(failed).toMatchObject({ code: Code.NotFound, rawMessage: "books/lent is lent" });
});

test("a filter that fails: the answer has the headers all the same; filters see no preflight", async () => {
  const seen: string[] = [];
  const filter = () => async (request: Request) => {
    seen.push(request.method);
    throw new ConnectError("full", Code.ResourceExhausted);
  };
  const { fetch } = createBrowser({ origin: APP }, gateway("http://unused.example", { filters: [filter] }).fetch);
  const response = await fetch("http://gateway.example/v1/books", postJson({}));
  expect([response.status, await response.json()]).toEqual([429, { code: 8, message: "full" }]);
  expect(seen).toEqual(["POST"]);
});

test("a filter that answers with a network error is told of as one that fails", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const filter = () => async () => Response.error();
  expect((await send(gateway("http://unused.example", { filters: [filter] }), "/v1/books/1")).status).toBe(500);
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});

test("off: no answer speaks of CORS, and the backend's own headers pass", async () => {
  await using backend = await serveLibrary((request, { responseHeader }) => {
    responseHeader.set("access-control-allow-origin", "https://theirs.example");
    return request;
  });
  const off = gatewayOf(backend.url);
  const preflight = { method: "OPTIONS", headers: { origin: APP, "access-control-request-method": "POST" } };
  expect(corsHeaders(await send(off, "/v1/books", preflight))).toEqual({});
  expect(corsHeaders(await send(off, "/v1/books/1"))).toEqual({
    "access-control-allow-origin": "https://theirs.example",
  });
});
