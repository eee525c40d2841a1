/** Base64 (RFC 4648 §4 and §5). */
import { lenientUtf8, utf8 } from "./utf8.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const letters = utf8.encode(alphabet);
const PADDING = 0x3d;
const INVALID = 0xff;

/** The six bits of each ASCII character, in both alphabets. */
const sextets = new Uint8Array(128).fill(INVALID);
for (const [value, letter] of letters.entries()) sextets[letter] = value;
sextets["-".charCodeAt(0)] = 62;
sextets["_".charCodeAt(0)] = 63;

/**
 * Standard or URL-safe alphabet, padded or not.
 *
 * @returns undefined for another character, an impossible length, or padding that does not fill the last four.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const length = unpaddedLength(text);
  if (length % 4 === 1 || (length < text.length && text.length % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let at = 0;
  let bits = 0;
  let pending = 0;
  for (let i = 0; i < length; i++) {
    const sextet = sextets[text.charCodeAt(i)] ?? INVALID;
    if (sextet === INVALID) return undefined;
    bits = ((bits << 6) | sextet) & 0xffff;
    pending += 6;
    if (pending >= 8) {
      pending -= 8;
      bytes[at++] = bits >> pending;
    }
  }
  return bytes;
}

/** Standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const bits = (a << 16) | (b << 8) | c;
    // n bytes are n + 1 characters; the rest of the four stays padding.
    const characters = Math.min(bytes.length - i, 3) + 1;
    for (let n = 0; n < characters; n++) text[at + n] = letters[(bits >> (18 - 6 * n)) & 0x3f] as number;
    at += 4;
  }
  return lenientUtf8.decode(text);
}

function unpaddedLength(text: string): number {
  let length = text.length;
  while (length > 0 && text.length - length < 2 && text.charCodeAt(length - 1) === PADDING) length--;
  return length;
}
