import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bothDecoders, peerMessage, peerText } from "./kitchen.ts";
import { order, reordered } from "./reordered.ts";
import { concat, double, int64, len, text, varint } from "./wire.ts";
import { messageWire } from "./wire-arbitrary.ts";

const kitchen = "kitchen.Kitchen";
const toText = (json: Uint8Array | undefined): string => new TextDecoder().decode(json);

describe("wire in another order than that of field numbers", () => {
  const options = fc.record({ emitDefaults: fc.boolean(), useProtoFieldName: fc.boolean() });

  it.each(["kitchen.Kitchen", "kitchen.Child"])("%s is printed as the careful decoder has it", (name) => {
    const desc = peerMessage(name);
    const tidied = messageWire(desc, 4).map((wire) => toBinary(desc, fromBinary(desc, wire)));
    let all = 0;
    let printed = 0;
    fc.assert(
      fc.property(fc.array(tidied, { minLength: 3, maxLength: 3 }), order, options, (tidied, order, options) => {
        const { print, careful } = bothDecoders(name, options);
        // The first meets a printer that has not seen the order yet.
        for (const wire of tidied.map((wire) => reordered(desc, wire, order))) {
          all++;
          const json = print(wire);
          if (json === undefined) continue;
          printed++;
          expect(toText(json)).toBe(toText(careful.decode(wire)));
        }
      }),
      { numRuns: 1000 },
    );
    expect(printed / all).toBeGreaterThan(name === kitchen ? 0.5 : 0.99);
  });

  const numbers = [3, 4, 5, 6, 7, 8, 13, 16, 17, 21, 22, 24, 26];
  const lengths = [33, 37, 38, 39, 41, 42, 43, 45, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 71, 73, 76];
  /** So many that they are not sorted by insertion. */
  const many = [...numbers.map((number) => varint(number, 1)), ...lengths.map((number) => len(number))];
  const child = (...content: Uint8Array[]): Uint8Array => len(18, ...content);

  it.each([
    ["fields that descend", concat(text(91, "z"), text(14, "a"), varint(3, 1), double(1, 0.5))],
    ["many that descend", concat(...many.toReversed())],
    ["many, the second half first", concat(...many.slice(20), ...many.slice(0, 20))],
    ["a member of a oneof before its turn", concat(varint(3, 1), text(81, "a"), text(14, "b"), len(76))],
    ["zeros", concat(text(14, "a"), varint(3, 0), varint(21, 0), double(1, 0))],
    ["a list and a map whole", concat(len(41, text(1, "k"), text(2, "v")), len(41), varint(31, 1), varint(31, 2))],
    [
      "messages in messages",
      concat(text(91, "z"), child(text(4, "n"), len(3, varint(2, 1), text(1, "b")), text(1, "a"))),
    ],
    [
      "messages in lists and maps",
      concat(len(44, text(1, "k"), len(2, varint(2, 1), text(1, "v"))), len(38, varint(2, 3), text(1, "a")), len(38)),
    ],
    ["long texts", concat(text(14, "long ".repeat(50)), len(15, new Uint8Array(100)), varint(3, 7), int64(4, -1n))],
    ["unknown fields between", concat(text(14, "a"), varint(2000, 1), varint(3, 1), text(2001, "b"))],
  ])("has %s in order of the numbers, defaults where they belong", (_, wire) => {
    for (const emitDefaults of [false, true]) {
      const { print } = bothDecoders(kitchen, { emitDefaults });
      const expected = JSON.stringify(JSON.parse(peerText(kitchen, wire, { emitDefaults })));
      for (const time of ["first", "second"]) {
        expect(JSON.stringify(JSON.parse(toText(print(wire)))), time).toBe(expected);
      }
    }
  });

  it.each([
    ["a field twice", concat(varint(3, 1), text(14, "a"), varint(3, 2))],
    ["a field twice, the second as if it were not there", concat(varint(3, 1), text(14, "a"), varint(3, 0))],
    ["a message in two parts", concat(child(text(1, "a")), text(14, "a"), child(varint(2, 1)))],
    ["a list in two parts", concat(varint(31, 1), text(14, "a"), varint(31, 2))],
    ["a map in two parts", concat(len(41), text(14, "a"), len(41, text(1, "b")))],
    ["many, one of them twice", concat(...many.toReversed(), varint(7, 1))],
    ["two members of a oneof", concat(int64(82, 1n), text(81, "a"))],
    ["more records than fields", concat(...Array.from({ length: 1000 }, (_, i) => varint(3 + (i % 2) * 2, 1)))],
  ])("is left to the careful decoder with %s", (_, wire) => {
    for (const emitDefaults of [false, true]) {
      const { print } = bothDecoders(kitchen, { emitDefaults });
      expect([print(wire), print(wire)]).toEqual([undefined, undefined]);
    }
  });

  it("does not show in the messages that come after", () => {
    const { print } = bothDecoders(kitchen);
    const twice = child(text(4, "n"), text(1, "a"), text(4, "n"));
    for (let i = 0; i < 3; i++) {
      expect(toText(print(concat(text(14, "a"), varint(3, 1))))).toBe('{"fInt32":1,"fString":"a"}');
      expect(print(twice)).toBeUndefined();
      expect(toText(print(varint(3, 2)))).toBe('{"fInt32":2}');
      expect(toText(print(new Uint8Array()))).toBe("{}");
    }
  });

  it("holds for a message in itself that was met in order so far", () => {
    const name = "kitchen.Child";
    let wire = new Uint8Array();
    for (let i = 0; i < 60; i++) wire = new Uint8Array(concat(len(3, wire), varint(2, i), text(1, `level ${i}`)));
    const { print } = bothDecoders(name);
    expect(JSON.parse(toText(print(wire)))).toEqual(JSON.parse(peerText(name, wire)));
  });
});
