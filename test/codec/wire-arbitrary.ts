/** Random wire for a message of protobuf-es: fields in any order, split, repeated, packed or not. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { peerMessage } from "./kitchen.ts";

type Wire = fc.Arbitrary<Uint8Array>;

/** What may stand in a google.protobuf.Any. */
type AnyTypes = readonly DescMessage[];

const anyTypesOfKitchen: AnyTypes = [
  "kitchen.Child",
  "google.protobuf.Duration",
  "google.protobuf.Value",
  "google.protobuf.Empty",
].map(peerMessage);

/**
 * @param depth how many messages may nest. Values are in the ranges that ProtoJSON has a form for.
 * @param anyTypes what may stand in a google.protobuf.Any. Default: some of the schema of kitchen.ts.
 */
export function messageWire(desc: DescMessage, depth: number, anyTypes = anyTypesOfKitchen): Wire {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return timeWire(fc.bigInt(-62_135_596_800n, 253_402_300_799n), nanos);
    case "google.protobuf.Duration":
      return fc.oneof(
        timeWire(fc.bigInt(0n, 315_576_000_000n), nanos),
        timeWire(
          fc.bigInt(-315_576_000_000n, 0n),
          nanos.map((n) => -n),
        ),
      );
    case "google.protobuf.FieldMask":
      return fc.array(fc.stringMatching(/^[a-z]+(_[a-z]+)*(\.[a-z]+)?$/), { maxLength: 3 }).map((paths) => {
        const writer = new BinaryWriter();
        for (const path of paths) writer.tag(1, WireType.LengthDelimited).string(path);
        return writer.finish();
      });
    case "google.protobuf.Any":
      return depth === 0
        ? fc.constant(new Uint8Array())
        : fc.constantFrom(...anyTypes).chain((type) => anyWire(type, depth - 1, anyTypes));
    case "google.protobuf.Value":
      return oneOrMore(desc, depth, anyTypes);
    default: {
      const fields = fieldWires(desc, depth, anyTypes);
      if (fields.length === 0) return fc.constant(new Uint8Array());
      const unknown = keepsUnknown(desc) ? [{ arbitrary: unknownWire, weight: 1 }] : [];
      const known = { arbitrary: fc.oneof(...fields), weight: 16 };
      return fc.array(fc.oneof(known, ...unknown), { maxLength: 12 }).map(concat);
    }
  }
}

/**
 * protobuf-es forgets the unknown fields of what it has no message for, wrappers and Struct; and where a message has both,
 * it forgets either those of no field or the unknown numbers of closed enums.
 */
function keepsUnknown(desc: DescMessage): boolean {
  return !desc.typeName.startsWith("google.protobuf.") && desc.fields.every((field) => !field.enum || field.enum.open);
}

/** A record that belongs to no field: these numbers are reserved, so that none can have them. */
const unknownWire: Wire = fc
  .tuple(
    fc.integer({ min: 19_000, max: 19_003 }),
    fc.constantFrom(WireType.Varint, WireType.Bit64, WireType.LengthDelimited, WireType.Bit32),
  )
  .map(([number, wireType]) => {
    const writer = new BinaryWriter().tag(number, wireType);
    if (wireType === WireType.Varint) return writer.uint32(number).finish();
    if (wireType === WireType.Bit64) return writer.fixed64(number).finish();
    if (wireType === WireType.Bit32) return writer.fixed32(number).finish();
    // Content that would be two records, did anyone look into it.
    const content = new BinaryWriter().tag(1, WireType.Varint).int32(0).tag(2, WireType.Varint).int32(0).finish();
    return writer.bytes(content).finish();
  });

const nanos = fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 100_000_000, 120_000, 999_999_000));

function timeWire(seconds: fc.Arbitrary<bigint>, nanos: fc.Arbitrary<number>): Wire {
  return fc.tuple(seconds, nanos).map(([seconds, nanos]) => {
    const writer = new BinaryWriter();
    return writer.tag(2, WireType.Varint).int32(nanos).tag(1, WireType.Varint).int64(seconds).finish();
  });
}

function anyWire(type: DescMessage, depth: number, anyTypes: AnyTypes): Wire {
  return messageWire(type, depth, anyTypes).map((value) => {
    const writer = new BinaryWriter();
    writer.tag(1, WireType.LengthDelimited).string(`type.googleapis.com/${type.typeName}`);
    return writer.tag(2, WireType.LengthDelimited).bytes(value).finish();
  });
}

function oneOrMore(desc: DescMessage, depth: number, anyTypes: AnyTypes): Wire {
  return fc.array(fc.oneof(...fieldWires(desc, depth, anyTypes)), { minLength: 1, maxLength: 2 }).map(concat);
}

function fieldWires(desc: DescMessage, depth: number, anyTypes: AnyTypes): Wire[] {
  return desc.fields.filter((field) => depth > 0 || !field.message).map((field) => fieldWire(field, depth, anyTypes));
}

