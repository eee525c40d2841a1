import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { fieldError, quote, shorten, syntaxError } from "../../src/codec/error.ts";

describe("fieldError", () => {
  it("says field, fault and place", () => {
    const error = fieldError("addresses[3].zip", "expected string, got null", { line: 3, column: 7 });
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toBe("addresses[3].zip: expected string, got null (line 3, column 7)");
    expect(fieldError("a", "no").rawMessage).toBe("a: no");
    expect(fieldError("", "no").rawMessage).toBe("no");
  });

  it("carries a google.rpc.BadRequest", () => {
    const [detail] = fieldError("é", "wrong").details;
    if (!detail || !("type" in detail)) throw new Error("no detail");
    expect(detail.type).toBe("google.rpc.BadRequest");
    // error_details.proto: BadRequest.field_violations = 1; FieldViolation.field = 1, description = 2
    const reader = new BinaryReader(detail.value);
    expect(reader.tag()).toEqual([1, 2]);
    const violation = new BinaryReader(reader.bytes());
    expect(reader.pos).toBe(reader.len);
    expect(violation.tag()).toEqual([1, 2]);
    expect(violation.string()).toBe("é");
    expect(violation.tag()).toEqual([2, 2]);
    expect(violation.string()).toBe("wrong");
    expect(violation.pos).toBe(violation.len);
  });
});

describe("syntaxError", () => {
  it("says fault and place", () => {
    const error = syntaxError("no such escape", { line: 1, column: 2 });
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toBe("invalid JSON: no such escape (line 1, column 2)");
  });
});

describe("quote", () => {
  it("keeps a message on one line, and short", () => {
    expect(quote('a\n"\ud800')).toBe('"a\\n\\"\\ud800"');
    expect(quote("x".repeat(1000)).length).toBeLessThan(80);
  });
});

describe("shorten", () => {
  it("leaves no half of a surrogate pair, its own cut included", () => {
    expect(shorten("\ud800")).toBe("\ufffd");
    expect(shorten(`${"x".repeat(63)}\ud83d\ude08`)).toBe(`${"x".repeat(63)}\ufffd…`);
  });
});
