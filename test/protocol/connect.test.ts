import { create, toBinary } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { endStreamFromJson, endStreamToJson, errorFromJson, errorToJson } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import {
  checkVersion,
  formatEndStream,
  formatError,
  parseEndStream,
  parseError,
  wireDetails,
} from "../../src/protocol/connect.ts";
import { failure } from "../failure.ts";

/** connect-es, the peer. */
const FALLBACK = new ConnectError("fallback", Code.Unknown);
const CODES = Object.values(Code).filter((code) => typeof code === "number");
const DURATION = toBinary(DurationSchema, create(DurationSchema, { seconds: 3n, nanos: 250_000_000 }));

function errorOf(
  code: Code,
  message: string,
  details: readonly { type: string; value: Uint8Array }[] = [],
): ConnectError {
  const error = new ConnectError(message, code);
  error.details = details.map(({ type, value }) => ({ type, value: new Uint8Array(value) }));
  return error;
}

const ERRORS = [
  ...CODES.map((code) => errorOf(code, `message of ${code}`)),
  errorOf(Code.NotFound, ""),
  errorOf(Code.NotFound, 'quotes " and \\ and \u0000 and \u{1f600}'),
  errorOf(Code.Aborted, "details", [
    { type: "google.protobuf.Duration", value: DURATION },
    { type: "acme.Unknown", value: new Uint8Array([0xff, 0xfe, 0xfb]) },
    { type: "acme.Empty", value: new Uint8Array(0) },
  ]),
];

for (const [i, error] of ERRORS.entries()) {
  test(`error ${i}: connect-es reads what we write`, () => {
    const read = errorFromJson(JSON.parse(formatError(error)), undefined, FALLBACK);
    expect([read.code, read.rawMessage]).toEqual([error.code, error.rawMessage]);
    expect(wireDetails(read).map(({ type, value }) => [type, [...value]])).toEqual(
      wireDetails(error).map(({ type, value }) => [type, [...value]]),
    );
  });

  test(`error ${i}: we read what connect-es writes`, () => {
    const read = parseError(JSON.stringify(errorToJson(error, undefined)), 500, new Headers());
    expect([read.code, read.rawMessage]).toEqual([error.code, error.rawMessage]);
    expect(read.details).toEqual(error.details);
  });
}

test("details with a message object are what connect-es makes of them", () => {
  const error = new ConnectError("x", Code.Aborted, undefined, [
    { desc: DurationSchema, value: { seconds: 3n, nanos: 250_000_000 } },
  ]);
  const read = parseError(JSON.stringify(errorToJson(error, undefined)), 409, new Headers());
  expect(wireDetails(read)).toEqual([{ type: "google.protobuf.Duration", value: DURATION }]);
});

test("metadata comes with the error", () => {
  const read = parseError('{"code":"aborted"}', 409, new Headers({ "x-a": "1", "trailer-x-b": "2" }));
  expect(Object.fromEntries(read.metadata)).toEqual({ "x-a": "1", "trailer-x-b": "2" });
});

// Connect protocol, "HTTP to Error Code": for bodies that hold no error.
test.each<[string | undefined, number, Code]>([
  [undefined, 404, Code.Unimplemented],
  [undefined, 302, Code.Unknown],
  ["", 401, Code.Unauthenticated],
  ["<html>", 503, Code.Unavailable],
  ["{}", 403, Code.PermissionDenied],
  ["[]", 502, Code.Unavailable],
  ["null", 429, Code.Unavailable],
  ['"aborted"', 400, Code.Internal],
  ['{"code":"nonsense"}', 503, Code.Unavailable],
  ['{"code":"NOT_FOUND"}', 504, Code.Unavailable],
  ['{"code":5}', 500, Code.Unknown],
  ['{"code":"not_found"', 418, Code.Unknown],
])("body %j of HTTP %i has code %i", (text, status, code) => {
  expect(parseError(text, status, new Headers()).code).toBe(code);
});

test("the body's code counts, not the status", () => {
  expect(parseError('{"code":"not_found","message":"m"}', 500, new Headers()).code).toBe(Code.NotFound);
});

