import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDuration, parseTimestamp } from "../../src/codec/time.ts";
import { formatDuration, formatTimestamp } from "../../src/codec/time-format.ts";

describe("formatTimestamp", () => {
  it.each([
    [0n, 0, "1970-01-01T00:00:00Z"],
    [1704067200n, 100_000_000, "2024-01-01T00:00:00.100Z"],
    [1704067200n, 100_000, "2024-01-01T00:00:00.000100Z"],
    [1704067200n, 100, "2024-01-01T00:00:00.000000100Z"],
    [-1n, 999_000_000, "1969-12-31T23:59:59.999Z"],
    [-62_135_596_800n, 0, "0001-01-01T00:00:00Z"],
    [253_402_300_799n, 999_999_999, "9999-12-31T23:59:59.999999999Z"],
  ])("%d s, %d ns → %s", (seconds, nanos, text) => {
    expect(formatTimestamp(seconds, nanos)).toBe(text);
  });

  it.each([
    [-62_135_596_801n, 0],
    [253_402_300_800n, 0],
    [0n, -1],
    [0n, 1_000_000_000],
    [(1n << 63n) - 1n, 0],
  ])("has none for %d s, %d ns", (seconds, nanos) => {
    expect(formatTimestamp(seconds, nanos)).toBeUndefined();
  });

  it("is what the parser reads", () => {
    const seconds = fc.bigInt(-62_135_596_800n, 253_402_300_799n);
    fc.assert(
      fc.property(seconds, fc.nat(999_999_999), (seconds, nanos) => {
        expect(parseTimestamp(formatTimestamp(seconds, nanos) ?? "")).toEqual({ seconds: Number(seconds), nanos });
      }),
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0n, 0, "0s"],
    [1n, 500_000_000, "1.500s"],
    [-1n, -500_000_000, "-1.500s"],
    [0n, -1000, "-0.000001s"],
    [0n, 1, "0.000000001s"],
    [-3n, 0, "-3s"],
    [10n, 10_000_000, "10.010s"],
    [315_576_000_000n, 0, "315576000000s"],
    [-315_576_000_000n, -999_999_999, "-315576000000.999999999s"],
  ])("%d s, %d ns → %s", (seconds, nanos, text) => {
    expect(formatDuration(seconds, nanos)).toBe(text);
  });

  it.each([
    [315_576_000_001n, 0],
    [-315_576_000_001n, 0],
    [1n, -1],
    [-1n, 1],
    [0n, 1_000_000_000],
    [0n, -1_000_000_000],
    [-(1n << 63n), 0],
  ])("has none for %d s, %d ns", (seconds, nanos) => {
    expect(formatDuration(seconds, nanos)).toBeUndefined();
  });

  it("is what the parser reads", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 315_575_999_999n),
        fc.nat(999_999_999),
        fc.constantFrom(1, -1),
        (seconds, nanos, sign) => {
          const text = formatDuration(seconds * BigInt(sign), nanos * sign) ?? "";
          expect(parseDuration(text)).toEqual({ seconds: Number(seconds) * sign, nanos: 0 + nanos * sign });
        },
      ),
    );
  });
});
