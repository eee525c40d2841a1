/** How the default of a field stands in an image. */

export const NUMBER = 0;
export const INT64 = 1;
export const UINT64 = 2;
export const BOOLEAN = 3;
export const STRING = 4;
export const BYTES = 5;
