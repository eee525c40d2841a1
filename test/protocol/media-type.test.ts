import { expect, test } from "vitest";
import { isJson, isProto, negotiate, parseMediaType } from "../../src/protocol/media-type.ts";

test.each([
  ["application/json", "application/json", undefined],
  ["Application/JSON", "application/json", undefined],
  ["application/json;charset=UTF-8", "application/json", "utf-8"],
  ['application/json ; Charset="utf-8"', "application/json", "utf-8"],
  ["application/json; version=1; charset=latin1", "application/json", "latin1"],
  [" text/plain ", "text/plain", undefined],
  ["application/vnd.api+json", "application/vnd.api+json", undefined],
])("%j is %s in %j", (text, essence, charset) => {
  expect(parseMediaType(text)).toEqual({ essence, charset });
});

test.each([
  "",
  "json",
  "application/",
  "/json",
  "application/json, text/plain",
  "application /json",
  "application/json charset=utf-8",
  "a/b/c",
])("%j is no media type", (text) => {
  expect(parseMediaType(text)).toBeUndefined();
});

test.each([
  ["application/json", true],
  ["application/json; charset=utf-8", true],
  ["application/json; charset=utf8", true],
  ["application/merge-patch+json", true],
  ["application/json; charset=utf-16", false],
  ["application/json; charset=iso-8859-1", false],
  ["application/x-json", false],
  ["application/jsonp", false],
  ["text/json", false],
])("%s is JSON: %j", (text, json) => {
  const type = parseMediaType(text);
  expect(type && isJson(type)).toBe(json);
});

test.each([
  ["application/proto", true],
  ["application/x-protobuf", true],
  ["application/grpc+proto", false],
  ["application/octet-stream", false],
])("%s is a binary message: %j", (text, proto) => {
  const type = parseMediaType(text);
  expect(type && isProto(type)).toBe(proto);
});

const OFFERS = ["application/json", "application/proto", "text/event-stream"];

// RFC 9110 §12.5.1
test.each([
  [null, "application/json"],
  ["", "application/json"],
  ["*/*", "application/json"],
  ["application/*", "application/json"],
  ["text/*", "text/event-stream"],
  ["text/event-stream", "text/event-stream"],
  ["TEXT/Event-Stream", "text/event-stream"],
  ["application/proto, application/json", "application/json"],
  ["application/json;q=0.5, application/proto", "application/proto"],
  ["application/json;q=0.5, application/proto;q=0.4", "application/json"],
  ["application/json; q=0.001, image/png", "application/json"],
  ["*/*;q=0.1, application/proto;Q=0.2", "application/proto"],
  // The most specific range counts, not the best one.
  ["application/json;q=0, */*", "application/proto"],
  ["application/*;q=0, */*;q=0.1", "text/event-stream"],
  ["application/json;q=0.1, application/*;q=0.9", "application/proto"],
  ["application/json;charset=utf-8", "application/json"],
  ["application/json;q=0", undefined],
  ["*/*;q=0", undefined],
  ["image/png", undefined],
  ["application", undefined],
])("Accept %j gets %j", (accept, offer) => {
  expect(negotiate(accept, OFFERS)).toBe(offer);
});
