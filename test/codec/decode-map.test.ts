import { WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { decodeText } from "./kitchen.ts";
import { bytes, concat, len, text, varint, wire } from "./wire.ts";

const kitchen = (...parts: Uint8Array[]) => decodeText("kitchen.Kitchen", concat(...parts));

describe("maps", () => {
  it("write keys of every type as strings", () => {
    expect(
      kitchen(
        len(41, text(1, "a"), text(2, "b")),
        len(42, varint(1, -1), len(2, bytes(1))),
        len(
          43,
          varint(1, 1),
          wire((w) => w.tag(2, WireType.Bit64).double(0.5)),
        ),
        len(
          45,
          wire((w) => w.tag(1, WireType.Varint).sint64(-3n)),
          varint(2, 1),
        ),
        len(
          46,
          wire((w) => w.tag(1, WireType.Bit64).fixed64(18446744073709551615n)),
          len(2, varint(1, 1)),
        ),
      ),
    ).toBe(
      '{"mString":{"a":"b"},"mInt32":{"-1":"AQ=="},"mBool":{"true":0.5},"mGenre":{"-3":"NOVEL"},' +
        '"mSpan":{"18446744073709551615":"1s"}}',
    );
  });

  it("have the default where key or value is missing", () => {
    expect(kitchen(len(41), len(42, varint(1, 7)), len(44), len(45, varint(2, 1)), len(46), len(47))).toBe(
      '{"mString":{"":""},"mInt32":{"7":""},"mChild":{"":{}},"mGenre":{"0":"NOVEL"},"mSpan":{"0":"0s"},"mWrapped":{"0":"0"}}',
    );
  });

  it("keep the last entry of a key, in one member", () => {
    const child = (name: string) => len(44, text(1, "k"), len(2, text(1, name)));
    expect(kitchen(child("a"), child("b"), len(44, text(1, "k"), len(2, varint(2, 1))))).toBe(
      '{"mChild":{"k":{"count":1}}}',
    );
  });

  it("read value before key, and merge a value that came in parts", () => {
    expect(kitchen(len(44, len(2, text(1, "a")), text(1, "k"), len(2, varint(2, 3))))).toBe(
      '{"mChild":{"k":{"text":"a","count":3}}}',
    );
  });

  it("have keys that objects have for themselves", () => {
    expect(kitchen(...["__proto__", "toString", "constructor"].map((key) => len(41, text(1, key), text(2, "v"))))).toBe(
      '{"mString":{"__proto__":"v","toString":"v","constructor":"v"}}',
    );
  });

  it("leave out entries whose value is an unknown number of a closed enum", () => {
    const entries = (...parts: Uint8Array[]) => decodeText("kitchen.ClosedLists", concat(...parts));
    const entry = (key: string, ...values: number[]) =>
      len(2, text(1, key), ...values.map((value) => varint(2, value)));
    expect(entries(entry("a", 5), entry("a", 99), entry("b", 99), entry("c"))).toBe(
      '{"entries":{"a":"FIVE","c":"FIVE"}}',
    );
    expect(entries(entry("b", 99))).toBe("{}");
  });
});
