import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { bodyRecord, httpBodyContent, isHttpBody, readHttpBody, takeField } from "../../src/client/http-body.ts";
import { findField } from "../../src/schema/lookup.ts";
import { failure } from "../failure.ts";
import { messageOf } from "../proto.ts";
import { replyOf, requestMessage, restExchange, schema, shown, wireOf } from "./shop.ts";

const file = messageOf(schema, "shop.v1.File");
const content = findField(file, "content");
if (!content) throw new Error("no field content");

test("knows its message", () => {
  expect(isHttpBody(messageOf(schema, "google.api.HttpBody"))).toBe(true);
  expect(isHttpBody(file)).toBe(false);
});

test.each<[string | null, number[], unknown]>([
  ["image/png", [1, 2, 255], { contentType: "image/png", data: "AQL/" }],
  [null, [1], { data: "AQ==" }],
  ["text/plain", [], { contentType: "text/plain" }],
  [null, [], {}],
])("type %j and bytes %j make the message", (contentType, data, message) => {
  expect(shown("google.api.HttpBody", httpBodyContent(contentType, Uint8Array.from(data)))).toEqual(message);
});

test("stands in its field as one record", () => {
  const wire = bodyRecord(content, httpBodyContent("a/b", Uint8Array.of(1)));
  expect(shown("shop.v1.File", wire)).toEqual({ content: { contentType: "a/b", data: "AQ==" } });
});

test.each<[object, string, number[]]>([
  [{ contentType: "image/png", data: "AQL/" }, "image/png", [1, 2, 255]],
  [{ data: "AQ==" }, "application/octet-stream", [1]],
  [{ contentType: "text/plain; charset=utf-8" }, "text/plain; charset=utf-8", []],
  [{}, "application/octet-stream", []],
])("%j is read as %s", (message, contentType, data) => {
  const read = readHttpBody(wireOf("google.api.HttpBody", { ...message }));
  expect([read.contentType, [...read.data]]).toEqual([contentType, data]);
});

test("the last record of a field counts", () => {
  const first = wireOf("google.api.HttpBody", { contentType: "a/a", data: "AQ==" });
  const last = wireOf("google.api.HttpBody", { contentType: "b/b" });
  expect(readHttpBody(Uint8Array.of(...first, ...last))).toEqual({ contentType: "b/b", data: Uint8Array.of(1) });
});

test.each([
  ["a line break", wireOf("google.api.HttpBody", { contentType: "text/plain\r\nset-cookie: a=b" })],
  ["a wide character", wireOf("google.api.HttpBody", { contentType: "text/\u4e2d" })],
  ["a cut message", Uint8Array.of(0x0a, 5, 1)],
])("%s is the backend's fault", (_, wire) => {
  expect(() => readHttpBody(wire)).toThrow(failure(Code.Internal));
});

test("takes the message out of a field, its records joined", () => {
  const first = wireOf("shop.v1.File", { name: "n", content: { contentType: "a/a", data: "AQ==" } });
  const last = wireOf("shop.v1.File", { content: { contentType: "b/b" } });
  const joined = takeField(Uint8Array.of(...first, ...last), content);
  expect(shown("google.api.HttpBody", joined)).toEqual({ contentType: "b/b", data: "AQ==" });
  expect(takeField(wireOf("shop.v1.File", { name: "n" }), content)).toEqual(new Uint8Array(0));
});

test.each([
  ["/v1/raw", { contentType: "image/png", data: "AQI=" }],
  ["/v1/files/f", { name: "f", content: { contentType: "image/png", data: "AQI=" } }],
])("POST %s takes any bytes of any type", async (target, message) => {
  const init = { method: "POST", body: Uint8Array.of(1, 2), headers: { "content-type": "image/png" } };
  expect(await requestMessage(restExchange(target, init))).toEqual(message);
});

test.each([
  ["/v1/raw", "google.api.HttpBody", { contentType: "image/png", data: "AQI=" }],
  ["/v1/files/f", "shop.v1.File", { name: "f", content: { contentType: "image/png", data: "AQI=" } }],
])("POST %s answers with the bytes and their type, whatever Accept says", async (target, type, message) => {
  const exchange = restExchange(target, { method: "POST", headers: { accept: "text/html" } });
  exchange.open();
  const response = await exchange.respond(replyOf(type, message));
  expect(response.headers.get("content-type")).toBe("image/png");
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2]);
});
