/** Wire types (protobuf encoding, "Message Structure"). */

export const VARINT = 0;
export const I64 = 1;
export const LEN = 2;
export const SGROUP = 3;
export const EGROUP = 4;
export const I32 = 5;

export type Value = typeof VARINT | typeof I64 | typeof LEN | typeof SGROUP | typeof EGROUP | typeof I32;
