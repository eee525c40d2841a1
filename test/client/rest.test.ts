import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createRestExchange } from "../../src/client/rest.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { codecsOf, ERRORS, matchOf, OPTIONS, replyOf, requestMessage, restExchange, shown, wireOf } from "./shop.ts";

const ITEM = { name: "a", size: 1 };

function post(body: BodyInit, contentType: string | undefined, header: Record<string, string> = {}): RequestInit {
  // A Blob without a type: a text would bring its own.
  const content = typeof body === "string" ? new Blob([body]) : body;
  return {
    method: "POST",
    body: content,
    headers: { ...(contentType !== undefined && { "content-type": contentType }), ...header },
  };
}

async function refusal(run: () => unknown): Promise<{ status: number; header: object } | undefined> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ConnectError) return httpOfError(error);
    throw error;
  }
  return undefined;
}

test.each([
  "application/json",
  "application/json; charset=utf-8",
  "APPLICATION/JSON",
  "application/merge-patch+json",
  undefined,
])("a body of type %j is JSON", async (contentType) => {
  expect(await requestMessage(restExchange("/v1/items", post(JSON.stringify(ITEM), contentType)))).toEqual({
    item: ITEM,
  });
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/octet-stream",
  "nonsense",
  "",
])("a body of type %j is refused with 415 before it is read", async (contentType) => {
  const init = post("{}", contentType);
  expect(await refusal(() => restExchange("/v1/items", init).open())).toMatchObject({ status: 415 });
});

test.each(["application/proto", "application/x-protobuf"])(
  "%s is the message that JSON would hold",
  async (contentType) => {
    const item = post(wireOf("shop.v1.Item", ITEM), contentType);
    expect(await requestMessage(restExchange("/v1/items?count=1", item))).toEqual({ count: 1, item: ITEM });
    const request = post(wireOf("shop.v1.Request", { count: 2, item: { size: 3 } }), contentType);
    expect(await requestMessage(restExchange("/v1/all/a", request))).toEqual({
      count: 2,
      item: { name: "a", size: 3 },
    });
    for (const target of ["/v1/tags", "/v1/text"]) {
      expect(
        await refusal(() => restExchange(target, post("", contentType, { "content-length": "1" })).open()),
      ).toMatchObject({ status: 415 });
    }
  },
);

test("a type without a body means nothing", async () => {
  expect(await requestMessage(restExchange("/v1/find", { headers: { "content-type": "text/plain" } }))).toEqual({});
});

test("a route without a body takes none, but an empty one", async () => {
  // fetch allows a GET no body, other callers send one: the route of a GET, and a request that has a body.
  const match = matchOf("GET", "/v1/find");
  const send = (body: string) => {
    const request = new Request("http://gateway.example/v1/find", { method: "POST", body: new Blob([body]) });
    return requestMessage(
      createRestExchange({ request, match, query: "" }, codecsOf(match.route.method), OPTIONS, ERRORS),
    );
  };
  await expect(send("x")).rejects.toEqual(failure(Code.InvalidArgument, "takes no body"));
  expect(await send("")).toEqual({});
});

test.each([
  ["gzip", true],
  ["identity", true],
  ["zstd", false],
  ["gzip, gzip", false],
])("content-encoding %j is understood: %j", async (encoding, understood) => {
  const text = JSON.stringify(ITEM);
  const body = encoding === "gzip" ? new Uint8Array(gzipSync(text)) : text;
  const exchange = restExchange("/v1/items", post(body, "application/json", { "content-encoding": encoding }));
  if (understood) expect(await requestMessage(exchange)).toEqual({ item: ITEM });
  else {
    const refused = await refusal(() => exchange.open());
    expect(refused).toMatchObject({ status: 415, header: { "accept-encoding": expect.stringContaining("gzip") } });
  }
});