function fieldWire(field: DescField, depth: number, anyTypes: AnyTypes): Wire {
  if (field.fieldKind === "map") {
    const key = valueWire(field.mapKey, undefined, 1, depth, anyTypes);
    const value = valueWire(field.scalar, field.message, 2, depth, anyTypes);
    // A Value has no default.
    const minLength = field.message?.typeName === "google.protobuf.Value" ? 2 : 0;
    return fc
      .subarray([key, value], { minLength })
      .chain((parts) => fc.tuple(...parts))
      .map((parts) => record(field.number, concat(parts)));
  }
  const scalar = field.enum ? ScalarType.INT32 : field.scalar;
  const one = valueWire(scalar, field.message, field.number, depth, anyTypes, field);
  if (field.fieldKind !== "list" || scalar === undefined || scalar === ScalarType.STRING || scalar === ScalarType.BYTES)
    return one;
  const packed = fc.array(scalarWire(scalar, field), { maxLength: 4 });
  return fc.oneof(
    one,
    packed.map((items) => record(field.number, concat(items))),
  );
}

/** Tag and value. */
function valueWire(
  scalar: ScalarType | undefined,
  message: DescMessage | undefined,
  number: number,
  depth: number,
  anyTypes: AnyTypes,
  field?: DescField,
): Wire {
  if (message) {
    const group = field !== undefined && "delimitedEncoding" in field && field.delimitedEncoding;
    // Made when drawn: all that may nest in a message is too much to make beforehand.
    const content = fc.constant(message).chain((message) => messageWire(message, depth - 1, anyTypes));
    return content.map((content) =>
      group
        ? concat([tag(number, WireType.StartGroup), content, tag(number, WireType.EndGroup)])
        : record(number, content),
    );
  }
  const type = scalar ?? ScalarType.INT32;
  return scalarWire(type, field).map((value) => concat([tag(number, wireTypeOf(type)), value]));
}

/** The value alone. A Value holds finite numbers only. */
function scalarWire(type: ScalarType, field?: DescField): Wire {
  // JSON holds no other.
  if (field?.enum?.typeName === "google.protobuf.NullValue") return fc.constant(new Uint8Array([0]));
  if (field?.enum) return written(fc.oneof(fc.integer({ min: -2, max: 7 }), fc.integer()), (w, v) => w.int32(v));
  const finite = field?.parent.typeName === "google.protobuf.Value";
  switch (type) {
    case ScalarType.DOUBLE:
      return written(fc.double({ noNaN: finite, noDefaultInfinity: finite }), (w, v) => w.double(v));
    case ScalarType.FLOAT:
      return written(fc.float(), (w, v) => w.float(v));
    case ScalarType.INT64:
      return written(int64, (w, v) => w.int64(v));
    case ScalarType.SINT64:
      return written(int64, (w, v) => w.sint64(v));
    case ScalarType.SFIXED64:
      return written(int64, (w, v) => w.sfixed64(v));
    case ScalarType.UINT64:
      return written(uint64, (w, v) => w.uint64(v));
    case ScalarType.FIXED64:
      return written(uint64, (w, v) => w.fixed64(v));
    case ScalarType.INT32:
      return written(fc.integer(), (w, v) => w.int32(v));
    case ScalarType.SINT32:
      return written(fc.integer(), (w, v) => w.sint32(v));
    case ScalarType.SFIXED32:
      return written(fc.integer(), (w, v) => w.sfixed32(v));
    case ScalarType.UINT32:
      return written(uint32, (w, v) => w.uint32(v));
    case ScalarType.FIXED32:
      return written(uint32, (w, v) => w.fixed32(v));
    case ScalarType.BOOL:
      return written(fc.boolean(), (w, v) => w.bool(v));
    case ScalarType.STRING:
      return written(
        fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("__proto__", "\ufeffa")),
        (w, v) => w.string(v),
      );
    case ScalarType.BYTES:
      return written(fc.uint8Array({ maxLength: 8 }), (w, v) => w.bytes(v));
  }
}

/** Where a double stops to be exact. */
const edge = fc.bigInt(-2n, 2n).map((by) => (1n << 53n) + by);
const int64 = fc.oneof(
  fc.bigInt(-(1n << 63n), (1n << 63n) - 1n),
  fc.bigInt(-3n, 3n),
  edge,
  edge.map((value) => -value),
);
const uint64 = fc.oneof(fc.bigInt(0n, (1n << 64n) - 1n), fc.bigInt(0n, 3n), edge);
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });

function written<T>(values: fc.Arbitrary<T>, write: (writer: BinaryWriter, value: T) => BinaryWriter): Wire {
  return values.map((value) => write(new BinaryWriter(), value).finish());
}

function tag(number: number, wireType: WireType): Uint8Array {
  return new BinaryWriter().tag(number, wireType).finish();
}

function record(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish();
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function wireTypeOf(type: ScalarType): WireType {
  switch (type) {
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    default:
      return WireType.Varint;
  }
}
