import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damage } from "./damage.ts";
import { decodeText, peer, peerMessage, peerText } from "./kitchen.ts";
import { isOrderly } from "./orderly.ts";
import { messageWire } from "./wire-arbitrary.ts";

const names = ["kitchen.Kitchen", "kitchen.Legacy"] as const;
const options = fc.record({
  emitDefaults: fc.boolean(),
  useProtoFieldName: fc.boolean(),
  enumAsInteger: fc.boolean(),
  int64AsNumber: fc.boolean(),
});

/**
 * 32-bit floats (the fields that are called so) have fewer digits in our text, and -0 is 0 in protobuf-es's: both are
 * compared by value.
 */
function normal(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value === "number") return (/float/i.test(key) ? Math.fround(value) : value) + 0;
    return /float/i.test(key) && Array.isArray(value) ? value.map((item) => rounded(item)) : value;
  });
}

function rounded(value: unknown): unknown {
  return typeof value === "number" ? Math.fround(value) : value;
}

function outcome<T>(run: () => T): { value: T } | { error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

describe.each(names)("%s against protobuf-es", (name) => {
  const wires = messageWire(peerMessage(name), 3);

  it("has the same JSON for any order, split, packing and options", () => {
    fc.assert(
      fc.property(wires, options, (wire, options) => {
        expect(normal(decodeText(name, wire, options))).toEqual(normal(peerText(name, wire, options)));
      }),
      { numRuns: 1500 },
    );
  });

  it("throws internal, or has the same JSON, for wire that was damaged", () => {
    let compared = 0;
    fc.assert(
      fc.property(
        wires.filter((wire) => wire.length > 0),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        (wire, damages) => {
          const damaged = damages.reduce((wire, damage) => damage(wire), wire);
          const ours = outcome(() => decodeText(name, damaged));
          if ("error" in ours) {
            expect(ours.error).toBeInstanceOf(ConnectError);
            expect(ours.error).toMatchObject({ code: Code.Internal });
            return;
          }
          const parsed = normal(ours.value);
          if (!isOrderly(peerMessage(name), damaged, peer)) return;
          const theirs = outcome(() => peerText(name, damaged));
          if ("error" in theirs) return;
          compared++;
          expect(parsed).toEqual(normal(theirs.value));
        },
      ),
      { numRuns: 3000 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});
