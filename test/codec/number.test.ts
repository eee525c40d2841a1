import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDouble, parseFloat32, parseInteger } from "../../src/codec/number.ts";

const MIN = -(1n << 63n);
const MAX = (1n << 63n) - 1n;
const int64 = (text: string) => parseInteger(text, MIN, MAX);

describe("parseInteger", () => {
  it("reads every 64-bit integer", () => {
    fc.assert(
      fc.property(fc.bigInt(MIN, MAX), (value) => {
        expect(int64(String(value))).toBe(value);
      }),
    );
  });

  it("reads each of its exponent and fraction forms", () => {
    const digits = fc.tuple(fc.bigInt(-(10n ** 12n), 10n ** 12n), fc.nat(6), fc.nat(20));
    fc.assert(
      fc.property(digits, ([value, zeros, shift]) => {
        const text = String(value * 10n ** BigInt(zeros));
        // The point moves left by `shift`, the exponent moves it back.
        const padded = text.replace("-", "").padStart(shift + 1, "0");
        const point = padded.length - shift;
        const fraction = padded.slice(point);
        const moved = `${value < 0n ? "-" : ""}${padded.slice(0, point)}${fraction && `.${fraction}`}e${shift}`;
        expect(int64(moved)).toBe(value * 10n ** BigInt(zeros));
      }),
    );
  });

  it.each([
    ["0", 0n],
    ["-0", 0n],
    ["-0.000e-99", 0n],
    ["0e999999999999", 0n],
    ["1.0", 1n],
    ["-2.000", -2n],
    ["1e5", 100_000n],
    ["1.2e3", 1200n],
    ["1E2", 100n],
    ["1e+2", 100n],
    ["1200e-2", 12n],
    ["0.00012e5", 12n],
    ["9223372036854775807", MAX],
    ["-9223372036854775808", MIN],
    ["-922337203685477580800e-2", MIN],
    ["9223372036854775807.000", MAX],
    ["9007199254740993", 9007199254740993n],
  ])("reads %s", (text, value) => expect(int64(text)).toBe(value));

  it.each([
    ..."|0.5|1e-1|9223372036854775808|-9223372036854775809|1e19|1e400|1e99999999999|1e-99999999999".split("|"),
    ...".5|1.|01|-|+5|0x10| 1|1 |1e|1e+|12abc|1_000|1,5|Infinity|NaN|٣|1n|--1|-01|1\n".split("|"),
  ])("refuses %j", (text) => expect(int64(text)).toBeUndefined());

  it("keeps to its range", () => {
    expect(parseInteger("4294967295", 0n, 4294967295n)).toBe(4294967295n);
    expect(parseInteger("4294967296", 0n, 4294967295n)).toBeUndefined();
    expect(parseInteger("-1", 0n, 4294967295n)).toBeUndefined();
  });

  it("costs no more than its text is long", () => {
    const million = 1_000_000;
    const start = performance.now();
    expect(int64("1e999999999")).toBeUndefined();
    expect(int64("9".repeat(million))).toBeUndefined();
    expect(int64(`1${"0".repeat(million)}1`)).toBeUndefined();
    expect(int64(`1${"0".repeat(million)}`)).toBeUndefined();
    expect(int64(`1${"0".repeat(million)}e-${million}`)).toBe(1n);
    expect(int64(`0.${"0".repeat(million)}7e${million + 1}`)).toBe(7n);
    expect(int64(`1e${"9".repeat(million)}`)).toBeUndefined();
    // Quadratic work on a million digits takes minutes.
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe("parseDouble", () => {
  it("reads every double from its shortest text", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        // String(-0) is "0".
        expect(parseDouble(String(value))).toBe(value + 0);
      }),
    );
  });

  it.each([
    ["-0", -0],
    ["1e-400", 0],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["5e-324", Number.MIN_VALUE],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
  ])("reads %s", (text, value) => expect(parseDouble(text)).toBe(value));

  it.each(["", "1e309", "-1e309", "0x10", " 1", "1,5", ".5", "5.", "+1", "infinity", "inf", "-NaN", "true"])(
    "refuses %j",
    (text) => expect(parseDouble(text)).toBeUndefined(),
  );
});

describe("parseFloat32", () => {
  it.each([
    ["3.4028235e38", 3.4028235e38],
    ["-3.4028234663852886e38", -3.4028234663852886e38],
    ["1e-60", 1e-60],
    ["Infinity", Number.POSITIVE_INFINITY],
  ])("reads %s", (text, value) => expect(parseFloat32(text)).toBe(value));

  it.each(["3.502823e38", "-3.5e38", "1e309", ""])("refuses %j", (text) => expect(parseFloat32(text)).toBeUndefined());
});
