import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseGrpcStatus } from "../../src/upstream/grpc-status.ts";
import { failure } from "../failure.ts";

const CODES = Object.values(Code).filter((code) => typeof code === "number");
const detail = fc.record({
  type: fc.constantFrom("google.protobuf.Duration", "acme.Unknown"),
  value: fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes)),
});

test("what connect-es writes is read as connect-es reads it", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CODES),
      fc.string({ unit: "grapheme" }),
      fc.array(detail, { maxLength: 3 }),
      (code, message, details) => {
        const error = new ConnectError(message, code);
        error.details = details;
        const trailers = setTrailerStatus(new Headers(), error);
        const read = parseGrpcStatus(trailers);
        const peer = findTrailerError(trailers);
        expect([read?.code, read?.rawMessage, read?.details]).toEqual([peer?.code, peer?.rawMessage, peer?.details]);
      },
    ),
  );
});

test("status 0 is none", () => {
  expect(parseGrpcStatus(setTrailerStatus(new Headers(), undefined))).toBeUndefined();
});

test.each<[string, Record<string, string>]>([
  ["no status", {}],
  ["a status that is none", { "grpc-status": "ok" }],
  ["a status that nobody knows", { "grpc-status": "17" }],
])("%s is unknown, never success", (_, fields) => {
  expect(parseGrpcStatus(new Headers(fields))).toEqual(failure(Code.Unknown));
});

test.each([
  ["no base64", "!"],
  ["no message", Buffer.from([0x1a, 5, 1]).toString("base64")],
  ["no Any", Buffer.from([0x1a, 2, 0x0a, 9]).toString("base64")],
])("details that are %s do not hide their error", (_, details) => {
  const fields = { "grpc-status": "5", "grpc-message": "no", "grpc-status-details-bin": details };
  const error = parseGrpcStatus(new Headers(fields));
  expect(error).toEqual(failure(Code.NotFound, "no"));
  expect(error?.details).toEqual([]);
});

test("a detail without a type url's prefix, and an empty one", () => {
  const any = (fields: MessageInitShape<typeof AnySchema>) => toBinary(AnySchema, create(AnySchema, fields));
  const value = toBinary(DurationSchema, create(DurationSchema, { seconds: 1n }));
  // details = 3, twice.
  const status = [any({ typeUrl: "google.protobuf.Duration", value }), any({})].flatMap((one) => [
    0x1a,
    one.length,
    ...one,
  ]);
  const fields = { "grpc-status": "5", "grpc-status-details-bin": encodeBinaryHeader(Uint8Array.from(status)) };
  expect(parseGrpcStatus(new Headers(fields))?.details).toEqual([
    { type: "google.protobuf.Duration", value },
    { type: "", value: new Uint8Array(0) },
  ]);
});
