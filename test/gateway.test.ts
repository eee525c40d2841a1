import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test, vi } from "vitest";
import type { Call, HttpFilter, Policy, Reply } from "../src/gateway.ts";
import {
  gatewayOf,
  type LibraryBackend,
  notFound,
  type Options,
  postJson,
  send,
  serveLibrary,
} from "./library-backend.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const BOOK = { name: "books/1", pages: "9007199254740993", note: "n" };
/** name = 1: "books/1" */
const WIRE = Uint8Array.of(0x0a, 7, ...new TextEncoder().encode("books/1"));

test("REST and Connect, JSON and binary, reach the same backend", async () => {
  await using backend = await serveLibrary();
  const gateway = gatewayOf(backend.url);
  const got = await send(gateway, "/v1/books/1?pages=9007199254740993&note=n");
  expect([got.status, got.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await got.json()).toEqual(BOOK);
  expect(await (await send(gateway, "/v1/books", postJson(BOOK))).json()).toEqual(BOOK);
  expect(await (await send(gateway, "/library.v1.Library/GetBook", postJson(BOOK))).json()).toEqual(BOOK);
  const message = encodeURIComponent(JSON.stringify(BOOK));
  const byGet = await send(gateway, `/library.v1.Library/GetBook?connect=v1&encoding=json&message=${message}`);
  expect(await byGet.json()).toEqual(BOOK);
  const binary = await send(gateway, "/library.v1.Library/GetBook", binaryPost());
  expect(binary.headers.get("content-type")).toBe("application/proto");
  expect(new Uint8Array(await binary.arrayBuffer())).toEqual(WIRE);
  expect(backend.calls).toEqual(["Library.GetBook", "Library.CreateBook", ...Array(3).fill("Library.GetBook")]);
});

function binaryPost(): RequestInit {
  return { method: "POST", body: WIRE, headers: { "content-type": "application/proto" } };
}

test("metadata crosses both ways, trailers too", async () => {
  await using backend = await serveLibrary((request, { requestHeader, responseHeader, responseTrailer }) => {
    responseHeader.set(
      "x-seen",
      [requestHeader.get("x-a"), requestHeader.get("cf-ray"), requestHeader.get("accept")].join(),
    );
    responseTrailer.set("x-end", "e");
    return request;
  });
  for (const init of [postJson({}), binaryPost()]) {
    const headers = { ...(init.headers as Record<string, string>), "x-a": "1", "cf-ray": "2", accept: "*/*" };
    const { headers: answer } = await send(gatewayOf(backend.url), "/library.v1.Library/GetBook", { ...init, headers });
    expect([answer.get("x-seen")?.startsWith("1,,"), answer.get("trailer-x-end")]).toEqual([true, "e"]);
  }
});

test("an error is told in the dialect of the caller", async () => {
  await using backend = await serveLibrary(() => {
    throw notFound("books/1");
  });
  const gateway = gatewayOf(backend.url);
  const rest = await send(gateway, "/v1/books/1");
  expect([rest.status, rest.headers.get("x-reason")]).toEqual([404, "lent"]);
  expect(await rest.json()).toEqual({ code: 5, message: "books/1 is lent" });
  for (const init of [postJson({}), binaryPost()]) {
    const connect = await send(gateway, "/library.v1.Library/GetBook", init);
    expect([connect.status, connect.headers.get("x-reason"), connect.headers.get("content-type")]).toEqual([
      404,
      "lent",
      "application/json",
    ]);
    expect(await connect.json()).toEqual({ code: "not_found", message: "books/1 is lent" });
  }
});

test("HEAD has the answer of GET without its content", async () => {
  await using backend = await serveLibrary();
  const gateway = gatewayOf(backend.url);
  const head = await send(gateway, "/v1/books/1", { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/json", ""]);
  expect(backend.calls).toEqual(["Library.GetBook"]);
  const missing = await send(gateway, "/v1/nothing", { method: "HEAD" });
  expect([missing.status, missing.headers.get("content-type"), await missing.text()]).toEqual([
    404,
    "application/json",
    "",
  ]);
});

test.each([
  ["OPTIONS", "/v1/books/1", 204, "GET, HEAD, OPTIONS"],
  ["OPTIONS", "/v1/books", 204, "OPTIONS, POST"],
  ["OPTIONS", "/library.v1.Library/GetBook", 204, "GET, OPTIONS, POST"],
  ["OPTIONS", "/library.v1.Library/CreateBook", 204, "OPTIONS, POST"],
  ["DELETE", "/v1/books/1", 405, "GET, HEAD, OPTIONS"],
  ["PUT", "/library.v1.Library/CreateBook", 405, "OPTIONS, POST"],
  ["GET", "/library.v1.Library/CreateBook", 405, "OPTIONS, POST"],
  ["OPTIONS", "/v1/nothing", 404, null],
  ["GET", "/v1/books/1/", 404, null],
  ["GET", "/v1//books/1", 404, null],
])("%s %s is %i, Allow: %s", async (method, target, status, allow) => {
  const response = await send(gatewayOf("http://unused.example"), target, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([status, allow]);
});

test.each<[string, RequestInit, object]>([
  ["/library.v1.Library/Missing", postJson({}), { code: "unimplemented" }],
  ["/library.v1.Missing/Get", { method: "POST" }, { code: "unimplemented" }],
  ["/anything", { headers: { "connect-protocol-version": "1" } }, { code: "unimplemented" }],
  ["/anything", {}, { code: 5 }],
])("%s is nothing of ours: 404 in the dialect of the path", async (target, init, body) => {
  const response = await send(gatewayOf("http://unused.example"), target, init);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject(body);
});

/** Notes in `log` when calls come and go. */
function noting(name: string, log: string[]): Policy {
  return {
    wrap: (next) => async (call) => {
      log.push(`${name} in`);
      const reply = await next(call);
      log.push(`${name} out`);
      return reply;
    },
  };
}

test("filters are around policies, each in its order, outermost first", async () => {
  await using backend = await serveLibrary();
  const log: string[] = [];
  const filter =
    (name: string): HttpFilter =>
    (next) =>
    async (request) => {
      log.push(`${name} in`);
      const response = await next(request);
      log.push(`${name} out`);
      return response;
    };
  const options = { policies: [noting("p1", log), noting("p2", log)], filters: [filter("f1"), filter("f2")] };
  await send(gatewayOf(backend.url, options), "/v1/books/1");
  expect(log).toEqual(["f1 in", "f2 in", "p1 in", "p2 in", "p2 out", "p1 out", "f2 out", "f1 out"]);
});

test("only a policy that reads messages ends passthrough", async () => {
  await using backend = await serveLibrary();
  const kinds: string[] = [];
  const wrap: Policy["wrap"] = (next) => async (call) => {
    const reply = await next(call);
    kinds.push(call.body.kind, reply.body.kind);
    return reply;
  };
  for (const policy of [{ wrap }, { wrap, reads: "message" as const }]) {
    const response = await send(
      gatewayOf(backend.url, { policies: [policy] }),
      "/library.v1.Library/GetBook",
      binaryPost(),
    );
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(WIRE);
  }
  expect(kinds).toEqual(["raw", "raw", "message", "message"]);
});

test("a policy that refuses leaves the body unread and the backend uncalled", async () => {
  await using backend = await serveLibrary();
  const refusing: Policy = { wrap: () => () => Promise.reject(new ConnectError("no entry", Code.PermissionDenied)) };
  const response = await send(gatewayOf(backend.url, { policies: [refusing] }), "/v1/books", {
    ...postJson({}),
    body: "not JSON at all",
  });
  expect([response.status, await response.json()]).toEqual([403, { code: 7, message: "no entry" }]);
  expect(backend.calls).toEqual([]);
});

test("a policy may answer by itself", async () => {
  const reply = (): Reply => ({
    header: new Headers({ "x-from": "policy" }),
    body: { kind: "message", read: async () => WIRE },
  });
  const gateway = gatewayOf("http://unused.example", { policies: [{ wrap: () => async () => reply() }] });
  const response = await send(gateway, "/v1/books/2");
  expect([response.headers.get("x-from"), await response.json()]).toEqual(["policy", { name: "books/1" }]);
});

test.each<[string, Options]>([
  ["a policy", { policies: [{ wrap: () => () => Promise.reject(new Error("secret at /srv/app.ts")) }] }],
  ["a policy that throws at once", { policies: [{ wrap: () => throwing }] }],
  ["a filter", { filters: [() => () => Promise.reject(new Error("secret at /srv/app.ts"))] }],
  ["a filter that throws at once", { filters: [() => throwing] }],
])("%s that fails is 500 without its text", async (_, options) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const gateway = gatewayOf("http://unused.example", options);
  for (const [target, init] of [
    ["/v1/books/1", {}],
    ["/library.v1.Library/GetBook", postJson({})],
  ] as const) {
    const response = await send(gateway, target, init);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/secret|srv|Error/);
  }
  expect(log).toHaveBeenCalledTimes(2);
});

/** Errors as policies without types may make them. */
function oddError(change: object): ConnectError {
  return Object.assign(new ConnectError("secret", Code.NotFound), change);
}

test.each<[string, unknown]>([
  ["code 0", oddError({ code: 0 })],
  ["a code that there is not", oddError({ code: 99 })],
  ["a code that is no number", oddError({ code: "__proto__" })],
  ["no details", oddError({ details: null })],
  ["details that are none", oddError({ details: [5, null] })],
  ["no metadata", oddError({ metadata: undefined })],
  ["nothing at all", undefined],
])("an error with %s is 500, whoever calls", async (_, error) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const gateway = gatewayOf("http://unused.example", { policies: [{ wrap: () => () => Promise.reject(error) }] });
  const rest = await send(gateway, "/v1/books/1");
  expect([rest.status, await rest.json()]).toEqual([500, { code: 13, message: "internal error" }]);
  const connect = await send(gateway, "/library.v1.Library/GetBook", postJson({}));
  expect([connect.status, await connect.json()]).toEqual([500, { code: "internal", message: "internal error" }]);
  expect(log).toHaveBeenCalledTimes(2);
});

test.each([[undefined], [null], ["text"], [{ status: 200 }]])("a filter that returns %j is 500", async (returned) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const gateway = gatewayOf("http://unused.example", { filters: [() => async () => returned as never] });
  const response = await send(gateway, "/v1/books/1");
  expect([response.status, await response.json()]).toEqual([500, { code: 13, message: "internal error" }]);
  expect(log).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringContaining("filter") }));
});

