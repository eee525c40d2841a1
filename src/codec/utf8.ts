/** UTF-8: an encoder, decoders, and what is looked at byte by byte. */

export const utf8 = new TextEncoder();

/** Throws for what is no UTF-8; a byte order mark is a character. */
export const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Puts U+FFFD in the place of what is no UTF-8. */
export const lenientUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Where the multi-byte character at bytes[at] ends (Unicode §3.9, table 3-7: no overlong form, no surrogate, nothing
 * over U+10FFFF).
 *
 * @param at of a byte of 0x80 or more.
 * @returns undefined when there is no whole character before `end`.
 */
export function sequenceEnd(bytes: Uint8Array, at: number, end: number): number | undefined {
  const first = bytes[at] as number;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > end) return undefined;
  const second = bytes[at + 1] as number;
  // Four first bytes narrow the range of the second.
  const min = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const max = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < min || second > max) return undefined;
  for (let i = at + 2; i < at + length; i++) {
    if (((bytes[i] as number) & 0xc0) !== 0x80) return undefined;
  }
  return at + length;
}
