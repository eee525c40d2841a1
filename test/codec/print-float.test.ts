import fc from "fast-check";
import { expect, it } from "vitest";
import { formatFloat32 } from "../../src/codec/float.ts";
import { printDouble, printFloat32 } from "../../src/codec/print-float.ts";
import { finish, load } from "../../src/codec/print-tape.ts";

const view = new DataView(new ArrayBuffer(8));

function printed(print: () => boolean): { text: string; set: boolean } {
  load(new Uint8Array(view.buffer), 1);
  const set = print();
  return { text: new TextDecoder().decode(finish()), set };
}

function doubleText(value: number): string {
  view.setFloat64(0, value, true);
  const { text, set } = printed(printDouble);
  expect(set).toBe(!Object.is(value, 0));
  return text;
}

function floatText(value: number): string {
  view.setFloat32(0, value, true);
  const { text, set } = printed(printFloat32);
  expect(set).toBe(!Object.is(value, 0));
  return text;
}

/** In ECMAScript a Number's text is the shortest decimal that reads back, and of those the nearest. */
const textOf = (value: number): string =>
  Number.isFinite(value) ? (Object.is(value, -0) ? "-0" : String(value)) : `"${value}"`;

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

/** Some neighbours of short decimals, where the shortest and the nearest part ways. */
const nearDecimal = fc
  .tuple(fc.maxSafeNat(), fc.integer({ min: 0, max: 25 }), fc.integer({ min: -3, max: 3 }))
  .map(([digits, power, ulps]) => {
    view.setFloat64(0, digits / 10 ** power);
    view.setBigInt64(0, view.getBigInt64(0) + BigInt(ulps));
    return Math.abs(view.getFloat64(0));
  });

it("prints doubles as the shortest decimals that read back, as String has them", () => {
  fc.assert(
    fc.property(fc.oneof(anyDouble, nearDecimal), (value) => {
      expect(doubleText(value)).toBe(textOf(value));
    }),
    { numRuns: 50_000 },
  );
});

it("prints 32-bit floats as the careful decoder does", () => {
  const floats = fc.oneof(
    fc.float(),
    anyDouble.map(Math.fround),
    fc
      .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 9 }))
      .map(([digits, power]) => Math.fround(digits / 10 ** power)),
  );
  fc.assert(
    fc.property(floats, (value) => {
      expect(floatText(value)).toBe(formatFloat32(value));
    }),
    { numRuns: 20_000 },
  );
});
