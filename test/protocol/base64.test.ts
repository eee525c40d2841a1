import { expect, test } from "vitest";
import { isBase64, parseBase64, unpaddedBase64, urlBase64 } from "../../src/protocol/base64.ts";

// RFC 4648 §4 and §5; padding may be left out, as Connect and gRPC have it.
test.each<[string, number[] | undefined]>([
  ["", []],
  ["AQ", [1]],
  ["AQ==", [1]],
  ["+/8", [0xfb, 0xff]],
  ["-_8=", [0xfb, 0xff]],
  ["A", undefined],
  ["AQ=", undefined],
  ["AQ===", undefined],
  ["A=Q=", undefined],
  ["=", undefined],
  ["==", undefined],
  ["AQ*", undefined],
  ["A Q=", undefined],
  ["AQ\n", undefined],
  [" AQ", undefined],
])("%j", (text, bytes) => {
  const read = parseBase64(text);
  expect(read && [...read]).toEqual(bytes);
  expect(isBase64(text)).toBe(bytes !== undefined);
});

test("what is written is what Buffer writes", () => {
  for (const length of [0, 1, 2, 3, 4, 255]) {
    const bytes = Uint8Array.from({ length }, (_, i) => 255 - i);
    expect(urlBase64(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
    expect(unpaddedBase64(bytes)).toBe(Buffer.from(bytes).toString("base64").replaceAll("=", ""));
  }
});
