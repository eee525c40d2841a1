import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sequenceEnd } from "../../src/codec/utf8.ts";

/** Whether sequenceEnd takes the bytes for text. */
function isUtf8(bytes: Uint8Array): boolean {
  let at: number | undefined = 0;
  while (at !== undefined && at < bytes.length) {
    at = (bytes[at] as number) < 0x80 ? at + 1 : sequenceEnd(bytes, at, bytes.length);
  }
  return at !== undefined;
}

/** Whether the platform does (WHATWG Encoding). */
function decodes(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

describe("sequenceEnd", () => {
  it("agrees with TextDecoder on every pair of bytes, with nothing, a continuation or two behind", () => {
    for (let first = 0x80; first < 0x100; first++) {
      for (let second = 0; second < 0x100; second++) {
        for (const tail of [[], [0x80], [0x80, 0xbf], [0x80, 0x41], [0xc0, 0x80]]) {
          const bytes = Uint8Array.of(first, second, ...tail);
          if (isUtf8(bytes) !== decodes(bytes)) expect.fail(`differs for ${bytes.toHex()}`);
        }
      }
    }
  });

  it("agrees on any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(isUtf8(new TextEncoder().encode(text))).toBe(true);
      }),
    );
  });

  it("does not look past the end it was given", () => {
    expect(sequenceEnd(new TextEncoder().encode("€"), 0, 2)).toBeUndefined();
    expect(sequenceEnd(new TextEncoder().encode("€"), 0, 3)).toBe(3);
  });
});
