import { create, toBinary } from "@bufbuild/protobuf";
import { DurationSchema, EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { formatRestFailure, type RestErrorOptions } from "../../src/client/rest-error.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import { methodNotAllowed } from "../../src/protocol/status.ts";
import { messageOf } from "../proto.ts";
import { contextOf, schema, wireOf } from "./shop.ts";

function optionsOf(context = contextOf()): RestErrorOptions {
  return {
    any: compileCodec(messageOf(schema, "google.protobuf.Any"), context),
    retryInfo: compileCodec(messageOf(schema, "google.rpc.RetryInfo"), context),
    challenge: 'Bearer realm="api"',
  };
}
const OPTIONS = optionsOf();

function errorWith(code: Code, ...details: readonly (readonly [type: string, value: Uint8Array])[]): ConnectError {
  const error = new ConnectError("told", code);
  error.details = details.map(([type, value]) => ({ type, value: new Uint8Array(value) }));
  return error;
}

/** RetryInfo { retry_delay = 1 } */
function retryInfo(seconds: bigint, nanos: number): [string, Uint8Array] {
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds, nanos }));
  return ["google.rpc.RetryInfo", Uint8Array.of(0x0a, delay.length, ...delay)];
}

test("the body is google.rpc.Status in JSON, the status that of its code", async () => {
  const response = formatRestFailure(new ConnectError('no "such" thing', Code.NotFound), null, OPTIONS);
  expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
  expect(await response.json()).toEqual({ code: 5, message: 'no "such" thing' });
});

test("an empty message is left out", async () => {
  expect(await formatRestFailure(new ConnectError("", Code.NotFound), null, OPTIONS).json()).toEqual({ code: 5 });
});

test("details are shown by their type: of the schema, built in, well known", async () => {
  const error = errorWith(
    Code.FailedPrecondition,
    ["shop.v1.Item", wireOf("shop.v1.Item", { name: "a", madeAt: "2026-01-02T03:04:05Z" })],
    // ErrorInfo { reason = 1, domain = 2 }
    ["google.rpc.ErrorInfo", Uint8Array.of(0x0a, 1, 0x52, 0x12, 1, 0x44)],
    ["google.protobuf.Duration", toBinary(DurationSchema, create(DurationSchema, { seconds: 3n }))],
    ["google.protobuf.Empty", toBinary(EmptySchema, create(EmptySchema))],
  );
  expect(await formatRestFailure(error, null, OPTIONS).json()).toEqual({
    code: 9,
    message: "told",
    details: [
      { "@type": "type.googleapis.com/shop.v1.Item", name: "a", madeAt: "2026-01-02T03:04:05Z" },
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "R", domain: "D" },
      { "@type": "type.googleapis.com/google.protobuf.Duration", value: "3s" },
      expect.objectContaining({ "@type": "type.googleapis.com/google.protobuf.Empty" }),
    ],
  });
});

test("a detail that cannot be shown is base64, and hides nothing", async () => {
  const error = errorWith(
    Code.Aborted,
    ["acme.Unknown", Uint8Array.of(1, 2, 255)],
    ["google.rpc.ErrorInfo", Uint8Array.of(0x0a, 9, 1)],
    ["google.rpc.DebugInfo", new Uint8Array(0)],
  );
  const response = formatRestFailure(error, null, OPTIONS);
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({
    code: 10,
    message: "told",
    details: [
      { "@type": "type.googleapis.com/acme.Unknown", value: "AQL/" },
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", value: "CgkB" },
      { "@type": "type.googleapis.com/google.rpc.DebugInfo" },
    ],
  });
});

// RFC 9110 §10.2.3: whole seconds; never before the time that the backend gave.
test.each([
  [3n, 0, "3"],
  [3n, 1, "4"],
  [0n, 250_000_000, "1"],
  [0n, 0, "0"],
  [-1n, 0, null],
])("RetryInfo of %i s and %i ns is Retry-After: %j", (seconds, nanos, retryAfter) => {
  const error = errorWith(Code.Unavailable, retryInfo(seconds, nanos));
  for (const context of [contextOf(), contextOf({ useProtoFieldName: true, emitDefaults: true })]) {
    expect(formatRestFailure(error, null, optionsOf(context)).headers.get("retry-after")).toBe(retryAfter);
  }
});

test("the upstream's own Retry-After stays; a RetryInfo that is broken or empty makes none", () => {
  const own = errorWith(Code.Unavailable, retryInfo(3n, 0));
  own.metadata.set("retry-after", "120");
  expect(formatRestFailure(own, null, OPTIONS).headers.get("retry-after")).toBe("120");
  for (const value of [Uint8Array.of(0x0a, 9), new Uint8Array(0)]) {
    const error = errorWith(Code.Unavailable, ["google.rpc.RetryInfo", value]);
    expect(formatRestFailure(error, null, OPTIONS).headers.get("retry-after")).toBeNull();
  }
});

test("401 has a challenge, the upstream's own or the configured one", () => {
  const error = new ConnectError("secret reason", Code.Unauthenticated);
  expect(formatRestFailure(error, null, OPTIONS).headers.get("www-authenticate")).toBe('Bearer realm="api"');
  error.metadata.set("www-authenticate", "Basic");
  expect(formatRestFailure(error, null, OPTIONS).headers.get("www-authenticate")).toBe("Basic");
  const other = new ConnectError("", Code.PermissionDenied);
  expect(formatRestFailure(other, null, OPTIONS).headers.has("www-authenticate")).toBe(false);
});

// RFC 9457
test.each([
  ["application/problem+json", true],
  ["application/problem+json, application/json;q=0.9", true],
  ["application/problem+json;q=0.1, application/json", false],
  ["application/json", false],
  ["*/*", false],
  [null, false],
])("Accept %j gets problem details: %j", async (accept, problem) => {
  const error = errorWith(Code.NotFound, ["acme.Unknown", Uint8Array.of(1)]);
  const response = formatRestFailure(error, accept, OPTIONS);
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toBe(problem ? "application/problem+json" : "application/json");
  const details = [{ "@type": "type.googleapis.com/acme.Unknown", value: "AQ==" }];
  expect(await response.json()).toEqual(
    problem
      ? { title: "not found", status: 404, detail: "told", code: 5, details }
      : { code: 5, message: "told", details },
  );
});

test("metadata is the answer's header, without what never crosses", () => {
  const error = new ConnectError("x", Code.Aborted, {
    "x-a": "1",
    "trailer-x-b": "2",
    "content-length": "5",
    connection: "close",
    "cf-ray": "1",
  });
  const { headers } = formatRestFailure(error, null, OPTIONS);
  expect(Object.fromEntries(headers)).toEqual({ "content-type": "application/json", "x-a": "1", "trailer-x-b": "2" });
});

test("a refusal brings its status and header", () => {
  const response = formatRestFailure(methodNotAllowed("PUT", ["GET", "HEAD"]), null, OPTIONS);
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});
