/** What stands beside the type of a field in an image. */

export const REPEATED = 1 << 5;
export const PACKED = 1 << 6;
export const PRESENCE = 1 << 7;
export const REQUIRED = 1 << 8;
export const UTF8 = 1 << 9;
export const ONEOF = 1 << 10;
/** It differs from the name. */
export const JSON_NAME = 1 << 11;
export const MAP = 1 << 12;
export const DEFAULT = 1 << 13;