test.each(["a/v1/books/2?", "a#b", "a, b", "joe@a", "a\\b"])(
  "a request with the host %s is refused in the caller's dialect",
  async (host) => {
    const gateway = gatewayOf("http://unused.example");
    const rest = await send(gateway, "/v1/books/1", { headers: { host } });
    expect([rest.status, await rest.json()]).toMatchObject([
      400,
      { code: 3, message: expect.stringContaining("host") },
    ]);
    const connect = await send(gateway, "/library.v1.Library/GetBook", postJson({}, { host }));
    expect([connect.status, await connect.json()]).toMatchObject([400, { code: "invalid_argument" }]);
  },
);

test.each(["a.example", "a.example:8080", "[::1]:8080", "", "xn--caf-dma.example"])(
  "the host %j is one",
  async (host) => {
    await using backend = await serveLibrary();
    expect((await send(gatewayOf(backend.url), "/v1/books/1", { headers: { host } })).status).toBe(200);
  },
);

function throwing(): never {
  throw new Error("secret at /srv/app.ts");
}

test("an error of the gateway's inside is seen by the filters as an answer", async () => {
  const statuses: number[] = [];
  const filter: HttpFilter = (next) => async (request) => {
    const response = await next(request);
    statuses.push(response.status);
    return response;
  };
  await send(gatewayOf("http://unused.example", { filters: [filter] }), "/v1/nothing");
  expect(statuses).toEqual([404]);
});

