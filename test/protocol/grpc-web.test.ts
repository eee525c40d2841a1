import { Code, ConnectError } from "@connectrpc/connect";
import { parseTimeout as peerTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTimeout } from "../../src/protocol/deadline.ts";
import {
  decodeMessage,
  encodeMessage,
  formatTimeout,
  parseStatus,
  parseTrailers,
  TRAILER,
} from "../../src/protocol/grpc-web.ts";

test("the flag of trailers is connect-es's", () => {
  expect(TRAILER).toBe(trailerFlag);
});

test("any text that is Unicode survives, as connect-es writes it and as it reads ours", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const header = setTrailerStatus(new Headers(), new ConnectError(text, Code.Internal));
      expect(decodeMessage(header.get("grpc-message") ?? "")).toBe(text);
      const encoded = encodeMessage(text);
      expect(decodeURIComponent(encoded)).toBe(text);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
    }),
  );
});

// PROTOCOL-HTTP2.md, "Percent-Encoded": space to "$" and "&" to "~" as they are, all else as %XX. But a field value of
// HTTP has no space at its ends (RFC 9110 §5.5).
test.each([
  ["", ""],
  ["plain, $ & ~ text", "plain, $ & ~ text"],
  [" ", "%20"],
  ["  at the  ends  ", "%20 at the  ends %20"],
  ["100%", "100%25"],
  ["caf\u00e9", "caf%C3%A9"],
  ["\u{1f600}\n\u007f", "%F0%9F%98%80%0A%7F"],
  ["half \ud800 pair", "half %EF%BF%BD pair"],
])("%j is written %j", (text, encoded) => {
  expect(encodeMessage(text)).toBe(encoded);
  expect(decodeMessage(encoded)).toBe(text.toWellFormed());
});

// The same section: what is no escape is to be shown as it came, never an error.
test.each([
  ["100%", "100%"],
  ["%", "%"],
  ["%zz %41", "%zz A"],
  ["%c3%a9", "\u00e9"],
  ["%ff", "%ff"],
])("%j is read as %j", (encoded, text) => {
  expect(decodeMessage(encoded)).toBe(text);
});

test.each<[string | null, Code | undefined]>([
  ["0", undefined],
  ["1", Code.Canceled],
  ["16", Code.Unauthenticated],
  ["17", Code.Unknown],
  ["999", Code.Unknown],
  ["-1", Code.Unknown],
  ["", Code.Unknown],
  ["ok", Code.Unknown],
  ["1.5", Code.Unknown],
  ["99999999999", Code.Unknown],
  [null, Code.Unknown],
])("status %j is %j", (text, code) => {
  expect(parseStatus(text)).toBe(code);
});

test("trailers of connect-es are read as they were", () => {
  const trailers = new Headers({ "grpc-status": "0", "x-a": "1, 2", "x-b-bin": "AP8", "x-url": "http://a:1/b" });
  expect(Object.fromEntries(parseTrailers(trailerSerialize(trailers)))).toEqual(Object.fromEntries(trailers));
});

test.each<[string, Record<string, string>]>([
  ["", {}],
  ["grpc-status:0", { "grpc-status": "0" }],
  ["grpc-status:0\r\n", { "grpc-status": "0" }],
  ["Grpc-Status:  5 \r\nGRPC-MESSAGE:no\r\n", { "grpc-status": "5", "grpc-message": "no" }],
  ["x-a: 1\r\nx-a: 2\r\n", { "x-a": "1, 2" }],
  ["x-empty:\r\n", { "x-empty": "" }],
  ["no colon\r\n: no name\r\nbad name: 1\r\nx: \u0000\r\ngrpc-status: 0\r\n", { "grpc-status": "0" }],
])("trailers %j", (text, fields) => {
  expect(Object.fromEntries(parseTrailers(new TextEncoder().encode(text)))).toEqual(fields);
});

test.each([
  [1, "1m"],
  [1_500, "1500m"],
  [99_999_999, "99999999m"],
  [100_000_000, "100000S"],
  [100_000_001, "100001S"],
  [2 ** 31, "2147484S"],
  [1e12, "16666667M"],
  [1e16, "99999999H"],
])("%d ms are written %s", (timeoutMs, text) => {
  expect(formatTimeout(timeoutMs)).toBe(text);
});

test("a timeout is never written shorter than it is, and the peer and our own reader agree on it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999_999 * 3_600_000 }), (timeoutMs) => {
      const text = formatTimeout(timeoutMs);
      const { timeoutMs: read = 0 } = peerTimeout(text, Number.POSITIVE_INFINITY);
      expect(read).toBeGreaterThanOrEqual(timeoutMs);
      expect(parseTimeout(new Headers({ "grpc-timeout": text }))).toBe(read);
    }),
  );
});
