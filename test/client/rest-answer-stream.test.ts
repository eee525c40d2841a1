import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import type { End, Messages } from "../../src/call.ts";
import type { ClientOptions } from "../../src/client/exchange.ts";
import { chooseAnswer } from "../../src/client/rest-answer.ts";
import { respondHead, respondStream } from "../../src/client/rest-answer-stream.ts";
import { createMessages, type MessageSource } from "../../src/protocol/messages.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { readEvents } from "./events.ts";
import { codecsOf, ERRORS, matchOf, OPTIONS, wireOf } from "./shop.ts";

const ARRAY = "application/json";
const NDJSON = "application/x-ndjson";
const EVENTS = "text/event-stream";

const item = (size: number) => wireOf("shop.v1.Item", { size });
const data = (text: string, contentType = "") =>
  wireOf("google.api.HttpBody", { contentType, data: Buffer.from(text).toString("base64") });
const GONE = () => new ConnectError("gone", Code.NotFound, { "x-why": "lent" });

/** Batches, then how it ends. Tells what it was cancelled with. */
function stream(batches: readonly (readonly Uint8Array[])[], end: Partial<End> = {}) {
  const cancelled: ConnectError[] = [];
  async function* source(): MessageSource {
    yield* batches;
    return { trailer: new Headers(), ...end };
  }
  const messages = createMessages(source(), {
    cancel: (reason) => cancelled.push(reason),
    describe: (error) => ConnectError.from(error),
  });
  return { messages, cancelled };
}

function respond(path: string, accept: string, messages: Messages, options: Partial<ClientOptions> = {}) {
  const { route } = matchOf("GET", path);
  const context = { route, codecs: codecsOf(route.method), options: { ...OPTIONS, ...options }, errors: ERRORS };
  const header = new Headers({ "x-lead": "l", "content-type": "of/the-backend" });
  return respondStream({ header, messages }, chooseAnswer(accept, route), context);
}

test.each([
  [ARRAY, '[{"size":1},{"size":2},{"size":3}]'],
  [NDJSON, '{"result":{"size":1}}\n{"result":{"size":2}}\n{"result":{"size":3}}\n'],
])("%s: all messages, the header of the backend, and the type", async (type, text) => {
  const { messages } = stream([[item(1), item(2)], [item(3)]]);
  const response = await respond("/v1/events", type, messages);
  expect([response.status, response.headers.get("content-type"), response.headers.get("x-lead")]).toEqual([
    200,
    type,
    "l",
  ]);
  expect(await response.text()).toBe(text);
});

test("events: all messages, an end, and no cache", async () => {
  const response = await respond("/v1/events", EVENTS, stream([[item(1), item(2)]]).messages);
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(readEvents(await response.text()).map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    ["message", { size: 1 }],
    ["message", { size: 2 }],
    ["end", {}],
  ]);
});

test.each([
  [ARRAY, "[]"],
  [NDJSON, ""],
  [EVENTS, "event: end\ndata: {}\n\n"],
])("%s: a stream without messages", async (type, text) => {
  expect(await (await respond("/v1/events", type, stream([]).messages)).text()).toBe(text);
});

test.each([
  ["/v1/events", ARRAY],
  ["/v1/events", NDJSON],
  ["/v1/events", EVENTS],
  ["/v1/download", "*/*"],
])("GET %s as %s: a failure before the first message is thrown, with all that came with it", async (path, accept) => {
  const trailer = new Headers({ "x-trail": "t" });
  const error = await respond(path, accept, stream([], { error: GONE(), trailer }).messages).catch((error) => error);
  expect(error).toEqual(failure(Code.NotFound, "gone"));
  expect(Object.fromEntries((error as ConnectError).metadata)).toMatchObject({
    "x-why": "lent",
    "x-lead": "l",
    "trailer-x-trail": "t",
  });
});

test("a failure after the first message is the last line, or the last event", async () => {
  const fail = () => stream([[item(1)]], { error: GONE() }).messages;
  expect(await (await respond("/v1/events", NDJSON, fail())).text()).toBe(
    '{"result":{"size":1}}\n{"error":{"code":5,"message":"gone"}}\n',
  );
  expect(readEvents(await (await respond("/v1/events", EVENTS, fail())).text())[1]).toMatchObject({
    event: "error",
    data: '{"code":5,"message":"gone"}',
  });
});

