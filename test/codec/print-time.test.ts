import fc from "fast-check";
import { expect, it } from "vitest";
import { bothDecoders } from "./kitchen.ts";
import { int64, varint } from "./wire.ts";
import { concat } from "./wire-arbitrary.ts";

const { print } = bothDecoders("google.protobuf.Timestamp");
const text = (seconds: number, nanos: number): string =>
  new TextDecoder().decode(print(concat([int64(1, BigInt(seconds)), varint(2, nanos)])));

it("prints Timestamps as Date does", () => {
  const seconds = fc.oneof(
    fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
    fc.constantFrom(-62_135_596_800, 253_402_300_799, 0, -1, 951_782_400, 4_107_542_400),
  );
  fc.assert(
    fc.property(seconds, fc.integer({ min: 0, max: 999 }), (seconds, millis) => {
      const date = new Date(seconds * 1000 + millis).toISOString();
      expect(text(seconds, millis * 1_000_000)).toBe(`"${millis === 0 ? date.replace(".000Z", "Z") : date}"`);
    }),
    { numRuns: 10_000 },
  );
});

it("prints 3, 6 or 9 digits", () => {
  expect(text(0, 1)).toBe('"1970-01-01T00:00:00.000000001Z"');
  expect(text(0, 1000)).toBe('"1970-01-01T00:00:00.000001Z"');
  expect(text(0, 120_000_000)).toBe('"1970-01-01T00:00:00.120Z"');
});
