import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as WireType from "../../src/codec/wire-type.ts";
import { WireWriter } from "../../src/codec/wire-writer.ts";

function written(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter();
  write(writer);
  return writer.finish();
}

describe("WireWriter writes what protobuf-es writes:", () => {
  it("tags", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 536_870_911 }), (number) => {
        expect(written((writer) => writer.tag(number, WireType.I32))).toEqual(
          new BinaryWriter().tag(number, WireType.I32).finish(),
        );
      }),
    );
  });

  it("varints", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), fc.bigInt(0n, (1n << 64n) - 1n), (small, large) => {
        expect(written((writer) => writer.varint(small))).toEqual(new BinaryWriter().uint32(small).finish());
        expect(written((writer) => writer.varint64(large))).toEqual(new BinaryWriter().uint64(large).finish());
        const signed = BigInt.asIntN(64, large);
        expect(written((writer) => writer.varint64(signed))).toEqual(new BinaryWriter().int64(signed).finish());
      }),
    );
  });

  it("fixed numbers and floats", () => {
    fc.assert(
      fc.property(fc.integer(), fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), fc.double(), (a, b, c) => {
        expect(written((writer) => writer.fixed32(a))).toEqual(new BinaryWriter().sfixed32(a).finish());
        expect(written((writer) => writer.fixed64(b))).toEqual(new BinaryWriter().sfixed64(b).finish());
        expect(written((writer) => writer.double(c))).toEqual(new BinaryWriter().double(c).finish());
        const float = Math.fround(c);
        expect(written((writer) => writer.float(float))).toEqual(new BinaryWriter().float(float).finish());
      }),
    );
  });

  it("text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(written((writer) => writer.string(text))).toEqual(new BinaryWriter().string(text).finish());
      }),
    );
  });

  it.each([0, 1, 127, 128, 255, 256, 16_383, 16_384, 2_097_151, 2_097_152])("content of %i bytes", (size) => {
    const content = new Uint8Array(size).map((_, i) => i % 251);
    const bytes = written((writer) => {
      writer.tag(1, WireType.LEN);
      const start = writer.begin();
      writer.raw(content);
      writer.end(start);
      writer.tag(2, WireType.VARINT);
      writer.varint(1);
    });
    const reader = new BinaryReader(bytes);
    expect(reader.tag()).toEqual([1, WireType.LEN]);
    // Two megabytes are too many for a deep comparison.
    expect(Buffer.compare(reader.bytes(), content)).toBe(0);
    expect(reader.tag()).toEqual([2, WireType.VARINT]);
    expect(reader.uint32()).toBe(1);
    expect(reader.pos).toBe(bytes.length);
  });
});

describe("WireWriter", () => {
  it("nests content", () => {
    const inner = new Uint8Array(200).fill(7);
    const bytes = written((writer) => {
      const outer = writer.begin();
      const start = writer.begin();
      writer.raw(inner);
      writer.end(start);
      writer.end(outer);
    });
    expect(new BinaryReader(new BinaryReader(bytes).bytes()).bytes()).toEqual(inner);
  });

  it("keeps short content wherever its buffer ends", () => {
    for (let before = 0; before < 600; before++) {
      const bytes = written((writer) => {
        writer.raw(new Uint8Array(before));
        const start = writer.begin();
        writer.raw(Uint8Array.of(7, 8));
        writer.end(start);
      });
      expect(bytes.subarray(before)).toEqual(Uint8Array.of(2, 7, 8));
    }
  });

  it("forgets what is truncated", () => {
    const bytes = written((writer) => {
      writer.varint(1);
      const mark = writer.length;
      writer.string("gone");
      expect(writer.since(mark)).toHaveLength(5);
      writer.truncate(mark);
      writer.varint(2);
    });
    expect(bytes).toEqual(Uint8Array.of(1, 2));
  });

  it("knows zero scalars", () => {
    const isZero = (write: (writer: WireWriter) => void) => {
      const writer = new WireWriter();
      writer.varint(9);
      const mark = writer.length;
      write(writer);
      return writer.isZeroSince(mark);
    };
    expect(isZero((writer) => writer.varint(0))).toBe(true);
    expect(isZero((writer) => writer.double(0))).toBe(true);
    expect(isZero((writer) => writer.string(""))).toBe(true);
    expect(isZero((writer) => writer.string("\0"))).toBe(false);
    expect(isZero((writer) => writer.double(-0))).toBe(false);
    expect(isZero((writer) => writer.varint64(-1n))).toBe(false);
  });
});
