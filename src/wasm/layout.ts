/**
 * How a message lies in the memory of the WebAssembly engine, and how the host describes one.
 * Plain constants, which TypeScript and AssemblyScript both read, as they do those of `codec/kind.ts` and `codec/shape.ts`. Offsets and sizes in bytes; addresses and numbers
 * have four, unless said otherwise.
 */

// Flags of fields.
export const HAS_PRESENCE = 1;
/** A list of numbers: its records may hold one value each, or many. */
export const IS_PACKABLE = 2;
/** JSON null is a value of it. */
export const TAKES_NULL = 4;

/** A field. One byte each: */
export const FIELD_KIND = 0;
export const FIELD_SHAPE = 1;
export const FIELD_FLAGS = 2;
/** Wire type of one value. */
export const FIELD_WIRE_TYPE = 3;
/** The tag as it is written, of eight bytes, and how many of them count. */
export const FIELD_TAG = 4;
export const FIELD_TAG_BYTES = 12;
export const FIELD_NUMBER = 16;
/** Place among the fields of the message: its bit among those that were seen. */
export const FIELD_INDEX = 20;
/** The bit of its oneof, behind those of the fields; -1 for none. */
export const FIELD_ONEOF = 24;
/** Of the message inside; 0 until it was needed. */
export const FIELD_MESSAGE = 28;
/** What the field is called when its message is asked for. */
export const FIELD_ID = 32;
export const FIELD_ENUM = 36;
/** Maps: the fields of the entry. Wrappers: `FIELD_VALUE` is what is wrapped. */
export const FIELD_KEY = 40;
export const FIELD_VALUE = 44;
/** How many bytes the length of the last record took: a guess for the next. */
export const FIELD_LENGTH_BYTES = 48;
/** `,"name":`, and its length. */
export const FIELD_JSON_KEY = 52;
export const FIELD_JSON_KEY_BYTES = 56;
export const FIELD_PROTO_KEY = 60;
export const FIELD_PROTO_KEY_BYTES = 64;
export const FIELD_SIZE = 72;

/** A key of JSON: `"name":`, its length, and the field that it means. */
export const NAME_TOKEN = 0;
export const NAME_TOKEN_BYTES = 4;
export const NAME_FIELD = 8;
/** The key that came after this one the last time. */
export const NAME_NEXT = 12;
/** Sixteen bytes each: the first of the token, and ones for those that belong to it. */
export const NAME_HEAD = 16;
export const NAME_MASK = 32;
export const NAME_SIZE = 48;

/** A message: its kind, and its fields in order of their numbers. */
export const MESSAGE_KIND = 0;
export const MESSAGE_FIELDS = 4;
export const MESSAGE_FIELD_COUNT = 8;
/** Bytes of the bits that fields and oneofs need, a multiple of eight. */
export const MESSAGE_SEEN_BYTES = 12;
/** Fields by number, up to before `MESSAGE_NEAR_COUNT`. */
export const MESSAGE_NEAR = 16;
export const MESSAGE_NEAR_COUNT = 20;
/** Hash table of addresses of names; how many, less one. */
export const MESSAGE_SLOTS = 24;
export const MESSAGE_SLOT_MASK = 28;
/** The key that the last object began with. */
export const MESSAGE_START = 32;
/** Whether members are noted, to be put in order. */
export const MESSAGE_NOTES = 36;
export const MESSAGE_SIZE = 48;

/** A value of an enum: `"NAME"`, its length, and the number. */
export const ENUM_VALUE_NAME = 0;
export const ENUM_VALUE_NAME_BYTES = 4;
export const ENUM_VALUE_NUMBER = 8;
export const ENUM_VALUE_SIZE = 12;

/** An enum: its values, the first of those with one number before the others, by number. */
export const ENUM_VALUES = 0;
export const ENUM_VALUE_COUNT = 4;
export const ENUM_IS_CLOSED = 8;
export const ENUM_SLOTS = 12;
export const ENUM_SLOT_MASK = 16;
/** Number of the first value declared. */
export const ENUM_DEFAULT = 20;
/** Values by number, up to before `ENUM_NEAR_COUNT`. */
export const ENUM_NEAR = 24;
export const ENUM_NEAR_COUNT = 28;
export const ENUM_SIZE = 32;

// Descriptions, which `codec/wasm-tables.ts` makes and `tables.ts` reads. A field of a message has so many bytes:
export const DESCRIBED_FIELD = 36;
/** Kind, shape, flags and wire type, one byte each. */
export const DESCRIBED_KINDS = 0;
export const DESCRIBED_NUMBER = 4;
export const DESCRIBED_ONEOF = 8;
/** Of the JSON name, and of the other one, or 0 where both are the same; with `IS_ESCAPED` as they stand in JSON. */
export const DESCRIBED_JSON_NAME_BYTES = 12;
export const DESCRIBED_NAME_BYTES = 16;
export const DESCRIBED_ID = 20;
export const DESCRIBED_ENUM = 24;
/** Which of the fields described are key and value of the map, or in the wrapper; -1 for none. */
export const DESCRIBED_INNER = 28;
export const DESCRIBED_VALUE = 32;
/** A flag of lengths of names. */
export const IS_ESCAPED = 0x40000000;
/** Fields and values with numbers below are found in a list by number. */
export const MAX_NEAR = 256;

// Options of decoding.
export const EMIT_DEFAULTS = 1;
export const USE_PROTO_FIELD_NAME = 2;
export const ENUM_AS_INTEGER = 4;
export const INT64_AS_NUMBER = 8;

/** Zeros behind the input: the longest look ahead. */
export const PADDING = 32;
/** Messages in one another. */
export const MAX_LEVELS = 100;
