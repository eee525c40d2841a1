import { Code } from "@connectrpc/connect";
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { failure } from "../failure.ts";
import { encoderOf, utf8 } from "./kinds.ts";
import { bothDecoders, decoder, field } from "./kitchen.ts";
import { bytes, concat, group, len, text, varint } from "./wire.ts";

describe("what is skipped in wire is counted", () => {
  const KITCHEN = "kitchen.Kitchen";
  const LEGACY = "kitchen.Legacy";
  const any = (name: string, ...content: Uint8Array[]) =>
    len(75, text(1, `type.googleapis.com/${name}`), len(2, ...content));

  it.each([
    ["nothing", KITCHEN, concat(varint(3, 1), text(14, "a")), 0],
    ["fields of no number that there is", KITCHEN, concat(varint(2000, 5), len(2001, bytes(1))), 2],
    ["a group, and not what is in it", KITCHEN, group(2000, varint(1, 1), varint(2, 1)), 1],
    ["a known number with another wire type", KITCHEN, concat(len(3, bytes(1)), varint(14, 1)), 2],
    ["in messages in messages", KITCHEN, len(18, varint(99, 1), len(3, varint(99, 1))), 2],
    ["in every part of a message", KITCHEN, concat(len(18, varint(99, 1)), len(18, varint(99, 1))), 2],
    ["in elements of a list", KITCHEN, concat(len(38, varint(99, 1)), len(38), len(38, varint(99, 1))), 2],
    ["in an entry of a map, and in its value", KITCHEN, len(44, varint(3, 1), len(2, varint(99, 1))), 2],
    ["in a wrapper", KITCHEN, len(53, varint(1, 7), varint(2, 7)), 1],
    ["in a Timestamp", KITCHEN, len(61, varint(1, 7), varint(3, 7)), 1],
    [
      "in a Struct, and in a Value in it",
      KITCHEN,
      len(71, varint(2, 1), len(1, len(2, varint(4, 1), varint(9, 1)))),
      2,
    ],
    ["in an Any, and in the message in it", KITCHEN, concat(any("kitchen.Child", varint(99, 1)), varint(99, 1)), 2],
    ["not in a member of a oneof that was replaced", KITCHEN, concat(len(83, varint(99, 1)), varint(85, 1)), 0],
    ["not in a value of a map that was replaced", KITCHEN, concat(len(44, len(2, varint(99, 1))), len(44)), 0],
    ["numbers that a closed enum does not have", LEGACY, concat(varint(4, 99), varint(4, 5), varint(8, 99)), 2],
    ["such in a list", "kitchen.ClosedLists", concat(len(1, bytes(5, 99, 98)), varint(1, 97)), 3],
    ["such in a map", "kitchen.ClosedLists", concat(len(2, text(1, "a"), varint(2, 99)), len(2, text(1, "b"))), 1],
  ])("%s", (_, name, wire, count) => {
    const skipped = { unknownFields: 0 };
    decoder(name).decode(wire, skipped);
    expect(skipped).toEqual({ unknownFields: count });
    const { print, careful } = bothDecoders(name);
    careful.decode(wire, skipped);
    expect(skipped).toEqual({ unknownFields: 2 * count });
    if (print(wire, skipped)) expect(skipped).toEqual({ unknownFields: 3 * count });
  });

  it("when one field alone is shown, in it", () => {
    const skipped = { unknownFields: 0 };
    const child = field(KITCHEN, "f_child");
    const wire = concat(varint(2000, 1), len(18, varint(99, 1)));
    const { printField, careful } = bothDecoders(KITCHEN);
    for (const decodeField of [printField, careful.decodeField, decoder(KITCHEN).decodeField]) {
      decodeField(wire, child, skipped);
    }
    expect(skipped).toEqual({ unknownFields: 3 });
  });

  it("but not when it fails", () => {
    const skipped = { unknownFields: 0 };
    const wire = concat(varint(2000, 1), len(72));
    expect(() => decoder(KITCHEN).decode(wire, skipped)).toThrow(failure(Code.Internal));
    expect(skipped).toEqual({ unknownFields: 0 });
  });
});