test("what cannot be read in an error never hides it", () => {
  const details = [
    null,
    5,
    "x",
    {},
    { type: "a" },
    { value: "AQ" },
    { type: 1, value: "AQ" },
    { type: "a", value: 1 },
    { type: "a", value: "*" },
    { type: "good", value: "AQ", debug: { any: "thing" } },
  ];
  const read = parseError(JSON.stringify({ code: "aborted", message: 7, details }), 409, new Headers());
  expect([read.code, read.rawMessage]).toEqual([Code.Aborted, ""]);
  expect(read.details).toEqual([{ type: "good", value: new Uint8Array([1]) }]);
  expect(parseError('{"code":"aborted","details":{}}', 409, new Headers()).details).toEqual([]);
});

test("a detail's type may be a URL that ends in its name", () => {
  const details = [{ type: "type.googleapis.com/google.protobuf.Duration", value: "AQ" }];
  const read = parseError(JSON.stringify({ code: "aborted", details }), 409, new Headers());
  expect(wireDetails(read).map(({ type }) => type)).toEqual(["google.protobuf.Duration"]);
});

test("a version is ours or absent", () => {
  expect(() => checkVersion(null, "1", "connect-protocol-version")).not.toThrow();
  expect(() => checkVersion("1", "1", "connect-protocol-version")).not.toThrow();
  for (const version of ["2", "", "v1", "1, 1"]) {
    expect(() => checkVersion(version, "1", "connect-protocol-version")).toThrow(
      expect.toSatisfy(
        (error) => error.code === Code.InvalidArgument && /connect-protocol-version/.test(error.message),
      ),
    );
  }
});

const TRAILER = { "x-end": "a, b", "x-end-bin": "AP8" };

test.each(ERRORS)("an end of a stream with %s is that of connect-es, both ways", (error) => {
  const peer = endStreamFromJson(formatEndStream({ error, trailer: new Headers(TRAILER) }));
  expect([peer.error?.code, peer.error?.rawMessage]).toEqual([error.code, error.rawMessage]);
  expect(Object.fromEntries(peer.metadata)).toEqual(TRAILER);
  const text = JSON.stringify(endStreamToJson(new Headers(TRAILER), error, undefined));
  const end = parseEndStream(new TextEncoder().encode(text));
  expect([end.error?.code, end.error?.rawMessage, end.error?.details]).toEqual([
    error.code,
    error.rawMessage,
    error.details,
  ]);
  expect(Object.fromEntries(end.trailer)).toEqual(TRAILER);
});

const parseText = (text: string) => parseEndStream(new TextEncoder().encode(text));

// Connect protocol, "Error-End-Stream": metadata and error may be missing.
test.each<[string, Record<string, string>]>([
  ["{}", {}],
  ['{"error":null}', {}],
  ['{"metadata":{}}', {}],
  ['{"metadata":{"X-A":["1","2"]},"more":1}', { "x-a": "1, 2" }],
  ['{"metadata":{"x-a":"1","x b":["1"],"x-c":["\\u0000"],"connection":["x"],"grpc-status":["0"]}}', {}],
  ['{"metadata":[]}', {}],
])("%s is a good end, and what is no metadata is left out", (text, trailer) => {
  const end = parseText(text);
  expect([end.error, Object.fromEntries(end.trailer)]).toEqual([undefined, trailer]);
});

test.each(["", "ok", "null", "[]", "1", '{"error":'])("%j is no end of a stream", (text) => {
  expect(() => parseText(text)).toThrow(failure(Code.Internal));
});

test.each([
  ['{"error":{}}', ""],
  ['{"error":"no"}', ""],
  ['{"error":{"code":5,"message":"no"}}', "no"],
  ['{"error":{"code":"gone","message":"no"}}', "no"],
])("%s is an error of code unknown, never success", (text, message) => {
  expect([parseText(text).error?.code, parseText(text).error?.rawMessage]).toEqual([Code.Unknown, message]);
});
