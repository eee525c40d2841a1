/** Base64 in headers, Connect's errors and Connect GET (RFC 4648 §4 and §5). */

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** True for either alphabet, padded or not, of a length that bytes can have; false for anything else, white space too. */
export function isBase64(text: string): boolean {
  return BASE64.test(text) && text.length % 4 !== 1 && (!text.endsWith("=") || text.length % 4 === 0);
}

/** @returns undefined for what `isBase64` refuses. */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  // atob alone would skip white space.
  if (!isBase64(text)) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** In the standard alphabet, padded. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** In the standard alphabet. */
export function unpaddedBase64(bytes: Uint8Array): string {
  return base64(bytes).replace(/={1,2}$/, "");
}

/** URL-safe and unpadded, as the `message` parameter of Connect GET wants it. */
export function urlBase64(bytes: Uint8Array): string {
  return unpaddedBase64(bytes).replaceAll("+", "-").replaceAll("/", "_");
}
