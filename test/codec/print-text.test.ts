import fc from "fast-check";
import { expect, it } from "vitest";
import { finish, load, WRONG } from "../../src/codec/print-tape.ts";
import { printBytes, printString } from "../../src/codec/print-text.ts";

/** Undefined where the printer gave up. More bytes stand behind the text, as in a message. */
function printed(text: Uint8Array, behind: number[] = [0xbf, 0xbf, 0xbf]): string | undefined {
  load(Uint8Array.of(...text, ...behind), 1);
  try {
    printString(text.length);
  } catch (error) {
    if (error === WRONG) return undefined;
    throw error;
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(finish());
}

function expected(text: Uint8Array): string | undefined {
  try {
    return JSON.stringify(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text));
  } catch {
    return undefined;
  }
}

it("prints every two bytes as TextDecoder and JSON.stringify do, or gives up where these throw", () => {
  for (let first = 0; first < 256; first++) {
    for (let second = 0; second < 256; second++) {
      for (const text of [Uint8Array.of(first, second), Uint8Array.of(first, second, 0x80)]) {
        if (printed(text) !== expected(text)) expect([...text, printed(text)]).toEqual([...text, expected(text)]);
      }
    }
  }
});

it("prints any text so, whatever its length", () => {
  const edges = fc.constantFrom(
    0,
    0x1f,
    0x20,
    0x22,
    0x5c,
    0x7f,
    0x80,
    0x9f,
    0xa0,
    0xbf,
    0xc2,
    0xe0,
    0xe1,
    0xed,
    0xf0,
    0xf4,
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }).map((text) => new TextEncoder().encode(text)),
    fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => new TextEncoder().encode(text)),
    fc.array(edges, { maxLength: 6 }).map((bytes) => Uint8Array.from(bytes)),
    fc
      .array(fc.oneof({ weight: 6, arbitrary: fc.constant(0x61) }, edges), { maxLength: 30 })
      .map((bytes) => Uint8Array.from(bytes)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(printed(text)).toBe(expected(text));
    }),
    { numRuns: 20_000 },
  );
});

it("prints bytes as base64, as Buffer does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      load(bytes, 1);
      printBytes(bytes.length);
      expect(new TextDecoder().decode(finish())).toBe(`"${Buffer.from(bytes).toString("base64")}"`);
    }),
    { numRuns: 2000 },
  );
});
