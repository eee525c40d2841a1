/** How many values a field has, and how they stand on the wire. */

export const SINGULAR = 0;
export const LIST = 1;
export const PACKED = 2;
export const MAP = 3;
