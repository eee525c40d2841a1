import { Code, ConnectError } from "@connectrpc/connect";
import { endStreamFlag, endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import { connectStreamDialect } from "../../src/client/connect-stream.ts";
import { failedEnd } from "../../src/client/enveloped.ts";
import { splitFrames } from "../cases/envelope.ts";
import { failure } from "../failure.ts";

const TYPE = "application/connect+json";

test.each([
  ["application/connect+json", "json"],
  ["application/connect+proto", "proto"],
])("%s is a stream of %s", (type, codec) => {
  const dialect = connectStreamDialect(type);
  expect([dialect?.contentType, dialect?.codec]).toEqual([type, codec]);
});

test.each(["application/json", "application/proto", "application/connect+xml", "application/connect", ""])(
  "%j is none",
  (type) => {
    expect(connectStreamDialect(type)).toBeUndefined();
  },
);

test("another protocol version is refused, none and our own are not", () => {
  const request = (header: Record<string, string>) => new Request("http://gateway.example", { headers: header });
  const check = (header: Record<string, string>) => connectStreamDialect(TYPE)?.check?.(request(header));
  check({});
  check({ "connect-protocol-version": "1" });
  expect(() => check({ "connect-protocol-version": "2" })).toThrow(
    failure(Code.InvalidArgument, "connect-protocol-version"),
  );
});

test("the end of a stream is read by connect-es as it was", () => {
  const read = (bytes: Uint8Array | undefined) => {
    const { frames, rest } = splitFrames(bytes ?? new Uint8Array(0));
    expect([frames.length, rest.length, frames[0]?.flags]).toEqual([1, 0, endStreamFlag]);
    return endStreamFromJson(frames[0]?.data ?? "");
  };
  const dialect = connectStreamDialect(TYPE);
  const well = read(dialect?.formatEnd({ trailer: new Headers({ "x-end": "a, b", "x-end-bin": "AP8" }) }));
  expect([well.error, Object.fromEntries(well.metadata)]).toEqual([undefined, { "x-end": "a, b", "x-end-bin": "AP8" }]);

  const error = new ConnectError("no ☕", Code.NotFound, { "x-cost": "9", "trailer-x-end": "2" });
  error.details = [{ type: "acme.Reason", value: Uint8Array.of(1, 2) }];
  const badly = read(dialect?.formatEnd(failedEnd(error)));
  expect([badly.error?.code, badly.error?.rawMessage]).toEqual([Code.NotFound, "no ☕"]);
  expect(badly.error?.details).toMatchObject(error.details);
  expect(Object.fromEntries(badly.metadata)).toEqual({ "x-cost": "9", "x-end": "2" });
});
