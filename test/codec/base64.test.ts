import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, encodeBase64 } from "../../src/codec/base64.ts";

describe("encodeBase64", () => {
  it("writes what protobuf-es writes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(encodeBase64(bytes)).toBe(base64Encode(bytes));
      }),
    );
  });

  // RFC 4648 §10
  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("writes the RFC's %j", (text, base64) => {
    const bytes = new TextEncoder().encode(text);
    expect(encodeBase64(bytes)).toBe(base64);
    expect(decodeBase64(base64)).toEqual(bytes);
  });
});

describe("decodeBase64", () => {
  it("reads both alphabets, padded or not", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        for (const form of ["std", "std_raw", "url"] as const) {
          const text = base64Encode(bytes, form);
          expect(decodeBase64(text)).toEqual(bytes);
          expect(base64Decode(text)).toEqual(bytes);
        }
        expect(decodeBase64(base64Encode(bytes).replaceAll("+", "-").replaceAll("/", "_"))).toEqual(bytes);
      }),
    );
  });

  it.each([
    "a",
    "aGkxA",
    "a*b=",
    "aG k",
    "aGk==",
    "aG=",
    "aGkx=",
    "aGkx==",
    "=",
    "====",
    "a===",
    "aGk=aGk=",
    "aGké",
    "\0AAA",
  ])("refuses %j", (text) => expect(decodeBase64(text)).toBeUndefined());
});
