/** Scalars and enums, from wire to JSON. The caller has reserved `NUMBER_BYTES`; longer texts reserve for themselves. */

import * as Kind from "./kind.ts";
import { printDouble, printFloat32 } from "./print-float.ts";
import { printAscii, printByte, printInt32, printInt64, printNatural, printUint64 } from "./print-number.ts";
import type { EnumNames, Shape } from "./print-plan.ts";
import { halves, readEnd, readInt32, readVarint, refuse, reserve, tape } from "./print-tape.ts";
import { printBytes, printString } from "./print-text.ts";

const QUOTE = 0x22;
/** `true` and `alse` as little-endian words. */
const TRUE = 0x65757274;
const ALSE = 0x65736c61;
const F = 0x66;

/**
 * Reads and prints the value that is next. What lies behind the message's end reads as something or other: who knows
 * the end sees that the cursor has passed it.
 *
 * @param limit of length-delimited content.
 * @returns false for zero.
 */
export function printScalar(shape: Shape, limit: number): boolean {
  switch (shape.kind) {
    case Kind.STRING: {
      const end = readEnd(limit);
      const set = end !== tape.at;
      printString(end);
      return set;
    }
    case Kind.INT32: {
      const value = readInt32();
      printInt32(value);
      return value !== 0;
    }
    case Kind.INT64:
      readVarint();
      printInt64(shape.bare);
      return isSet();
    case Kind.BOOL:
      readVarint();
      printBool(isSet());
      return isSet();
    case Kind.DOUBLE:
      return printDouble();
    case Kind.ENUM: {
      const value = readInt32();
      printEnum(shape.names as EnumNames, value);
      return value !== 0;
    }
    case Kind.UINT64:
      readVarint();
      printUint64(shape.bare);
      return isSet();
    case Kind.UINT32: {
      const value = readInt32() >>> 0;
      printNatural(value);
      return value !== 0;
    }
    case Kind.BYTES: {
      const end = readEnd(limit);
      const set = end !== tape.at;
      printBytes(end);
      return set;
    }
    case Kind.FLOAT:
      return printFloat32();
    default:
      return printRareScalar(shape);
  }
}

/** Apart from the others, whose function it would make too large to be inlined. */
function printRareScalar(shape: Shape): boolean {
  switch (shape.kind) {
    case Kind.SINT32: {
      const value = readInt32();
      printInt32((value >>> 1) ^ -(value & 1));
      return value !== 0;
    }
    case Kind.SINT64: {
      readVarint();
      const [low = 0, high = 0] = halves;
      const sign = -(low & 1);
      halves[0] = ((low >>> 1) | (high << 31)) ^ sign;
      halves[1] = (high >>> 1) ^ sign;
      printInt64(shape.bare);
      return isSet();
    }
    case Kind.FIXED32: {
      const value = readFixed32() >>> 0;
      printNatural(value);
      return value !== 0;
    }
    case Kind.SFIXED32: {
      const value = readFixed32();
      printInt32(value);
      return value !== 0;
    }
    case Kind.FIXED64:
      readFixed64();
      printUint64(shape.bare);
      return isSet();
    case Kind.SFIXED64:
      readFixed64();
      printInt64(shape.bare);
      return isSet();
    case Kind.NULL: {
      const value = readInt32();
      printAscii("null");
      return value !== 0;
    }
    default:
      return refuse();
  }
}

/** A map's key: a string, whatever it is on the wire. */
export function printKeyScalar(shape: Shape, limit: number): void {
  switch (shape.kind) {
    case Kind.STRING:
    case Kind.INT64:
    case Kind.UINT64:
    case Kind.SINT64:
    case Kind.FIXED64:
    case Kind.SFIXED64:
      printScalar(shape, limit);
      break;
    default:
      printByte(QUOTE);
      printScalar(shape, limit);
      printByte(QUOTE);
  }
}

/** JSON as it is. */
export function printRaw(bytes: Uint8Array): void {
  reserve(bytes.length);
  const { json } = tape;
  const at = tape.length;
  for (let i = 0; i < bytes.length; i++) json[at + i] = bytes[i] as number;
  tape.length = at + bytes.length;
}

function isSet(): boolean {
  return ((halves[0] as number) | (halves[1] as number)) !== 0;
}

function readFixed32(): number {
  const value = tape.wireView.getInt32(tape.at, true);
  tape.at += 4;
  return value;
}

function readFixed64(): void {
  halves[0] = tape.wireView.getInt32(tape.at, true);
  halves[1] = tape.wireView.getInt32(tape.at + 4, true);
  tape.at += 8;
}

function printBool(value: boolean): void {
  const { json, jsonView, length } = tape;
  if (value) {
    jsonView.setInt32(length, TRUE, true);
    tape.length = length + 4;
  } else {
    json[length] = F;
    jsonView.setInt32(length + 1, ALSE, true);
    tape.length = length + 5;
  }
}

/** A number without a name stands for itself; of a closed enum it would be an unknown field. */
function printEnum(names: EnumNames, value: number): void {
  const { near } = names;
  const name = value >= 0 && value < near.length ? near[value] : names.far.get(value);
  if (name !== undefined) printRaw(name);
  else if (names.closed) refuse();
  else printInt32(value);
  reserve(8);
}
