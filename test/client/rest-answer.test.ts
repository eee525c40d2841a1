import { Code, type ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { chooseAnswer, formatJson, formatMessage, shownPart } from "../../src/client/rest-answer.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { codecsOf, matchOf, shown, wireOf } from "./shop.ts";

const routeOf = (method: string, path: string) => matchOf(method, path).route;
const EVENTS = routeOf("GET", "/v1/events");
const FIND = routeOf("GET", "/v1/find");

/** RFC 9110 §12.5.1. */
test.each<[string | null, string]>([
  [null, "application/json"],
  ["", "application/json"],
  ["*/*", "application/json"],
  ["application/*", "application/json"],
  ["text/*", "text/event-stream"],
  ["text/event-stream", "text/event-stream"],
  ["application/x-ndjson", "application/x-ndjson"],
  ["application/json, application/x-ndjson", "application/json"],
  ["application/x-ndjson, application/json", "application/json"],
  ["application/json;q=0.9, application/x-ndjson", "application/x-ndjson"],
  ["application/json;q=0.1, text/event-stream;q=0.3, application/x-ndjson;q=0.2", "text/event-stream"],
  ["application/json;q=0, */*;q=0.5", "application/x-ndjson"],
  ["*/*;q=0.1, text/event-stream;q=0.2", "text/event-stream"],
  ["application/problem+json", "application/json"],
  ["application/problem+json, text/event-stream", "text/event-stream"],
])("of a stream, Accept %j is answered with %s", (accept, type) => {
  expect(chooseAnswer(accept, EVENTS)).toBe(type);
});

test.each([
  ["text/html", EVENTS],
  ["application/proto", EVENTS],
  ["*/*;q=0", EVENTS],
  ["application/x-ndjson", FIND],
  ["text/event-stream", FIND],
  ["application/proto", routeOf("GET", "/v1/labels")],
])("Accept %j is refused with 406 where that cannot be had, and the message says what can", (accept, route) => {
  const refuse = () => chooseAnswer(accept, route);
  expect(refuse).toThrow(failure(Code.InvalidArgument, accept, "application/json"));
  try {
    refuse();
  } catch (error) {
    expect(httpOfError(error as ConnectError).status).toBe(406);
  }
});

test.each([
  ["POST", "/v1/raw"],
  ["POST", "/v1/files/f"],
  ["GET", "/v1/download"],
  ["GET", "/v1/download-file"],
])("%s %s answers with an HttpBody, whatever Accept says", (method, path) => {
  expect(chooseAnswer("text/html;q=0", routeOf(method, path))).toBe("http-body");
});

const ITEM = { name: "a", part: { size: 2 }, words: ["x", "y"] };

test.each<[string, string, unknown]>([
  ["/v1/events", "all of it", ITEM],
  ["/v1/parts", "what response_body names", { size: 2 }],
  ["/v1/words", "a list", ["x", "y"]],
])("GET %s shows %s", (path, _, json) => {
  const route = routeOf("GET", path);
  const bytes = formatJson(wireOf("shop.v1.Item", ITEM), route, codecsOf(route.method));
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(json);
});

test("in wire form it is the message that JSON would hold", () => {
  const wire = wireOf("shop.v1.Item", ITEM);
  expect(shownPart(wire, EVENTS)).toBe(wire);
  expect(shown("shop.v1.Item", shownPart(wire, routeOf("GET", "/v1/parts")))).toEqual({ size: 2 });
});

test("one message in each form, with its type", () => {
  const wire = wireOf("shop.v1.Item", { size: 1 });
  const format = (answer: Parameters<typeof formatMessage>[1]) =>
    formatMessage(wire, answer, FIND, codecsOf(FIND.method));
  expect(format("application/json")).toEqual({
    bytes: new TextEncoder().encode('{"size":1}'),
    contentType: "application/json",
  });
  expect(format("application/proto")).toEqual({ bytes: wire, contentType: "application/proto" });
  const raw = routeOf("POST", "/v1/raw");
  const body = wireOf("google.api.HttpBody", { contentType: "a/b", data: "AQI=" });
  expect(formatMessage(body, "http-body", raw, codecsOf(raw.method))).toEqual({
    bytes: Uint8Array.of(1, 2),
    contentType: "a/b",
  });
});
