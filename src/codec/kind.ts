/**
 * What a value is, for switches that are jumps. Constants of a module: a bundler puts the numbers in their place.
 */

export const STRING = 0;
export const BYTES = 1;
export const BOOL = 2;
export const INT32 = 3;
export const INT64 = 4;
export const UINT32 = 5;
export const UINT64 = 6;
export const SINT32 = 7;
export const SINT64 = 8;
export const FIXED32 = 9;
export const FIXED64 = 10;
export const SFIXED32 = 11;
export const SFIXED64 = 12;
export const FLOAT = 13;
export const DOUBLE = 14;
export const ENUM = 15;
/** google.protobuf.NullValue. */
export const NULL = 16;
/** An object of its fields; from here on: messages. */
export const MESSAGE = 17;
export const GROUP = 18;
export const WRAPPER = 19;
export const TIMESTAMP = 20;
export const DURATION = 21;
export const STRUCT = 22;
export const VALUE = 23;
export const LIST_VALUE = 24;
export const FIELD_MASK = 25;
export const ANY = 26;
/** What the fast ways leave alone. */
export const OTHER = 27;
