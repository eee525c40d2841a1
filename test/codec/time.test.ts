import { fromJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDuration, parseTimestamp } from "../../src/codec/time.ts";

describe("parseTimestamp", () => {
  it("reads what Date writes", () => {
    const dates = fc.date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        const time = parseTimestamp(date.toISOString());
        expect((time?.seconds ?? Number.NaN) * 1000 + (time?.nanos ?? 0) / 1e6).toBe(date.getTime());
      }),
    );
  });

  it.each([
    "1970-01-01T00:00:00.000000001Z",
    "1969-12-31T23:59:59.5Z",
    "2024-01-01T00:00:00+05:30",
    "2024-02-29T23:59:59.123456789-23:59",
    "0001-01-01T00:00:00Z",
    "0001-01-01T01:00:00.5+01:00",
    "9999-12-31T23:59:59.999999999Z",
    "0099-03-01T00:00:00Z",
    "1900-02-28T00:00:00Z",
    "2000-02-29T00:00:00Z",
  ])("reads %s as protobuf-es does", (text) => {
    const { seconds, nanos } = fromJson(TimestampSchema, text);
    expect(parseTimestamp(text)).toEqual({ seconds: Number(seconds), nanos });
  });

  it.each([
    "",
    "2024-01-01",
    "2024-01-01T00:00:00",
    "2024-01-01 00:00:00Z",
    "2024-01-01t00:00:00z",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00.1234567891Z",
    "2024-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-00-01T00:00:00Z",
    "2024-01-00T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z",
    "2024-01-01T00:00:60Z",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+00:60",
    "2024-01-01T00:00:00+0000",
    "2024-01-01T00:00:00Zx",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "1700000000",
  ])("refuses %j", (text) => expect(parseTimestamp(text)).toBeUndefined());
});

describe("parseDuration", () => {
  // duration.proto and ProtoJSON: seconds with up to nine fractional digits, suffix s, both fields of one sign.
  it.each([
    ["0s", 0, 0],
    ["-0s", 0, 0],
    ["3s", 3, 0],
    ["-1.5s", -1, -500_000_000],
    ["-0.5s", 0, -500_000_000],
    ["0.000000001s", 0, 1],
    ["315576000000s", 315_576_000_000, 0],
    ["-315576000000.999999999s", -315_576_000_000, -999_999_999],
  ])("reads %s", (text, seconds, nanos) => expect(parseDuration(text)).toStrictEqual({ seconds, nanos }));

  it.each([
    "",
    "s",
    "3",
    "3m",
    "1h30m",
    "+3s",
    ".5s",
    "1.s",
    "1.0000000000s",
    "0.0000000001s",
    "315576000001s",
    "1e3s",
    "3S",
    " 3s",
    "3s ",
  ])("refuses %j", (text) => expect(parseDuration(text)).toBeUndefined());
});
