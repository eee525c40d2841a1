/** What the byte behind a rule of an image tells. */

export const NESTED = 1;
export const SOURCE = 2;
export const CHECKED = 4;
