import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeFromHttpStatus,
  codeFromString,
  codeToHttpStatus,
  codeToString,
} from "@connectrpc/connect/protocol-connect";
import { expect, test } from "vitest";
import {
  codeName,
  codeOfStatus,
  httpOfError,
  methodNotAllowed,
  parseCodeName,
  refuse,
} from "../../src/protocol/status.ts";

const CODES = Object.values(Code).filter((code) => typeof code === "number");

test("every code has the name and HTTP status that connect-es gives it", () => {
  expect(CODES).toHaveLength(16);
  for (const code of CODES) {
    expect(codeName(code)).toBe(codeToString(code));
    expect(parseCodeName(codeName(code))).toBe(codeFromString(codeToString(code)));
    expect(httpOfError(new ConnectError("", code)).status).toBe(codeToHttpStatus(code));
  }
});

// google/rpc/code.proto, "HTTP Mapping"
test.each([
  [Code.Canceled, 499],
  [Code.Unknown, 500],
  [Code.InvalidArgument, 400],
  [Code.DeadlineExceeded, 504],
  [Code.NotFound, 404],
  [Code.AlreadyExists, 409],
  [Code.PermissionDenied, 403],
  [Code.Unauthenticated, 401],
  [Code.ResourceExhausted, 429],
  [Code.FailedPrecondition, 400],
  [Code.Aborted, 409],
  [Code.OutOfRange, 400],
  [Code.Unimplemented, 501],
  [Code.Internal, 500],
  [Code.Unavailable, 503],
  [Code.DataLoss, 500],
])("code %i is HTTP %i", (code, status) => {
  expect(httpOfError(new ConnectError("", code))).toEqual({ status, header: {} });
});

test("an HTTP status without an error has the code that connect-es infers", () => {
  for (let status = 201; status < 600; status++)
    expect([status, codeOfStatus(status)]).toEqual([status, codeFromHttpStatus(status)]);
});

test.each([undefined, null, 5, "", "NOT_FOUND", "notfound", "cancelled", "constructor", "__proto__"])(
  "%j names no code",
  (name) => {
    expect(parseCodeName(name)).toBeUndefined();
  },
);

test("a refusal keeps its status and header, whatever its code", () => {
  const error = refuse(415, Code.InvalidArgument, "no", { "accept-encoding": "gzip" });
  expect(httpOfError(error)).toEqual({ status: 415, header: { "accept-encoding": "gzip" } });
  expect(error.rawMessage).toBe("no");
});

test("405 lists what is allowed", () => {
  const error = methodNotAllowed("DELETE", ["GET", "HEAD"]);
  expect(error.code).toBe(Code.Unimplemented);
  expect(httpOfError(error)).toEqual({ status: 405, header: { allow: "GET, HEAD" } });
});
