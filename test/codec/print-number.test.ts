import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFloat32 } from "../../src/codec/float.ts";
import {
  printDouble,
  printFloat32,
  printInt32,
  printInt64,
  printNatural,
  printPadded,
  printUint64,
} from "../../src/codec/print-number.ts";
import { finish, halves, load } from "../../src/codec/print-tape.ts";

function printed(print: () => void): string {
  load(new Uint8Array(), 1);
  print();
  return new TextDecoder().decode(finish());
}

/** In ECMAScript a Number's text is the shortest decimal that reads back, and of those the nearest. */
const textOf = (value: number): string =>
  Number.isFinite(value) ? (Object.is(value, -0) ? "-0" : String(value)) : `"${value}"`;

function halve(value: bigint): void {
  halves[0] = Number(BigInt.asIntN(32, value));
  halves[1] = Number(BigInt.asIntN(32, value >> 32n));
}

/** Any 64 bits, and such as lie about powers of two and of ten. */
const bits64 = fc.oneof(
  fc.bigInt(0n, (1n << 64n) - 1n),
  fc.tuple(fc.integer({ min: 0, max: 63 }), fc.bigInt(-3n, 3n)).map(([shift, by]) => (1n << BigInt(shift)) + by),
  fc.tuple(fc.integer({ min: 0, max: 19 }), fc.bigInt(-3n, 3n)).map(([power, by]) => 10n ** BigInt(power) + by),
);
const view = new DataView(new ArrayBuffer(8));
const anyDouble = fc.oneof(
  fc.bigInt(0n, (1n << 64n) - 1n).map((bits) => {
    view.setBigUint64(0, bits);
    return view.getFloat64(0);
  }),
  fc.double(),
  fc
    .tuple(fc.double({ min: -1, max: 1 }), fc.integer({ min: -10, max: 18 }))
    .map(([value, power]) => value * 10 ** power),
  fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 22 })).map(([value, power]) => value / 10 ** power),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 9 })).map(([value, power]) => value / 10 ** power),
  fc
    .tuple(fc.integer({ min: -1074, max: 1023 }), fc.constantFrom(1, 1 + 2 ** -52, 1 - 2 ** -53))
    .map(([power, value]) => value * 2 ** power),
);

describe("numbers", () => {
  it("of 32 bits and of 53 are as String has them", () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(printed(() => printInt32(value))).toBe(String(value));
      }),
    );
    const edges = Array.from({ length: 16 }, (_, i) => [10 ** i - 1, 10 ** i]).flat();
    for (const value of edges) expect(printed(() => printNatural(value))).toBe(String(value));
    for (const value of [-(2 ** 31), 2 ** 31 - 1]) expect(printed(() => printInt32(value))).toBe(String(value));
  });

  it("of 64 bits are as BigInt has them, in quotes", () => {
    fc.assert(
      fc.property(bits64, (bits) => {
        halve(bits);
        expect(printed(printInt64)).toBe(`"${BigInt.asIntN(64, bits)}"`);
        halve(bits);
        expect(printed(printUint64)).toBe(`"${BigInt.asUintN(64, bits)}"`);
      }),
      { numRuns: 5000 },
    );
  });

  it("are padded", () => {
    expect(printed(() => printPadded(0, 4))).toBe("0000");
    expect(printed(() => printPadded(7, 3))).toBe("007");
    expect(printed(() => printPadded(123_456_789, 9))).toBe("123456789");
  });

  it("are the shortest decimal that reads back, as String has it", () => {
    fc.assert(
      fc.property(anyDouble, (value) => {
        expect(printed(() => printDouble(value))).toBe(textOf(value));
      }),
      { numRuns: 50_000 },
    );
  });

  it("of 32-bit floats are as the careful decoder has them", () => {
    const floats = fc.oneof(
      fc.float(),
      anyDouble.map(Math.fround),
      fc
        .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 9 }))
        .map(([digits, power]) => Math.fround(digits / 10 ** power)),
    );
    fc.assert(
      fc.property(floats, (value) => {
        expect(printed(() => printFloat32(value))).toBe(formatFloat32(value));
      }),
      { numRuns: 20_000 },
    );
  });
});
