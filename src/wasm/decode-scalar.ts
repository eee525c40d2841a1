/** Scalars and enums, from wire to JSON. The caller has reserved for a number; what is longer reserves for itself. */
import {
  printDouble,
  printFloat,
  printSigned,
  printSigned64,
  printUnsigned,
  printUnsigned64,
} from "./decode-number.ts";
import { printBytes, printString } from "./decode-text.ts";
import { next, readEnd, readVarint, setNext } from "./decode-wire.ts";
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
  MESSAGE,
  NULL,
  SFIXED32,
  SFIXED64,
  SINT32,
  SINT64,
  STRING,
  UINT32,
  UINT64,
} from "./kind.ts";
import {
  ENUM_AS_INTEGER,
  ENUM_DEFAULT,
  ENUM_IS_CLOSED,
  ENUM_NEAR,
  ENUM_NEAR_COUNT,
  ENUM_VALUE_COUNT,
  ENUM_VALUE_NAME,
  ENUM_VALUE_NAME_BYTES,
  ENUM_VALUE_NUMBER,
  ENUM_VALUE_SIZE,
  ENUM_VALUES,
  FIELD_ENUM,
  FIELD_KIND,
  INT64_AS_NUMBER,
} from "./layout.ts";
import { at, giveUp, reserve, setAt, writeByte } from "./memory.ts";

let options: u32 = 0;

export function setOptions(flags: u32): void {
  options = flags;
}

/**
 * Reads and prints the value that is next. What lies behind the message's end reads as something or other: who knows
 * the end sees that `next` has passed it.
 *
 * @param limit of length-delimited content.
 * @returns false for zero.
 */
export function printScalar(field: usize, limit: usize): bool {
  switch (<i32>load<u8>(field, FIELD_KIND)) {
    case STRING: {
      const end = readEnd(limit);
      const isSet = end !== next;
      printString(end);
      return isSet;
    }
    case INT32: {
      const value = <i32>readVarint();
      printSigned(value);
      return value !== 0;
    }
    case INT64: {
      const value = readVarint();
      printSigned64(value, isBare());
      return value !== 0;
    }
    case BOOL: {
      const value = readVarint() !== 0;
      printBool(value);
      return value;
    }
    case DOUBLE: {
      const value = load<f64>(next);
      setNext(next + 8);
      printDouble(value);
      return reinterpret<u64>(value) !== 0;
    }
    case ENUM: {
      const value = <i32>readVarint();
      printEnum(load<u32>(field, FIELD_ENUM), value);
      return value !== 0;
    }
    case BYTES: {
      const end = readEnd(limit);
      const isSet = end !== next;
      printBytes(end);
      return isSet;
    }
    default:
      return printRareScalar(field);
  }
}

/** Apart from the others, whose function it would make too large to be inlined. */
function printRareScalar(field: usize): bool {
  switch (<i32>load<u8>(field, FIELD_KIND)) {
    case UINT32: {
      const value = <u32>readVarint();
      printUnsigned(value);
      return value !== 0;
    }
    case UINT64: {
      const value = readVarint();
      printUnsigned64(value, isBare());
      return value !== 0;
    }
    case SINT32: {
      const value = <u32>readVarint();
      printSigned(<i32>((value >> 1) ^ (0 - (value & 1))));
      return value !== 0;
    }
    case SINT64: {
      const value = readVarint();
      printSigned64((value >> 1) ^ (0 - (value & 1)), isBare());
      return value !== 0;
    }
    case FIXED32: {
      const value = readFour();
      printUnsigned(value);
      return value !== 0;
    }
    case SFIXED32: {
      const value = readFour();
      printSigned(<i32>value);
      return value !== 0;
    }
    case FIXED64: {
      const value = readEight();
      printUnsigned64(value, isBare());
      return value !== 0;
    }
    case SFIXED64: {
      const value = readEight();
      printSigned64(value, isBare());
      return value !== 0;
    }
    case FLOAT: {
      const bits = readFour();
      printFloat(reinterpret<f32>(bits));
      return bits !== 0;
    }
    case NULL: {
      const value = <i32>readVarint();
      printNull();
      return value !== 0;
    }
  }
  giveUp();
  return false;
}

