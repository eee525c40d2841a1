/** Field types, numbered as in google.protobuf.FieldDescriptorProto.Type. Constants of a module, which a bundler puts in their place. */

export const DOUBLE = 1;
export const FLOAT = 2;
export const INT64 = 3;
export const UINT64 = 4;
export const INT32 = 5;
export const FIXED64 = 6;
export const FIXED32 = 7;
export const BOOL = 8;
export const STRING = 9;
export const GROUP = 10;
export const MESSAGE = 11;
export const BYTES = 12;
export const UINT32 = 13;
export const ENUM = 14;
export const SFIXED32 = 15;
export const SFIXED64 = 16;
export const SINT32 = 17;
export const SINT64 = 18;

export type Value =
  | typeof DOUBLE
  | typeof FLOAT
  | typeof INT64
  | typeof UINT64
  | typeof INT32
  | typeof FIXED64
  | typeof FIXED32
  | typeof BOOL
  | typeof STRING
  | typeof GROUP
  | typeof MESSAGE
  | typeof BYTES
  | typeof UINT32
  | typeof ENUM
  | typeof SFIXED32
  | typeof SFIXED64
  | typeof SINT32
  | typeof SINT64;
