import { Code, ConnectError } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import fc from "fast-check";
import { expect, test } from "vitest";
import { failedEnd } from "../../src/client/enveloped.ts";
import { grpcWebDialect } from "../../src/client/grpc-web.ts";
import { splitFrames } from "../cases/envelope.ts";

// PROTOCOL-WEB.md, "Content-Type".
test.each([
  ["application/grpc-web", "proto", false],
  ["application/grpc-web+proto", "proto", false],
  ["application/grpc-web+json", "json", false],
  ["application/grpc-web-text", "proto", true],
  ["application/grpc-web-text+proto", "proto", true],
  ["application/grpc-web-text+json", "json", true],
])("%s is gRPC-Web of %s, as text: %s; the answer has the same type", (type, codec, isText) => {
  const dialect = grpcWebDialect(type);
  expect([dialect?.contentType, dialect?.codec]).toEqual([type, codec]);
  expect([dialect?.open !== undefined, dialect?.encode !== undefined]).toEqual([isText, isText]);
});

test.each(["application/grpc", "application/grpc-web+thrift", "application/grpc-webs", "application/json", ""])(
  "%j is none",
  (type) => {
    expect(grpcWebDialect(type)).toBeUndefined();
  },
);

/** What connect-es reads of the last frame. */
function read(end: Parameters<NonNullable<ReturnType<typeof grpcWebDialect>>["formatEnd"]>[0]) {
  const { frames, rest } = splitFrames(grpcWebDialect("application/grpc-web")?.formatEnd(end) ?? new Uint8Array(0));
  expect([frames.length, rest.length, frames[0]?.flags]).toEqual([1, 0, trailerFlag]);
  const data = frames[0]?.data ?? new Uint8Array(0);
  return { text: String(data), trailers: trailerParse(data) };
}

test("success is status 0 and the trailer; Cloudflare's edge takes lines without a space", () => {
  const { text, trailers } = read({ trailer: new Headers({ "x-end": "a, b", "x-end-bin": "AP8" }) });
  expect(findTrailerError(trailers)).toBeUndefined();
  expect([trailers.get("grpc-status"), trailers.get("x-end"), trailers.get("x-end-bin")]).toEqual(["0", "a, b", "AP8"]);
  expect(text).toMatch(/^(?:[a-z-]+:[^ ].*\r\n)+$/);
});

const CODES = Object.values(Code).filter((code) => typeof code === "number");
const detail = fc.record({
  type: fc.constantFrom("google.protobuf.Duration", "acme.Unknown"),
  value: fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes)),
});

test("a failure is read by connect-es as it was", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CODES),
      fc.string({ unit: "grapheme" }),
      fc.array(detail, { maxLength: 3 }),
      (code, message, details) => {
        const error = new ConnectError(message, code, { "x-cost": "9", "trailer-x-end": "2" });
        error.details = details;
        const { trailers } = read(failedEnd(error));
        const peer = findTrailerError(trailers);
        expect([peer?.code, peer?.rawMessage, peer?.details]).toEqual([code, message, details]);
        expect([trailers.get("x-cost"), trailers.get("x-end")]).toEqual(["9", "2"]);
      },
    ),
  );
});
