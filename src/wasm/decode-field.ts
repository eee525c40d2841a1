/** Fields by the tags of their records. */
import {
  FIELD_FLAGS,
  FIELD_NUMBER,
  FIELD_ONEOF,
  FIELD_SIZE,
  FIELD_WIRE_TYPE,
  IS_PACKABLE,
  MESSAGE_FIELD_COUNT,
  MESSAGE_FIELDS,
  MESSAGE_NEAR,
  MESSAGE_NEAR_COUNT,
} from "./layout.ts";

/** @returns 0 when the tag is of no field, or of another wire type than it. */
// @inline
export function fieldOf(message: usize, tag: u32): usize {
  const number = tag >> 3;
  const field =
    number < load<u32>(message, MESSAGE_NEAR_COUNT)
      ? <usize>load<u32>(<usize>load<u32>(message, MESSAGE_NEAR) + ((<usize>number) << 2))
      : farField(message, number);
  if (field === 0) return 0;
  const wireType = tag & 7;
  if (wireType === <u32>load<u8>(field, FIELD_WIRE_TYPE)) return field;
  return wireType === 2 && (load<u8>(field, FIELD_FLAGS) & IS_PACKABLE) !== 0 ? field : 0;
}

function farField(message: usize, number: u32): usize {
  const fields = <usize>load<u32>(message, MESSAGE_FIELDS);
  let from: usize = 0;
  let to = <usize>load<u32>(message, MESSAGE_FIELD_COUNT);
  while (from < to) {
    const middle = (from + to) >> 1;
    const field = fields + middle * FIELD_SIZE;
    const found = load<u32>(field, FIELD_NUMBER);
    if (found === number) return field;
    if (found < number) from = middle + 1;
    else to = middle;
  }
  return 0;
}

// @inline
export function oneofBit(message: usize, field: usize): u64 {
  const oneof = load<i32>(field, FIELD_ONEOF);
  return oneof < 0 ? 0 : (<u64>1) << (<u64>(oneof - load<i32>(message, MESSAGE_FIELD_COUNT)));
}
