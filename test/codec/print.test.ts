import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damage } from "./damage.ts";
import { bothDecoders, decoder, field, peerMessage, peerText } from "./kitchen.ts";
import { order, reordered } from "./reordered.ts";
import { bytes, concat, double, group, int64, len, text, varint } from "./wire.ts";
import { messageWire } from "./wire-arbitrary.ts";

const names = ["kitchen.Kitchen", "kitchen.Legacy", "kitchen.ClosedLists", "google.protobuf.Struct"];
const options = fc.record({
  emitDefaults: fc.boolean(),
  useProtoFieldName: fc.boolean(),
  enumAsInteger: fc.boolean(),
  int64AsNumber: fc.boolean(),
  maxDepth: fc.constantFrom(2, 4, 100),
});
type Options = Parameters<typeof bothDecoders>[1];

const kitchen = "kitchen.Kitchen";
const entry = (key: string, value: string): Uint8Array => len(41, text(1, key), text(2, value));
const child = (...content: Uint8Array[]): Uint8Array => len(18, ...content);

const toText = (json: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(json);

/** The same records as an encoder puts them: in order, merged, packed, no map key twice. */
function inOrder(name: string, wire: Uint8Array): Uint8Array {
  const desc = peerMessage(name);
  return toBinary(desc, fromBinary(desc, wire));
}

/** The printer's JSON, which must be that of the careful decoder; undefined where it gave up. */
function printed(name: string, wire: Uint8Array, options?: Options): string | undefined {
  const { print, careful } = bothDecoders(name, options);
  const [ours, its] = [{ unknownFields: 0 }, { unknownFields: 0 }];
  const json = print(wire, ours);
  if (json === undefined) return undefined;
  expect(toText(json)).toBe(toText(careful.decode(wire, its)));
  expect(ours).toEqual(its);
  return toText(json);
}

describe.each(names)("%s: the printer and the careful decoder", (name) => {
  const wires = messageWire(peerMessage(name), 4);

  it("agree where records are in order, and the printer gives up on few", () => {
    let count = 0;
    let all = 0;
    fc.assert(
      fc.property(wires, options, (wire, options) => {
        all++;
        const json = printed(name, inOrder(name, wire), { ...options, maxDepth: 100 });
        if (json !== undefined) count++;
      }),
      { numRuns: 1500 },
    );
    // Groups, and unknown numbers of closed enums, are left to the careful decoder.
    expect(count / all).toBeGreaterThan(name === "kitchen.Kitchen" || name.startsWith("google.") ? 0.9 : 0.05);
  });

  it("agree where records are in any order, split, repeated and packed or not", () => {
    let count = 0;
    fc.assert(
      fc.property(wires, options, (wire, options) => {
        if (attempt(() => bothDecoders(name, options).careful.decode(wire)) === undefined) {
          expect(bothDecoders(name, options).print(wire)).toBeUndefined();
        } else if (printed(name, wire, options) !== undefined) count++;
      }),
      { numRuns: 1500 },
    );
    expect(count).toBeGreaterThan(50);
  });

  it("agree where they are put in order first", () => {
    let count = 0;
    let all = 0;
    fc.assert(
      fc.property(wires, fc.option(damage), options, (wire, damage, options) => {
        const damaged = damage === null || wire.length === 0 ? wire : damage(wire);
        const { printAgain, careful } = bothDecoders(name, options);
        const [ours, its] = [{ unknownFields: 0 }, { unknownFields: 0 }];
        const json = printAgain(damaged, ours);
        const expected = attempt(() => careful.decode(damaged, its));
        if (expected !== undefined) all++;
        if (json === undefined) return;
        count++;
        expect(toText(json)).toBe(expected && toText(expected));
        expect(ours).toEqual(its);
      }),
      { numRuns: 1500 },
    );
    expect(count / all).toBeGreaterThan(name === "kitchen.Kitchen" || name.startsWith("google.") ? 0.8 : 0.05);
  });

  // Large messages take a while to draw; `npm run fuzz` draws more of them.
  it("agree where wire was damaged: on its JSON, or on its being none", { timeout: 60_000 }, () => {
    let count = 0;
    const some = wires.filter((wire) => wire.length > 0);
    fc.assert(
      fc.property(some, fc.array(damage, { minLength: 1, maxLength: 3 }), options, (wire, damages, options) => {
        const damaged = damages.reduce((wire, damage) => damage(wire), inOrder(name, wire));
        // The careful decoder does not throw where the printer printed.
        if (printed(name, damaged, options) !== undefined) count++;
      }),
      { numRuns: 2000 },
    );
    expect(count).toBeGreaterThan(50);
  });
});

describe.each(names)("%s: where the careful decoder has the printer do the messages inside", (name) => {
  const wires = messageWire(peerMessage(name), 4);
  const BLAME = `[internal] invalid ${name} from the backend`;

  it("is the same, errors and all", () => {
    let refused = 0;
    fc.assert(
      fc.property(wires, fc.option(damage), options, (wire, damage, options) => {
        const damaged = damage === null || wire.length === 0 ? wire : damage(wire);
        const { careful, decodeInParts } = bothDecoders(name, options);
        const expected = outcome(() => careful.decode(damaged));
        expect(outcome(() => decodeInParts(damaged))).toBe(expected);
        // Of several faults another one may be told.
        const whole = outcome(() => decoder(name, options).decode(damaged));
        const isFault = expected.startsWith("[");
        expect(isFault ? whole.slice(0, BLAME.length) : whole).toBe(isFault ? BLAME : expected);
        if (expected.startsWith("[")) refused++;
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(25);
  });
});

describe.each(["kitchen.Kitchen", "kitchen.ClosedLists"])("%s: one fault among what is right", (name) => {
  const faults = [bytes(0, 0), bytes(0xc3, 0x3e), bytes(0x80), len(1000).subarray(0, 2)];

  it("is told in the very words of the careful decoder", () => {
    let told = 0;
    fc.assert(
      fc.property(messageWire(peerMessage(name), 3), fc.constantFrom(...faults), options, (drawn, fault, options) => {
        const wire = inOrder(name, drawn);
        const { careful } = bothDecoders(name, options);
        if (attempt(() => careful.decode(wire)) === undefined) return;
        const broken = concat(wire, fault);
        const words = outcome(() => careful.decode(broken));
        if (words.startsWith("[")) told++;
        expect(outcome(() => decoder(name, options).decode(broken))).toBe(words);
      }),
      { numRuns: 500 },
    );
    expect(told).toBeGreaterThan(200);
  });
});

describe("a fault", () => {
  const many = concat(...Array.from({ length: 20 }, () => concat(text(14, "a"), child(text(1, "a")), varint(31, 1))));
  const late = len(61, int64(1, 253_402_300_800n));

  it.each([
    ["in a message", concat(child(text(1, "a")), late)],
    ["in a message that goes on", concat(late, len(61, int64(1, 1n)))],
    ["in a message that began before", concat(len(61, varint(2, 1)), late)],
    ["in a message inside", child(text(1, "a"), len(3, text(1, "b"), len(3, len(1, bytes(0xff)))))],
    ["in a list of texts", concat(text(14, "a"), text(14, "b"), len(14, bytes(0xff)), text(14, "c"))],
    ["in a map", concat(entry("a", "1"), len(41, text(1, "b"), len(2, bytes(0xff))))],
    ["in an entry that is replaced", concat(len(41, text(1, "b"), len(2, bytes(0xff))), entry("b", "1"))],
    ["in a member of a oneof", concat(len(81, bytes(0xff)))],
    ["in a member of a oneof that is replaced", concat(len(81, bytes(0xff)), int64(82, 1n))],
    ["in a Value", len(72, double(2, Number.NaN))],
  ])("%s is told as the careful decoder tells it, or is none", (_, wire) => {
    for (const whole of [wire, concat(many, wire), concat(wire, many)]) {
      const { careful } = bothDecoders(kitchen);
      expect(outcome(() => decoder(kitchen).decode(whole))).toBe(outcome(() => careful.decode(whole)));
    }
  });
});

/** The JSON, or what the error says. */
function outcome(run: () => Uint8Array): string {
  try {
    return toText(run());
  } catch (error) {
    return String(error instanceof ConnectError ? error.message : error);
  }
}

describe.each(["kitchen.Kitchen", "kitchen.Legacy"])("%s: one field of it", (name) => {
  const desc = peerMessage(name);
  const drawn = messageWire(desc, 3);
  const shuffled = fc.tuple(drawn, order).map(([wire, order]) => reordered(desc, inOrder(name, wire), order));
  const fields = fc.constantFrom(...desc.fields.map(({ name: own }) => field(name, own)));

  it("is the same from the printer and from the careful decoder", () => {
    let all = 0;
    let count = 0;
    fc.assert(
      fc.property(fc.oneof(drawn, shuffled), fields, options, (wire, field, options) => {
        const { printField, careful } = bothDecoders(name, options);
        const [ours, its] = [{ unknownFields: 0 }, { unknownFields: 0 }];
        const json = printField(wire, field, ours);
        const expected = attempt(() => careful.decodeField(wire, field, its));
        if (json !== undefined) {
          expect(toText(json)).toBe(toText(expected as Uint8Array));
          expect(ours).toEqual(its);
          count++;
        }
        if (expected !== undefined && numbersIn(wire).has(field.number)) all++;
      }),
      { numRuns: 3000 },
    );
    // To skip a group is left to the careful decoder.
    expect(count / all).toBeGreaterThan(name === "kitchen.Kitchen" ? 0.6 : 0.05);
  });

  function numbersIn(wire: Uint8Array): Set<number> {
    const reader = new BinaryReader(wire);
    const numbers = new Set<number>();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      reader.skip(wireType, number);
      numbers.add(number);
    }
    return numbers;
  }
});

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

describe("the printer", () => {
  it.each([
    ["every kind of number", concat(double(1, 0.5), varint(3, -1), int64(4, -5n), varint(13, 1), varint(16, -1))],
    [
      "unknown fields of every plain wire type",
      concat(varint(2000, 5), double(2001, 1), len(2002), bytes(0x9d, 0x7d, 0, 0, 0, 0)),
    ],
    ["a list that is not packed", concat(varint(31, 1), varint(31, 2), varint(31, 300))],
    ["entries of a map", concat(entry("a", "1"), entry("b", "2"))],
    ["entries without key or value", concat(len(41, text(2, "x")), len(42), len(43))],
    ["messages in messages", child(text(1, "a"), len(3, text(1, "b"), len(3)))],
    ["zeros", concat(double(1, 0), varint(3, 0), text(14, ""), varint(21, 0), len(31))],
    [
      "a Value",
      len(72, len(5, len(1, text(1, "a"), len(2, varint(4, 1))), len(1, text(1, "b"), len(2, varint(1, 0))))),
    ],
    [
      "a group that nobody knows",
      concat(varint(3, 1), group(2000, varint(1, 1), group(7), text(2, "x")), varint(4, 2)),
    ],
  ])("prints %s, as protobuf-es does", (_, wire) => {
    const json = printed(kitchen, wire);
    expect(JSON.parse(json ?? "")).toEqual(JSON.parse(peerText(kitchen, wire)));
  });

  it.each([
    ["a field twice", concat(varint(3, 1), varint(3, 2))],
    ["a message in two parts", concat(child(text(1, "a")), child(varint(2, 1)))],
    ["a list in two parts", concat(varint(31, 1), text(14, "a"), varint(31, 2))],
    ["packed behind not packed", concat(varint(31, 1), len(31, bytes(2)))],
    ["two members of a oneof", concat(text(81, "a"), int64(82, 1n))],
    ["a map's key twice", concat(entry("a", "1"), entry("b", "2"), entry("a", "3"))],
    ["a value before its key", len(41, text(2, "b"), text(1, "a"))],
    ["text that is not UTF-8", len(14, bytes(0xc3, 0x28))],
    ["a character cut by the end of its string", concat(len(14, bytes(0xc3)), bytes(0xa9))],
    ["a field number of 0", bytes(0, 0)],
    ["a field number of 0 in a group", group(2000, bytes(3, 4))],
    ["a group that ends with another's number", bytes(0xc3, 0x3e, 0xcc, 0x3e)],
    ["a group that does not end", bytes(0xc3, 0x3e)],
    ["a length past the end", bytes(0x72, 5, 0x61)],
    ["a varint past the end", bytes(0x18, 0x80)],
    ["a varint of 11 bytes", bytes(0x18, ...Array<number>(10).fill(0x80), 1)],
    ["a double past the end", bytes(0x09, 1, 2, 3)],
    ["a packed list of which the last value reaches further", concat(len(31, bytes(1, 0x80)), varint(41, 1))],
    ["a message of which the last value reaches further", concat(child(bytes(0x10, 0x80)), varint(41, 1))],
    ["a Value without kind", len(72)],
    ["a Value that is no finite number", len(72, double(2, Number.NaN))],
    ["a Timestamp after 9999", len(61, int64(1, 253_402_300_800n))],
    ["a Duration of two signs", len(62, varint(1, 1), varint(2, -1))],
  ])("gives up on %s", (_, wire) => {
    expect(bothDecoders(kitchen).print(wire)).toBeUndefined();
  });

  it("takes another wire type than the field's for an unknown field", () => {
    expect(printed(kitchen, concat(len(3, bytes(1, 2)), varint(14, 7)))).toBe("{}");
  });

  it("finds the key that comes twice among many", () => {
    const entries = Array.from({ length: 1000 }, (_, i) => entry(`key ${i}`, "v"));
    expect(Object.keys(JSON.parse(printed(kitchen, concat(...entries)) ?? "").mString)).toHaveLength(1000);
    for (const again of [0, 500, 999]) {
      const twice = concat(...entries, entry(`key ${again}`, "w"));
      expect(bothDecoders(kitchen).print(twice)).toBeUndefined();
    }
  });

  it("keeps the keys of maps in values of maps apart", () => {
    const wire = len(71, ...["a", "b", "c"].map((key) => len(1, text(1, key), len(2, nested("a", "b", "c")))));
    expect(JSON.parse(printed(kitchen, wire) ?? "")).toEqual(JSON.parse(peerText(kitchen, wire)));
    expect(bothDecoders(kitchen).print(len(71, len(1, text(1, "a"), len(2, nested("b", "b")))))).toBeUndefined();
  });

  it("counts levels", () => {
    const two = child(len(3));
    expect(printed(kitchen, two, { maxDepth: 3 })).toBe('{"fChild":{"child":{}}}');
    expect(bothDecoders(kitchen, { maxDepth: 2 }).print(two)).toBeUndefined();
    let deep = new Uint8Array();
    for (let i = 0; i < 5000; i++) deep = new Uint8Array(len(3, deep));
    expect(bothDecoders("kitchen.Child", { maxDepth: 1e6 }).print(deep)).toBeUndefined();
  });

  it("prints texts larger than its buffers, and small ones after them", () => {
    const large = `${"ordinary ".repeat(900_000)}${'"\n\\é'.repeat(900_000)}`;
    expect(JSON.parse(printed(kitchen, text(14, large)) ?? "")).toEqual({ fString: large });
    expect(printed(kitchen, text(14, "small"))).toBe('{"fString":"small"}');
  });

  it("shows nothing of one message in another", () => {
    printed(kitchen, text(14, "secret ".repeat(1000)));
    const cut = concat(bytes(0x72, 0x7f), new TextEncoder().encode("a"));
    expect(bothDecoders(kitchen).print(cut)).toBeUndefined();
    expect(printed(kitchen, new Uint8Array())).toBe("{}");
    expect(new Uint8Array((bothDecoders(kitchen).print(text(14, "a")) as Uint8Array).buffer)).toHaveLength(15);
  });

  function nested(...keys: string[]): Uint8Array {
    return len(5, ...keys.map((key) => len(1, text(1, key), len(2, varint(4, 1)))));
  }
});
