import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { decodeText } from "./kitchen.ts";
import { bytes, concat, double, int64, len, text, varint } from "./wire.ts";

const kitchen = (...parts: Uint8Array[]) => decodeText("kitchen.Kitchen", concat(...parts));
const internal = expect.objectContaining({ code: Code.Internal });

describe("wrappers", () => {
  it("are their value, and their zero when it is missing", () => {
    expect(kitchen(len(51, double(1, 0.5)), len(53, int64(1, -1n)), len(57), len(58, text(1, "x")), len(59))).toBe(
      '{"wDouble":0.5,"wInt64":"-1","wBool":false,"wString":"x","wBytes":""}',
    );
  });

  it("can stand alone", () => {
    expect(decodeText("google.protobuf.Int64Value", varint(1, 5))).toBe('"5"');
    expect(decodeText("google.protobuf.StringValue", bytes())).toBe('""');
  });
});

describe("Timestamp and Duration", () => {
  it("are text", () => {
    expect(
      kitchen(
        len(61, int64(1, 1704067200n), varint(2, 100_000_000)),
        len(62, varint(2, -1000)),
        len(39),
        len(39, int64(1, -1n), varint(2, 999_000_000)),
      ),
    ).toBe(
      '{"rTime":["1970-01-01T00:00:00Z","1969-12-31T23:59:59.999Z"],' +
        '"tTime":"2024-01-01T00:00:00.100Z","tSpan":"-0.000001s"}',
    );
  });

  it.each([
    ["a Timestamp after the year 9999", len(61, int64(1, 253_402_300_800n)), "at t_time: google.protobuf.Timestamp"],
    ["nanos below zero", len(61, varint(2, -1)), "at t_time: google.protobuf.Timestamp"],
    ["a Duration over its range", len(62, int64(1, 315_576_000_001n)), "at t_span: google.protobuf.Duration"],
    ["two signs", len(62, int64(1, 1n), varint(2, -1)), "at t_span: google.protobuf.Duration"],
    ["one in a list", concat(len(39), len(39, varint(2, -1))), "at r_time[1]: google.protobuf.Timestamp"],
  ])("%s is internal", (_, content, message) => {
    expect(() => kitchen(content)).toThrow(internal);
    expect(() => kitchen(content)).toThrow(message);
  });
});

describe("FieldMask", () => {
  it("is camelCase paths with commas", () => {
    expect(kitchen(len(63, text(1, "f_string"), text(1, "f_child.text")))).toBe('{"tMask":"fString,fChild.text"}');
    expect(kitchen(len(63))).toBe('{"tMask":""}');
  });

  it.each(["fooBar", "foo_3_bar", "foo__bar", "foo_", "_Foo", "a,b", ""])("%j has no JSON form", (path) => {
    expect(() => kitchen(len(63, text(1, path)))).toThrow(internal);
    expect(() => kitchen(len(63, text(1, path)))).toThrow("at t_mask: google.protobuf.FieldMask has no JSON form");
  });
});

describe("Any", () => {
  const url = (name: string) => text(1, `type.googleapis.com/${name}`);

  it("is the message with @type", () => {
    expect(kitchen(len(75, url("kitchen.Child"), len(2, text(1, "a"))))).toBe(
      '{"sAny":{"@type":"type.googleapis.com/kitchen.Child","text":"a"}}',
    );
    expect(kitchen(len(75, text(1, "https://example.com/a/b/kitchen.Child")))).toBe(
      '{"sAny":{"@type":"https://example.com/a/b/kitchen.Child"}}',
    );
  });

  it("has a well-known type under value", () => {
    expect(kitchen(len(75, url("google.protobuf.Duration"), len(2, varint(1, 3))))).toBe(
      '{"sAny":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}}',
    );
    expect(kitchen(len(75, url("google.protobuf.Struct")))).toBe(
      '{"sAny":{"@type":"type.googleapis.com/google.protobuf.Struct","value":{}}}',
    );
    expect(kitchen(len(75, url("google.protobuf.Any"), len(2, url("kitchen.Child"), len(2, varint(2, 1)))))).toBe(
      '{"sAny":{"@type":"type.googleapis.com/google.protobuf.Any","value":' +
        '{"@type":"type.googleapis.com/kitchen.Child","count":1}}}',
    );
  });

  it("knows error details that the schema does not hold", () => {
    expect(
      kitchen(len(75, url("google.rpc.ErrorInfo"), len(2, text(1, "QUOTA"), len(3, text(1, "k"), text(2, "v"))))),
    ).toBe('{"sAny":{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA","metadata":{"k":"v"}}}');
  });

  it("is {} when empty", () => {
    expect(kitchen(len(75))).toBe('{"sAny":{}}');
    expect(kitchen(len(75, text(1, ""), len(2)))).toBe('{"sAny":{}}');
  });

  it.each([
    ["an unknown type", concat(url("none.None"), len(2, varint(1, 1))), "none.None"],
    ["a value without a type", len(2, varint(1, 1)), "without a type"],
    ["content that does not parse", concat(url("kitchen.Child"), len(2, bytes(0x0a, 9))), "truncated"],
  ])("with %s is internal", (_, content, message) => {
    expect(() => kitchen(len(75, content))).toThrow(internal);
    expect(() => kitchen(len(75, content))).toThrow(message);
  });

  it("counts as a level, and its content too", () => {
    let any = concat(url("kitchen.Child"));
    for (let i = 0; i < 50; i++) any = concat(url("google.protobuf.Any"), len(2, any));
    expect(() => decodeText("google.protobuf.Any", any, { maxDepth: 52 })).not.toThrow();
    expect(() => decodeText("google.protobuf.Any", any, { maxDepth: 51 })).toThrow("depth");
  });
});

describe("Empty", () => {
  it("is {}", () => {
    expect(kitchen(len(76))).toBe('{"sEmpty":{}}');
    expect(decodeText("google.protobuf.Empty", varint(1, 1))).toBe("{}");
  });
});
