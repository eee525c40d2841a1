import { describe, expect, it } from "vitest";
import { bothDecoders, peerText } from "./kitchen.ts";
import { bytes, concat, len, text, varint } from "./wire.ts";

const name = "google.protobuf.FieldMask";

describe("printMask", () => {
  it.each([
    ["no path", concat()],
    ["one path", text(1, "labels")],
    ["many", concat(text(1, "display_name"), text(1, "shelf.book2.zip_code"), text(1, "a_b_c"), text(1, "x9"))],
    ["a long one", concat(text(1, "very_long_name.".repeat(5000).slice(0, -1)), text(1, "b"))],
  ])("prints %s as protobuf-es does", (_, wire) => {
    const json = bothDecoders(name).print(wire);
    expect(JSON.parse(new TextDecoder().decode(json))).toBe(JSON.parse(peerText(name, wire)));
  });

  it.each([
    ["upper case", text(1, "displayName")],
    ["a comma", text(1, "a,b")],
    ["an underscore at the end", text(1, "a_")],
    ["an underscore at the end, letters behind it", len(1, bytes(0x61, 0x5f, 0x61)).with(1, 2)],
    ["an underscore before a digit", text(1, "a_1")],
    ["two underscores", text(1, "a__b")],
    ["an empty path", concat(text(1, "a"), text(1, ""))],
    ["quotes", text(1, 'a"b')],
    ["what is not ASCII", text(1, "é")],
    ["another field", concat(text(1, "a"), varint(2, 1))],
    ["a path past the end", bytes(10, 5, 0x61)],
  ])("gives up on %s", (_, wire) => {
    expect(bothDecoders(name).print(wire)).toBeUndefined();
  });

  it("comes after what was printed before it", () => {
    const wire = concat(
      len(61, varint(1, 1)),
      len(63, text(1, "a_b"), text(1, "c")),
      len(63 + 8, len(1, text(1, "k"), len(2, varint(4, 1)))),
    );
    const json = bothDecoders("kitchen.Kitchen").print(wire);
    expect(JSON.parse(new TextDecoder().decode(json))).toEqual(JSON.parse(peerText("kitchen.Kitchen", wire)));
  });
});