test("a backend that cannot be reached is 503, and nobody is told where it is", async () => {
  const backend = await serveLibrary();
  await backend[Symbol.asyncDispose]();
  const response = await send(gatewayOf(backend.url), "/v1/books/1");
  expect(response.status).toBe(503);
  expect(await response.text()).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
});

test.each<[string, Options, Record<string, string>]>([
  ["the caller's deadline", {}, { "connect-timeout-ms": "100" }],
  ["the caller's, shorter than the option", { timeoutMs: 60_000 }, { "x-server-timeout": "0.1" }],
  ["the option, shorter than the caller's", { timeoutMs: 100 }, { "grpc-timeout": "1M" }],
  ["the option alone", { timeoutMs: 100 }, {}],
])("%s ends a call of REST and of Connect with 504", async (_, options, header) => {
  const seen: number[] = [];
  await using backend = await serveLibrary((_, context) => {
    seen.push(context.timeoutMs() ?? Number.NaN);
    return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve({})));
  });
  const gateway = gatewayOf(backend.url, options);
  const rest = await send(gateway, "/v1/books/1", { headers: header });
  expect([rest.status, await rest.json()]).toEqual([504, expect.objectContaining({ code: 4 })]);
  const connect = await send(gateway, "/library.v1.Library/GetBook", postJson({}, header));
  expect([connect.status, await connect.json()]).toEqual([504, expect.objectContaining({ code: "deadline_exceeded" })]);
  expect(seen).toHaveLength(2);
  for (const timeoutMs of seen) expect(timeoutMs).toSatisfy((ms: number) => ms > 0 && ms <= 100);
});