test.each([
  ["/v1/events", ARRAY, item(1), '[{"size":1}'],
  ["/v1/download", "*/*", data("a"), "a"],
])(
  "GET %s as %s: a failure after the first message breaks the transfer behind it",
  async (path, accept, first, text) => {
    const response = await respond(path, accept, stream([[first]], { error: GONE() }).messages);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe(text);
    await expect(reader?.read()).rejects.toThrow("gone");
  },
);

test("a message that is none is the backend's fault; its call is cancelled", async () => {
  const { messages, cancelled } = stream([[item(1), Uint8Array.of(0x0a, 9, 1), item(3)], [item(4)]]);
  const lines = (await (await respond("/v1/events", NDJSON, messages)).text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { result: { size: 1 } },
    { error: { code: 13, message: expect.any(String) } },
  ]);
  expect(cancelled).toEqual([failure(Code.Internal)]);
});

test("response_body is taken of each message", async () => {
  const messages = [{ part: { size: 1 } }, { size: 2 }, { part: {} }].map((json) => wireOf("shop.v1.Item", json));
  expect(await (await respond("/v1/parts", ARRAY, stream([messages]).messages)).json()).toEqual([
    { size: 1 },
    null,
    {},
  ]);
});

test("a download is its pieces; the first says its type", async () => {
  const { messages } = stream([[data("ab", "text/csv"), data("")], [data("cd", "image/png")]]);
  const response = await respond("/v1/download", "image/*", messages);
  expect([response.headers.get("content-type"), await response.text()]).toEqual(["text/csv", "abcd"]);
});

test("a download in a field, of no type, of no message", async () => {
  const file = wireOf("shop.v1.File", { name: "n", content: { data: "YQ==" } });
  const response = await respond("/v1/download-file", "*/*", stream([[file]]).messages);
  expect([response.headers.get("content-type"), await response.text()]).toEqual(["application/octet-stream", "a"]);
  const empty = await respond("/v1/download", "*/*", stream([]).messages);
  expect([empty.headers.get("content-type"), await empty.text()]).toEqual(["application/octet-stream", ""]);
});

test("a reader that leaves cancels the call", async () => {
  const { messages, cancelled } = stream([[item(1)], [item(2)]]);
  const { body } = await respond("/v1/events", NDJSON, messages);
  const reader = body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await vi.waitFor(() => expect(cancelled).toEqual([failure(Code.Canceled)]));
});

test("an idle event stream gets heartbeats, and begins with one when nothing has come", async () => {
  const due = Promise.withResolvers<void>();
  async function* source(): MessageSource {
    await due.promise;
    yield [item(1)];
    return { trailer: new Headers() };
  }
  const messages = createMessages(source(), { cancel: () => undefined, describe: (error) => ConnectError.from(error) });
  const { body } = await respond("/v1/events", EVENTS, messages, { sseHeartbeatMs: 5 });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe(":\n\n");
  expect((await reader?.read())?.value).toBe(":\n\n");
  due.resolve();
  let rest = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) rest += part.value;
  expect(readEvents(rest).map(({ event }) => event)).toEqual(["message", "end"]);
});

test.each<[string, string | null, Record<string, string>]>([
  ["/v1/events", null, { "content-type": ARRAY }],
  ["/v1/events", NDJSON, { "content-type": NDJSON }],
  ["/v1/events", EVENTS, { "content-type": EVENTS, "cache-control": "no-cache" }],
  ["/v1/download", ARRAY, {}],
])("HEAD %s with Accept %j tells %j", (path, accept, header) => {
  const request = new Request(`http://gateway.example${path}`, { method: "HEAD", headers: accept ? { accept } : {} });
  const response = respondHead(request, matchOf("GET", path).route);
  expect([response.status, response.body, Object.fromEntries(response.headers)]).toEqual([200, null, header]);
});

test("HEAD of what cannot be had is 406", () => {
  const request = new Request("http://gateway.example/v1/events", { method: "HEAD", headers: { accept: "text/html" } });
  const { route } = matchOf("GET", "/v1/events");
  expect(() => respondHead(request, route)).toThrow(
    expect.toSatisfy((error: ConnectError) => httpOfError(error).status === 406),
  );
});
