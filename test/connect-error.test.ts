import * as library from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Code, ConnectError } from "../src/connect-error.ts";

/** What somebody may throw: the error that the library makes of it is what ours has to be. */
const REASONS: Readonly<Record<string, unknown>> = {
  "an error": new TypeError("no"),
  "an abort": new DOMException("left", "AbortError"),
  "a timeout": new DOMException("late", "TimeoutError"),
  "a text": "text",
  nothing: undefined,
};

test("the codes are the library's", () => {
  expect(Code).toEqual(library.Code);
});

test("the library takes them for its own", () => {
  const error = new ConnectError("no", 3);
  expect(error).toBeInstanceOf(library.ConnectError);
  expect(library.ConnectError.from(error)).toBe(error);
});

test("an error has what the library's has", () => {
  const of = ["no", 5, { "x-a": "1" }, undefined, "cause"] as const;
  expect(parts(new ConnectError(...of))).toEqual(parts(new library.ConnectError(...of)));
  expect(parts(new ConnectError("no"))).toEqual(parts(new library.ConnectError("no")));
  expect(parts(new ConnectError("", 8))).toEqual(parts(new library.ConnectError("", 8)));
});

describe("from", () => {
  test.each(Object.entries(REASONS))("%s", (_, reason) => {
    expect(parts(ConnectError.from(reason))).toEqual(parts(library.ConnectError.from(reason)));
    expect(parts(ConnectError.from(reason, 14))).toEqual(parts(library.ConnectError.from(reason, 14)));
  });

  test("an error of ours", () => {
    const error = new ConnectError("no", 5);
    expect(ConnectError.from(error)).toBe(error);
  });
});

function parts(error: ConnectError | library.ConnectError) {
  const { name, message, rawMessage, code, metadata, details, cause } = error;
  return { name, message, rawMessage, code, metadata: [...metadata], details, cause };
}
