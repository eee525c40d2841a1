import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDouble, formatFloat32 } from "../../src/codec/float.ts";

const specials: [number, string][] = [
  [Number.NaN, '"NaN"'],
  [Number.POSITIVE_INFINITY, '"Infinity"'],
  [Number.NEGATIVE_INFINITY, '"-Infinity"'],
  [0, "0"],
  [-0, "-0"],
];

describe("formatDouble", () => {
  it.each([...specials, [0.1, "0.1"], [1e21, "1e+21"], [5e-324, "5e-324"]])("%d → %s", (value, text) => {
    expect(formatDouble(value)).toBe(text);
  });
});

describe("formatFloat32", () => {
  it.each([
    ...specials,
    [0.1, "0.1"],
    [16777216, "16777216"],
    [3.4028234663852886e38, "3.4028235e+38"],
    [1.1754943508222875e-38, "1.1754944e-38"],
    // The smallest subnormal.
    [1.401298464324817e-45, "1e-45"],
    [-2.5, "-2.5"],
  ])("%d → %s", (value, text) => {
    expect(formatFloat32(Math.fround(value))).toBe(text);
  });

  it("reads back, and one digit less does not", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatFloat32(value);
        expect(Object.is(Math.fround(Number(text)), value)).toBe(true);
        const digits = text.replace(/e.*|[-.]/g, "").replace(/^0+|0+$/g, "").length;
        if (digits > 1) expect(Math.fround(Number(value.toPrecision(digits - 1)))).not.toBe(value);
      }),
      { numRuns: 2000 },
    );
  });
});
