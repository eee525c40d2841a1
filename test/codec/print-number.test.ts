import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printInt32, printInt64, printNatural, printPadded, printUint64 } from "../../src/codec/print-number.ts";
import { finish, halves, load } from "../../src/codec/print-tape.ts";

function printed(print: () => void): string {
  load(new Uint8Array(), 1);
  print();
  return new TextDecoder().decode(finish());
}

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
describe("integers", () => {
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

  it("of 64 bits are as BigInt has them, in quotes; bare where a double has them too, if that is wanted", () => {
    fc.assert(
      fc.property(bits64, fc.boolean(), (bits, bare) => {
        const text = (value: bigint) => (bare && Number.isSafeInteger(Number(value)) ? `${value}` : `"${value}"`);
        halve(bits);
        expect(printed(() => printInt64(bare))).toBe(text(BigInt.asIntN(64, bits)));
        halve(bits);
        expect(printed(() => printUint64(bare))).toBe(text(BigInt.asUintN(64, bits)));
      }),
      { numRuns: 5000 },
    );
  });

  it("are padded", () => {
    expect(printed(() => printPadded(0, 4))).toBe("0000");
    expect(printed(() => printPadded(7, 3))).toBe("007");
    expect(printed(() => printPadded(123_456_789, 9))).toBe("123456789");
  });
});