test("a body over the limit is 413: by its declared length before it is read, by its bytes, by its decoded bytes", async () => {
  const text = JSON.stringify({ name: "a".repeat(100) });
  const options = { readMaxBytes: 100 };
  const declared = post(text, "application/json", { "content-length": String(text.length) });
  expect(await refusal(() => restExchange("/v1/items", declared, options).open())).toMatchObject({ status: 413 });
  const chunked = post(text, "application/json");
  expect(await refusal(() => requestMessage(restExchange("/v1/items", chunked, options)))).toMatchObject({
    status: 413,
  });
  const bomb = post(new Uint8Array(gzipSync(text)), "application/json", { "content-encoding": "gzip" });
  expect(await refusal(() => requestMessage(restExchange("/v1/items", bomb, options)))).toMatchObject({ status: 413 });
  expect(await requestMessage(restExchange("/v1/items", chunked, { readMaxBytes: text.length }))).toMatchObject({
    item: {},
  });
});

test("nothing is read before the body is asked for", () => {
  let pulled = false;
  const pull = () => {
    pulled = true;
  };
  const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  const request = {
    method: "POST",
    body,
    duplex: "half",
    headers: { "content-type": "application/json" },
  } as RequestInit;
  restExchange("/v1/items", request).open();
  expect(pulled).toBe(false);
});

test("a body that breaks off is the caller's leaving", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
  const request = { method: "POST", body, duplex: "half" } as RequestInit;
  await expect(requestMessage(restExchange("/v1/items", request))).rejects.toEqual(failure(Code.Canceled));
});

test.each([
  ["/v1/find", undefined, "application/json"],
  ["/v1/find", "*/*", "application/json"],
  ["/v1/find", "application/proto", "application/proto"],
  ["/v1/find", "application/x-protobuf", "application/x-protobuf"],
  ["/v1/find", "application/json;q=0.1, application/proto", "application/proto"],
  ["/v1/part", "application/proto", "application/proto"],
  ["/v1/labels", "application/proto, */*;q=0.1", "application/json"],
])("GET %s with Accept %j answers %s", async (target, accept, contentType) => {
  const exchange = restExchange(target, { headers: accept === undefined ? {} : { accept } });
  exchange.open();
  const response = await exchange.respond(replyOf("shop.v1.Item", { size: 1, part: ITEM }));
  expect(response.headers.get("content-type")).toBe(contentType);
  const whole = target === "/v1/find";
  if (contentType !== "application/json") {
    expect(shown("shop.v1.Item", new Uint8Array(await response.arrayBuffer()))).toEqual(
      whole ? { size: 1, part: ITEM } : ITEM,
    );
  } else {
    expect(await response.json()).toEqual(whole ? { size: 1, part: ITEM } : {});
  }
});

test.each([
  ["/v1/find", "text/html"],
  ["/v1/find", "application/json;q=0"],
  ["/v1/labels", "application/proto"],
])("GET %s with Accept %j is 406 before the call", async (target, accept) => {
  expect(await refusal(() => restExchange(target, { headers: { accept } }).open())).toMatchObject({ status: 406 });
});

test("the reply's header and trailer are the answer's", async () => {
  const exchange = restExchange("/v1/find");
  exchange.open();
  const header = new Headers({ "x-a": "1", "content-type": "text/plain" });
  const reply = replyOf("shop.v1.Item", ITEM, { header, trailer: new Headers({ "x-b": "2" }) });
  const response = await exchange.respond(reply);
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "application/json",
    "x-a": "1",
    "trailer-x-b": "2",
  });
  expect(response.status).toBe(200);
});

test("wire that is no message is the backend's fault", async () => {
  const exchange = restExchange("/v1/find");
  exchange.open();
  const reply = {
    header: new Headers(),
    body: { kind: "message" as const, read: async () => new Uint8Array([0x0a, 5, 1]) },
  };
  await expect(exchange.respond(reply)).rejects.toEqual(failure(Code.Internal));
});