test("a malformed deadline is 400 and calls nobody", async () => {
  await using backend = await serveLibrary();
  const response = await send(gatewayOf(backend.url), "/v1/books/1", { headers: { "grpc-timeout": "soon" } });
  expect(response.status).toBe(400);
  expect(backend.calls).toEqual([]);
});

test("a call without a deadline tells the backend of none", async () => {
  const seen: unknown[] = [];
  await using backend = await serveLibrary((request, context) => {
    seen.push(context.timeoutMs());
    return request;
  });
  await send(gatewayOf(backend.url), "/v1/books/1");
  expect(seen).toEqual([undefined]);
});

test("the caller's leaving cancels the backend's work", async () => {
  const caller = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  await using backend = await serveLibrary((_, { signal }) => {
    signal.addEventListener("abort", () => cancelled.resolve());
    caller.abort();
    return new Promise(() => undefined);
  });
  const response = await send(gatewayOf(backend.url), "/v1/books/1", { signal: caller.signal });
  expect(response.status).toBe(499);
  await cancelled.promise;
});

test("sizes: a request over the limit, and an answer over it", async () => {
  await using backend: LibraryBackend = await serveLibrary(() => ({ note: "n".repeat(500) }));
  const gateway = gatewayOf(backend.url, { readMaxBytes: 300 });
  const rest = await send(gateway, "/v1/books", postJson({ note: "x".repeat(400) }));
  expect([rest.status, await rest.json()]).toEqual([413, expect.objectContaining({ code: 8 })]);
  const connect = await send(gateway, "/library.v1.Library/CreateBook", postJson({ note: "x".repeat(400) }));
  expect([connect.status, await connect.json()]).toEqual([
    429,
    expect.objectContaining({ code: "resource_exhausted" }),
  ]);
  expect(backend.calls).toEqual([]);
  const answer = await send(gateway, "/v1/books/1");
  expect([answer.status, await answer.json()]).toEqual([429, expect.objectContaining({ code: 8 })]);
  const raised = gatewayOf(backend.url, { readMaxBytes: 300, upstreamReadMaxBytes: 600 });
  expect((await send(raised, "/v1/books/1")).status).toBe(200);
});

test("the JSON options reach the codec", async () => {
  await using backend = await serveLibrary(() => ({}));
  const gateway = gatewayOf(backend.url, { emitDefaults: true, unknownFields: "ignore", unknownQuery: "ignore" });
  const response = await send(gateway, "/v1/books?x=1", postJson({ nothing: 1 }));
  expect(await response.json()).toEqual({ name: "", pages: "0", note: "" });
  expect((await send(gatewayOf(backend.url), "/v1/books", postJson({ nothing: 1 }))).status).toBe(400);
});

test("two gateways share nothing, and one serves many calls at once", async () => {
  await using backend = await serveLibrary();
  const plain = gatewayOf(backend.url);
  const eager = gatewayOf(backend.url, { emitDefaults: true });
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => (await send(i % 2 ? plain : eager, `/v1/books/${i}`)).json()),
  );
  answers.forEach((answer, i) => {
    const name = `books/${i}`;
    expect(answer).toEqual(i % 2 ? { name } : { name, pages: "0", note: "" });
  });
});

test("a policy sees the call's head", async () => {
  await using backend = await serveLibrary();
  const calls: Call[] = [];
  const policy: Policy = {
    wrap: (next) => (call) => {
      calls.push(call);
      return next(call);
    },
  };
  await send(gatewayOf(backend.url, { policies: [policy] }), "/v1/books/1", {
    headers: { "x-a": "1", "connect-timeout-ms": "5000" },
  });
  const [call] = calls;
  expect(call?.method.path).toBe("/library.v1.Library/GetBook");
  expect(call?.header.get("x-a")).toBe("1");
  expect(call?.timeoutMs).toSatisfy((ms: number) => ms > 4_000 && ms <= 5_000);
  expect(call?.signal?.aborted).toBe(false);
});
