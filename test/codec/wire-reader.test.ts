import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WireReader } from "../../src/codec/wire-reader.ts";

function readerOf(wire: Uint8Array): WireReader {
  return new WireReader(wire, (reason) => new ConnectError(reason, Code.Internal));
}

const tagOf = (number: number, wireType: WireType) => new BinaryWriter().tag(number, wireType).finish();
const group = (number: number, content: Uint8Array) =>
  Uint8Array.of(...tagOf(number, WireType.StartGroup), ...content, ...tagOf(number, WireType.EndGroup));

describe("varints", () => {
  const int64 = fc.oneof(fc.bigInt(-(1n << 63n), (1n << 63n) - 1n), fc.bigInt(-200n, 200n));

  it("are exact in 64 bits, in every reading", () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(readerOf(new BinaryWriter().int64(value).finish()).int64()).toBe(value);
        expect(readerOf(new BinaryWriter().sint64(value).finish()).sint64()).toBe(value);
        const unsigned = BigInt.asUintN(64, value);
        expect(readerOf(new BinaryWriter().uint64(unsigned).finish()).uint64()).toBe(unsigned);
      }),
    );
  });

  it("of 64 bits read as 32 bits and as bool the way protobuf-es does", () => {
    fc.assert(
      fc.property(int64, (value) => {
        const wire = new BinaryWriter().int64(value).finish();
        expect(readerOf(wire).int32()).toBe(new BinaryReader(wire).int32());
        expect(readerOf(wire).uint32()).toBe(new BinaryReader(wire).uint32());
        expect(readerOf(wire).sint32()).toBe(new BinaryReader(wire).sint32());
        expect(readerOf(wire).bool()).toBe(value !== 0n);
      }),
    );
  });

  it("may be padded to ten bytes, not to eleven", () => {
    expect(readerOf(Uint8Array.of(0x85, ...new Array(8).fill(0x80), 0)).uint64()).toBe(5n);
    expect(() => readerOf(Uint8Array.of(0x85, ...new Array(9).fill(0x80), 0)).uint64()).toThrow("longer than 10");
  });

  it("must end before the window does", () => {
    const reader = readerOf(Uint8Array.of(0x80, 0x80, 0x01));
    reader.seek(0, 2);
    expect(() => reader.int32()).toThrow("truncated");
    expect(() => readerOf(new Uint8Array()).int32()).toThrow("truncated");
  });
});

describe("fixed", () => {
  it("read little-endian, from a view in the middle of a buffer too", () => {
    const wire = new BinaryWriter()
      .fixed32(0xffff_fffe)
      .sfixed32(-2)
      .fixed64(0xffff_ffff_ffff_fffen)
      .sfixed64(-2n)
      .float(0.5)
      .double(-0.1)
      .finish();
    const reader = readerOf(Uint8Array.of(9, ...wire).subarray(1));
    expect([
      reader.fixed32(),
      reader.sfixed32(),
      reader.fixed64(),
      reader.sfixed64(),
      reader.float(),
      reader.double(),
    ]).toEqual([0xffff_fffe, -2, 0xffff_ffff_ffff_fffen, -2n, 0.5, -0.1]);
    expect(reader.done).toBe(true);
    expect(() => reader.fixed32()).toThrow("truncated");
  });
});

describe("tag", () => {
  it("has the largest field number", () => {
    const reader = readerOf(tagOf(536_870_911, WireType.Bit32));
    expect(reader.tag()).toBe(536_870_911 * 8 + 5);
  });

  it.each([
    ["field number 0", [0x02], "field number is 0"],
    ["field number 0 in two bytes", [0x80, 0x00], "field number is 0"],
    ["more than 32 bits", [0xff, 0xff, 0xff, 0xff, 0x1f], "tag is out of range"],
    ["more than five bytes", [0x88, 0x80, 0x80, 0x80, 0x80, 0x00], "tag is out of range"],
  ])("refuses %s", (_, bytes, message) => {
    expect(() => readerOf(Uint8Array.from(bytes)).tag()).toThrow(message);
  });
});

