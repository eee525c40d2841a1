import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { decodeText } from "./kitchen.ts";
import { bytes, concat, double, len, text, varint } from "./wire.ts";

const NULL = varint(1, 0);
const struct = (members: Record<string, Uint8Array>) =>
  concat(...Object.entries(members).map(([key, value]) => len(1, text(1, key), len(2, value))));
const list = (...items: Uint8Array[]) => concat(...items.map((item) => len(1, item)));

describe("Struct", () => {
  it("is a plain object", () => {
    const content = struct({
      a: len(6, list(double(2, 1), NULL, text(3, "x"), len(5, struct({ b: varint(4, 0) })))),
      "": double(2, -0),
      ["__proto__"]: len(6),
    });
    expect(decodeText("google.protobuf.Struct", content)).toBe('{"a":[1,null,"x",{"b":false}],"":-0,"__proto__":[]}');
  });

  it("keeps the last of a key", () => {
    expect(decodeText("google.protobuf.Struct", concat(struct({ a: NULL }), struct({ a: double(2, 2) })))).toBe(
      '{"a":2}',
    );
  });

  it("stands where a field has it, null included", () => {
    expect(decodeText("kitchen.Kitchen", concat(len(71), len(72, NULL), len(73), len(40, NULL)))).toBe(
      '{"rValue":[null],"sStruct":{},"sValue":null,"sList":[]}',
    );
  });
});

describe("Value", () => {
  it("has the kind that came last", () => {
    expect(decodeText("google.protobuf.Value", concat(text(3, "x"), varint(4, 1)))).toBe("true");
  });

  it.each([
    ["no kind", bytes(), "no kind"],
    ["a kind of another wire type", varint(2, 1), "no kind"],
    ["NaN", double(2, Number.NaN), "at number_value: google.protobuf.Value is not a finite number"],
    ["infinity", double(2, Number.NEGATIVE_INFINITY), "not a finite number"],
    [
      "an element without kind",
      len(6, list(NULL, bytes())),
      "at list_value.values[1]: google.protobuf.Value has no kind",
    ],
    [
      "a member without kind",
      len(5, len(1, text(1, "a"))),
      "at struct_value.fields: google.protobuf.Value has no kind",
    ],
  ])("with %s is internal", (_, content, message) => {
    const decode = () => decodeText("google.protobuf.Value", content);
    expect(decode).toThrow(expect.objectContaining({ code: Code.Internal }));
    expect(decode).toThrow(message);
  });

  it("counts each Value, ListValue and Struct as a level", () => {
    let lists = NULL;
    let structs = NULL;
    for (let i = 0; i < 10; i++) {
      lists = len(6, list(lists));
      structs = len(5, struct({ a: structs }));
    }
    for (const content of [lists, structs]) {
      expect(() => decodeText("google.protobuf.Value", content, { maxDepth: 21 })).not.toThrow();
      expect(() => decodeText("google.protobuf.Value", content, { maxDepth: 20 })).toThrow("depth");
    }
  });
});
