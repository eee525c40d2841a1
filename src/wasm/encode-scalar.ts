/** Scalars and enums, from JSON to wire. The caller has reserved for a number; what is longer reserves for itself. */
import { endOfName, findEnumValue } from "./encode-name.ts";
import {
  double,
  magnitude,
  readQuotableDouble,
  readSigned32,
  readSigned64,
  readUnsigned32,
  readUnsigned64,
} from "./encode-number.ts";
import { writeBase64, writeString } from "./encode-text.ts";
import { writeBoolean } from "./encode-value.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  ENUM,
  FIXED32,
  FIXED64,
  FLOAT,
  INT32,
  INT64,
  SFIXED32,
  SFIXED64,
  SINT32,
  SINT64,
  STRING,
  UINT32,
  UINT64,
} from "./kind.ts";
import { ENUM_IS_CLOSED, ENUM_VALUE_NUMBER, FIELD_ENUM } from "./layout.ts";
import { at, giveUp, setAt, writeVarint } from "./memory.ts";

/** What stands behind the tag of a record: one value of this kind, zero or not. @returns where it ends. */
export function writeScalar(kind: i32, field: usize, p: usize): usize {
  switch (kind) {
    case STRING:
      return writeString(p);
    case BYTES:
      return writeBase64(p);
    case BOOL:
      return writeBoolean(p);
    case INT32:
      p = readSigned32(p);
      writeVarint(magnitude);
      return p;
    case INT64:
      p = readSigned64(p);
      writeVarint(magnitude);
      return p;
    case UINT32:
      p = readUnsigned32(p);
      writeVarint(magnitude);
      return p;
    case UINT64:
      p = readUnsigned64(p);
      writeVarint(magnitude);
      return p;
    case SINT32:
      p = readSigned32(p);
      writeVarint((magnitude << 1) ^ (<i64>magnitude >> 63));
      return p;
    case SINT64:
      p = readSigned64(p);
      writeVarint((magnitude << 1) ^ (<i64>magnitude >> 63));
      return p;
    case FIXED32:
      return writeFour(readUnsigned32(p));
    case FIXED64:
      return writeEight(readUnsigned64(p));
    case SFIXED32:
      return writeFour(readSigned32(p));
    case SFIXED64:
      return writeEight(readSigned64(p));
    case FLOAT: {
      p = readQuotableDouble(p);
      const value = <f32>double;
      if (!isFinite(value) && isFinite(double)) giveUp();
      store<f32>(at, value);
      setAt(at + 4);
      return p;
    }
    case DOUBLE:
      p = readQuotableDouble(p);
      store<f64>(at, double);
      setAt(at + 8);
      return p;
    case ENUM:
      return writeEnum(load<u32>(field, FIELD_ENUM), p);
  }
  return giveUp();
}

function writeFour(p: usize): usize {
  store<u32>(at, <u32>magnitude);
  setAt(at + 4);
  return p;
}

function writeEight(p: usize): usize {
  store<u64>(at, magnitude);
  setAt(at + 8);
  return p;
}

/** By name or, when it is open, by number. */
function writeEnum(enumeration: usize, p: usize): usize {
  if (load<u8>(p) !== 0x22) {
    if (load<u32>(enumeration, ENUM_IS_CLOSED)) giveUp();
    p = readSigned32(p);
    writeVarint(magnitude);
    return p;
  }
  const end = endOfName(p);
  const value = findEnumValue(enumeration, p, end);
  if (value === 0) giveUp();
  writeVarint(<i64>load<i32>(value, ENUM_VALUE_NUMBER));
  return end;
}