describe("the JSON of a message is bounded", () => {
  const wire = concat(text(14, "a".repeat(300)), len(38, varint(1, 1)), len(38), text(14, "é\n".repeat(50)));

  it.each([false, true])("to the byte, by printer and careful decoder (emitDefaults: %j)", (emitDefaults) => {
    const free = bothDecoders("kitchen.Kitchen", { emitDefaults });
    const { length } = free.careful.decode(wire);
    const enough = bothDecoders("kitchen.Kitchen", { emitDefaults, maxJsonBytes: length });
    expect(enough.careful.decode(wire).length).toBe(length);
    expect(enough.print(wire)).toEqual(free.print(wire));
    const less = { emitDefaults, maxJsonBytes: length - 1 };
    expect(bothDecoders("kitchen.Kitchen", less).print(wire)).toBeUndefined();
    expect(() => decoder("kitchen.Kitchen", less).decode(wire)).toThrow(
      failure(Code.ResourceExhausted, `${length - 1} bytes of JSON`),
    );
  });

  it("long before all of it was made", () => {
    // A megabyte of empty messages is hundreds of MB of JSON.
    const bomb = new Uint8Array(Buffer.alloc(3 << 18, len(38)));
    const before = process.memoryUsage().arrayBuffers;
    const options = { emitDefaults: true, maxJsonBytes: 8 << 20 };
    expect(() => decoder("kitchen.Kitchen", options).decode(bomb)).toThrow(failure(Code.ResourceExhausted));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 << 20);
  });
});

/** JSON, and how much of it is unknown. */
interface Counted {
  readonly json: Readonly<Record<string, unknown>>;
  readonly count: number;
}

const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ nope: 1, fInt32: "x" }));
const unknownKeys = fc.dictionary(fc.stringMatching(/^nope\w?$/), value, { maxKeys: 3, noNullPrototype: true });
const color = fc.constantFrom("RED", 2, "PINK", "nope");

/** `k.Kinds` with unknown keys and enum names anywhere. @param depth levels of messages below. */
function counted(depth: number): Arbitrary<Counted> {
  const below: Arbitrary<readonly Counted[]> =
    depth > 0 ? fc.array(counted(depth - 1), { maxLength: 2 }) : fc.constant([]);
  return fc
    .record({
      keys: unknownKeys,
      colors: fc.array(color, { maxLength: 3 }),
      byNumber: fc.dictionary(fc.constantFrom("1", "2"), color, { noNullPrototype: true }),
      one: color,
      child: below,
      children: below,
      inAny: below,
    })
    .map(({ keys, colors, byNumber, one, child: [child], children, inAny: [inAny] }) => {
      const messages = [child, inAny, ...children].filter((message) => message !== undefined);
      const names = [...colors, ...Object.values(byNumber), one];
      return {
        json: {
          ...keys,
          rColor: colors,
          mColor: byNumber,
          fColor: one,
          ...(child && { fKinds: child.json }),
          rKinds: children.map(({ json }) => json),
          ...(inAny && { sAny: { ...inAny.json, "@type": "type.googleapis.com/k.Kinds" } }),
        },
        count:
          Object.keys(keys).length +
          names.filter((name) => name === "PINK" || name === "nope").length +
          messages.reduce((sum, { count }) => sum + count, 0),
      };
    });
}

describe("what is skipped in JSON is counted", () => {
  const { encode, encodeRequest } = encoderOf("k.Kinds", { unknownFields: "ignore" });

  it("wherever it stands", () => {
    let most = 0;
    fc.assert(
      fc.property(counted(2), ({ json, count }) => {
        const [whole, request] = [{ unknownFields: 0 }, { unknownFields: 0 }];
        const bytes = utf8(JSON.stringify(json));
        const wire = encode(bytes, whole);
        expect(whole).toEqual({ unknownFields: count });
        const bound = { fields: new Map() };
        expect(encodeRequest({ json: bytes, body: "*", bound }, request).wire).toEqual(wire);
        expect(request).toEqual(whole);
        most = Math.max(most, count);
      }),
    );
    expect(most).toBeGreaterThan(5);
  });

  it("also beside the value of an Any, and a closed enum's number", () => {
    const skipped = { unknownFields: 0 };
    encode(utf8('{"sAny":{"@type":"x/google.protobuf.Duration","nope":[1],"value":"1s"}}'), skipped);
    expect(skipped).toEqual({ unknownFields: 1 });
    encoderOf("k.Old", { unknownFields: "ignore" }).encode(utf8('{"must":1,"closed":7,"byName":{"a":9}}'), skipped);
    expect(skipped).toEqual({ unknownFields: 3 });
  });

  it("but not when it fails", () => {
    const skipped = { unknownFields: 0 };
    expect(() => encode(utf8('{"nope":1,"fInt32":"x"}'), skipped)).toThrow(failure(Code.InvalidArgument, "f_int32"));
    expect(skipped).toEqual({ unknownFields: 0 });
  });
});