describe("skip", () => {
  it.each([
    ["a varint", Uint8Array.of(0x08, 0xff, 0x01), 1, 3],
    ["64 bits", Uint8Array.of(0x09, ...new Array(8).fill(1)), 1, 9],
    ["32 bits", Uint8Array.of(0x0d, 1, 2, 3, 4), 1, 5],
    ["bytes", Uint8Array.of(0x0a, 0x82, 0x00, 7, 7), 3, 5],
    ["no bytes", Uint8Array.of(0x0a, 0), 2, 2],
    ["an empty group", group(1, new Uint8Array()), 1, 1],
    ["a group", group(1, Uint8Array.of(0x10, 5)), 1, 3],
    ["a group in a group", group(1, group(2, Uint8Array.of(0x0a, 1, 9))), 1, 6],
  ])("finds the content of %s", (_, wire, start, end) => {
    const reader = readerOf(wire);
    reader.skip(reader.tag(), 2);
    expect([reader.contentStart, reader.contentEnd]).toEqual([start, end]);
    expect(reader.done).toBe(true);
  });

  it.each([
    ["a length past the end", [0x0a, 2, 1], "truncated"],
    ["a length beyond 32 bits", [0x0a, 0x80, 0x80, 0x80, 0x80, 0x10, 1], "truncated"],
    ["a group without end", [0x0b, 0x10, 5], "truncated"],
    ["a group that ends as another", [0x0b, 0x14], "another's number"],
    ["an end without a group", [0x0c], "did not begin"],
    ["wire type 6", [0x0e, 0], "wire type is 6"],
    ["wire type 7", [0x0f, 0], "wire type is 7"],
    ["wire type 7 in a group", [0x0b, 0x0f, 0x0c], "wire type is 7"],
  ])("refuses %s", (_, bytes, message) => {
    const reader = readerOf(Uint8Array.from(bytes));
    expect(() => reader.skip(reader.tag(), 10)).toThrow(message);
  });

  it("finds a long group again that it passed over inside of another", () => {
    const content = Uint8Array.from(Array.from({ length: 300 }, () => [0x10, 5]).flat());
    const inner = group(3, content);
    const reader = readerOf(group(1, Uint8Array.of(...group(2, inner), ...inner)));
    reader.skip(reader.tag(), 3);
    const ends: number[][] = [];
    for (let level = 0; level < 2; level++) {
      reader.seek(reader.contentStart, reader.contentEnd);
      reader.skip(reader.tag(), 3);
      ends.push([reader.contentStart, reader.contentEnd]);
    }
    expect(ends).toEqual([
      [2, 2 + inner.length],
      [3, 3 + content.length],
    ]);
    const beside = readerOf(group(1, Uint8Array.of(...group(2, inner), ...inner)));
    beside.seek(1, inner.length * 2 + 3);
    beside.skip(beside.tag(), 3);
    beside.skip(beside.tag(), 3);
    expect([beside.contentStart, beside.contentEnd]).toEqual([inner.length + 4, inner.length + 4 + content.length]);
  });

  it("counts the levels of groups, and takes a million of them without recursion", () => {
    let wire: Uint8Array = new Uint8Array();
    for (let i = 0; i < 3; i++) wire = group(1, wire);
    const reader = readerOf(wire);
    reader.skip(reader.tag(), 3);
    expect(reader.done).toBe(true);
    const tooDeep = readerOf(wire);
    expect(() => tooDeep.skip(tooDeep.tag(), 2)).toThrow("depth");
    const million = readerOf(new Uint8Array(2_000_000).fill(0x0b, 0, 1_000_000).fill(0x0c, 1_000_000));
    million.skip(million.tag(), 1_000_000);
    expect(million.done).toBe(true);
  });
});

describe("int32At", () => {
  it("leaves the cursor where it is", () => {
    const reader = readerOf(Uint8Array.of(1, 2, 3));
    reader.int32();
    expect(reader.int32At(2)).toBe(3);
    expect(reader.int32()).toBe(2);
  });
});