// @inline
function isBare(): bool {
  return (options & INT64_AS_NUMBER) !== 0;
}

function readFour(): u32 {
  const value = load<u32>(next);
  setNext(next + 4);
  return value;
}

function readEight(): u64 {
  const value = load<u64>(next);
  setNext(next + 8);
  return value;
}

function printBool(value: bool): void {
  if (value) {
    store<u32>(at, 0x65757274);
    setAt(at + 4);
  } else {
    store<u8>(at, 0x66);
    store<u32>(at, 0x65736c61, 1);
    setAt(at + 5);
  }
}

function printNull(): void {
  store<u32>(at, 0x6c6c756e);
  setAt(at + 4);
}

/** A number without a name stands for itself; of a closed enum it would be an unknown field. */
function printEnum(enumeration: usize, number: i32): void {
  const value =
    <u32>number < load<u32>(enumeration, ENUM_NEAR_COUNT)
      ? <usize>load<u32>(<usize>load<u32>(enumeration, ENUM_NEAR) + ((<usize>number) << 2))
      : farValue(enumeration, number);
  if (value === 0) {
    if (load<u32>(enumeration, ENUM_IS_CLOSED)) giveUp();
    printSigned(number);
    return;
  }
  if ((options & ENUM_AS_INTEGER) !== 0) {
    printSigned(number);
    return;
  }
  const name = <usize>load<u32>(value, ENUM_VALUE_NAME);
  const length = <usize>load<u32>(value, ENUM_VALUE_NAME_BYTES);
  reserve(length);
  v128.store(at, v128.load(name));
  for (let i: usize = 16; i < length; i += 16) v128.store(at + i, v128.load(name + i));
  setAt(at + length);
}

/** The first value declared with the number. */
function farValue(enumeration: usize, number: i32): usize {
  const values = <usize>load<u32>(enumeration, ENUM_VALUES);
  let from: usize = 0;
  let to = <usize>load<u32>(enumeration, ENUM_VALUE_COUNT);
  while (from < to) {
    const middle = (from + to) >> 1;
    if (load<i32>(values + middle * ENUM_VALUE_SIZE, ENUM_VALUE_NUMBER) < number) from = middle + 1;
    else to = middle;
  }
  const value = values + from * ENUM_VALUE_SIZE;
  return from < <usize>load<u32>(enumeration, ENUM_VALUE_COUNT) && load<i32>(value, ENUM_VALUE_NUMBER) === number
    ? value
    : 0;
}

/** What a scalar is when there is no record. */
export function printZero(field: usize): void {
  reserve(0);
  const kind = <i32>load<u8>(field, FIELD_KIND);
  if (kind === STRING || kind === BYTES) {
    store<u16>(at, 0x2222);
    setAt(at + 2);
  } else if (kind === BOOL) {
    printBool(false);
  } else if (kind === ENUM) {
    const enumeration = <usize>load<u32>(field, FIELD_ENUM);
    printEnum(enumeration, load<i32>(enumeration, ENUM_DEFAULT));
  } else if (kind === NULL) {
    printNull();
  } else if (isWide(kind) && !isBare()) {
    printQuotedZero();
  } else if (kind < MESSAGE) {
    writeByte(0x30);
  } else {
    giveUp();
  }
}

/** Integers that stand in quotes anyway. */
export function isWide(kind: i32): bool {
  return kind === INT64 || kind === UINT64 || kind === SINT64 || kind === FIXED64 || kind === SFIXED64;
}

/** In a key no integer is bare. */
export function printKeyNumber(key: usize, end: usize): void {
  const before = options;
  options &= ~INT64_AS_NUMBER;
  printScalar(key, end);
  options = before;
}

export function printQuotedZero(): void {
  store<u32>(at, 0x00223022);
  setAt(at + 3);
}
