import { describe, expect, it } from "vitest";
import { bothDecoders, peerText } from "./kitchen.ts";
import { bytes, concat, double, len, text, varint } from "./wire.ts";

const any = "google.protobuf.Any";
const url = (type: string): Uint8Array => text(1, `type.googleapis.com/${type}`);
const duration = url("google.protobuf.Duration");

describe("what the printer makes of an Any", () => {
  it.each([
    ["nothing", concat()],
    ["a message", concat(url("kitchen.Child"), len(2, text(1, "a"), varint(2, 5), len(3, text(1, "b"))))],
    ["a message, its fields in another order", concat(url("kitchen.Child"), len(2, varint(2, 5), text(1, "a")))],
    ["a message without content", url("kitchen.Child")],
    ["a message of which the content is empty", concat(url("kitchen.Child"), len(2))],
    [
      "a message in a message",
      concat(url("kitchen.Kitchen"), len(2, len(75, url("kitchen.Child"), len(2, varint(2, 1))))),
    ],
    ["a Duration", concat(duration, len(2, varint(1, 3)))],
    ["a Duration without content", duration],
    ["a Struct", concat(url("google.protobuf.Struct"), len(2, len(1, text(1, "k"), len(2, varint(4, 1)))))],
    ["a wrapper", concat(url("google.protobuf.DoubleValue"), len(2, double(1, 0.5)))],
    ["an Any", concat(url(any), len(2, duration, len(2, varint(1, 3))))],
    ["Empty", concat(url("google.protobuf.Empty"), len(2))],
    ["a type URL of many parts", concat(text(1, "https://a.example/b/c/kitchen.Child"), len(2, varint(2, 1)))],
  ])("is for %s what protobuf-es has", (_, wire) => {
    const { print } = bothDecoders(any);
    for (let time = 0; time < 3; time++) {
      expect(JSON.parse(new TextDecoder().decode(print(wire)))).toEqual(JSON.parse(peerText(any, wire)));
    }
  });

  it.each([
    ["a type that is unknown", concat(url("kitchen.None"), len(2, varint(2, 1)))],
    ["a type that is unknown, but looks like the one before", concat(url("kitchen.Chold"), len(2, varint(2, 1)))],
    ["a type that is not ASCII", concat(url("kitchen.Childé"), len(2, varint(2, 1)))],
    ["no type after the slash", text(1, "type.googleapis.com/")],
    ["no type", len(2, varint(2, 1))],
    ["the type behind the value", concat(len(2, varint(1, 3)), duration)],
    ["two types", concat(duration, duration)],
    ["two values", concat(duration, len(2, varint(1, 3)), len(2, varint(2, 3)))],
    ["an unknown field", concat(duration, len(2, varint(1, 3)), varint(3, 1))],
    ["a type as long as the message", text(1, "x".repeat(1_000_000))],
    ["a Value without kind", concat(url("google.protobuf.Value"), len(2))],
    [
      "a value of which the last field reaches further",
      concat(url("kitchen.Child"), len(2, bytes(0x10, 0x80)), bytes(0)),
    ],
  ])("is for %s nothing", (_, wire) => {
    const { print } = bothDecoders(any);
    print(concat(url("kitchen.Child"), len(2, varint(2, 1))));
    for (let time = 0; time < 3; time++) expect(print(wire)).toBeUndefined();
  });

  it("keeps types apart of which the names are alike", () => {
    const { print } = bothDecoders(any);
    const printed = (type: string, content: Uint8Array): unknown =>
      JSON.parse(new TextDecoder().decode(print(concat(url(type), len(2, content)))));
    for (let time = 0; time < 3; time++) {
      // The same length, and the same end.
      expect(printed("google.protobuf.Int32Value", varint(1, -1))).toMatchObject({ value: -1 });
      expect(printed("google.protobuf.Int64Value", varint(1, -1))).toMatchObject({ value: "-1" });
      expect(printed("google.protobuf.FloatValue", concat())).toMatchObject({ value: 0 });
    }
  });

  it("counts levels as the careful decoder does", () => {
    const child = concat(url("kitchen.Child"), len(2, varint(2, 1)));
    const inside = concat(url(any), len(2, child));
    for (const [wire, levels] of [
      [child, 2],
      [inside, 3],
      [concat(duration, len(2, varint(1, 3))), 2],
    ] as const) {
      const enough = bothDecoders(any, { maxDepth: levels });
      expect(enough.print(wire)).toEqual(enough.careful.decode(wire));
      const few = bothDecoders(any, { maxDepth: levels - 1 });
      expect(few.print(wire)).toBeUndefined();
      expect(() => few.careful.decode(wire)).toThrow();
    }
  });
});
