/** Which wire protobuf-es reads by the rules. */
import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescMessage,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { wireTypeOf } from "./wire-arbitrary.ts";

const MAX_VARINT = 10;

/**
 * Whether every known field has its own wire type, no varint or length is too long, no value reaches past its message, an Any with bytes has a type, and lists
 * and maps of a closed enum have none but its numbers: protobuf-es looks at none of this, so there is nothing to compare
 * with where this is false. A NullValue must be zero, because JSON holds no other.
 */
export function isOrderly(desc: DescMessage, wire: Uint8Array, registry: Registry): boolean {
  const reader = new BinaryReader(wire);
  try {
    if (desc.typeName === "google.protobuf.Any" && !isOrderlyAny(wire, registry)) return false;
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const value = reader.skip(wireType, number);
      const field = desc.fields.find((field) => field.number === number) ?? registry.getExtensionFor(desc, number);
      if (wireType === WireType.Varint && value.length > MAX_VARINT) return false;
      if (wireType === WireType.LengthDelimited && isHugeLength(value)) return false;
      if (field && !isOrderlyField(field, wireType, value, registry)) return false;
      if (!field && wireType === WireType.StartGroup && !isOrderly(EmptySchema, inside(number, value), registry)) {
        return false;
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** Of a length the peer takes the lower 32 bits. */
function isHugeLength(value: Uint8Array): boolean {
  return BigInt(new BinaryReader(value).uint64()) > 0xffff_ffffn;
}

/** Of several records the last one counts. */
function isOrderlyAny(wire: Uint8Array, registry: Registry): boolean {
  const reader = new BinaryReader(wire);
  let type: DescMessage | undefined;
  let content: Uint8Array = new Uint8Array();
  let hasType = false;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const value = reader.skip(wireType, number);
    if (wireType !== WireType.LengthDelimited) continue;
    if (isHugeLength(value)) return false;
    if (number === 1) hasType = new BinaryReader(value).string() !== "";
    if (number === 1) type = registry.getMessage(new BinaryReader(value).string().replace(/^.*\//, ""));
    if (number === 2) content = new BinaryReader(value).bytes();
  }
  // Bytes of no type have no JSON, says Go's protojson; to the peer they are the empty Any.
  if (!hasType && content.length > 0) return false;
  return type === undefined || isOrderly(type, content, registry);
}

function isOrderlyField(
  field: DescField | DescExtension,
  wireType: WireType,
  value: Uint8Array,
  registry: Registry,
): boolean {
  const content = wireType === WireType.LengthDelimited ? new BinaryReader(value).bytes() : value;
  if (field.fieldKind === "map") {
    return wireType === WireType.LengthDelimited && isOrderlyEntry(field, content, registry);
  }
  if (field.message) {
    const group = field.delimitedEncoding;
    if (wireType !== (group ? WireType.StartGroup : WireType.LengthDelimited)) return false;
    return isOrderly(field.message, group ? inside(field.number, value) : content, registry);
  }
  const own = wireTypeOf(field.enum ? ScalarType.INT32 : (field.scalar as ScalarType));
  const isList = field.fieldKind === "list";
  if (wireType !== own && !(isList && wireType === WireType.LengthDelimited)) return false;
  if (field.enum && (isList || field.enum.open)) return hasKnownNumbers(field.enum, content);
  return wireType === own || isOrderlyPacked(own, content);
}

/** @param value of a group: what follows the tag of its start, with the tag of its end. */
function inside(number: number, value: Uint8Array): Uint8Array {
  const tag = new BinaryWriter().tag(number, WireType.EndGroup).finish();
  return value.subarray(0, -tag.length);
}

function hasKnownNumbers(type: DescEnum, content: Uint8Array): boolean {
  const isNull = type.typeName === "google.protobuf.NullValue";
  const reader = new BinaryReader(content);
  while (reader.pos < reader.len) {
    const number = reader.int32();
    if (isNull ? number !== 0 : !type.open && type.value[number] === undefined) return false;
  }
  return true;
}

function isOrderlyEntry(field: DescField & { fieldKind: "map" }, content: Uint8Array, registry: Registry): boolean {
  const reader = new BinaryReader(content);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const value = reader.skip(wireType, number);
    if (wireType === WireType.LengthDelimited && isHugeLength(value)) return false;
    if (number === 1 && wireType !== wireTypeOf(field.mapKey)) return false;
    if (number !== 2) continue;
    if (wireType !== (field.message ? WireType.LengthDelimited : wireTypeOf(field.scalar ?? ScalarType.INT32)))
      return false;
    if (field.enum && !hasKnownNumbers(field.enum, value)) return false;
    if (field.message && !isOrderly(field.message, new BinaryReader(value).bytes(), registry)) return false;
  }
  return true;
}

function isOrderlyPacked(wireType: WireType, content: Uint8Array): boolean {
  const reader = new BinaryReader(content);
  while (reader.pos < reader.len) reader.skip(wireType);
  return true;
}
