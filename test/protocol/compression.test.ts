import { brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { chooseEncoding, compress, isIdentity, isKnownEncoding, readDecoded } from "../../src/protocol/compression.ts";

const TEXT = "Isthmus ".repeat(1_000);
const BYTES = new TextEncoder().encode(TEXT);

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new Blob([new Uint8Array(bytes)]).stream();
}

function withCode(code: Code) {
  return (error: unknown) => error instanceof ConnectError && error.code === code;
}

test.each([
  [null, true, true],
  ["", true, true],
  ["identity", true, true],
  [" Identity ", true, true],
  ["gzip", true, false],
  ["GZIP", true, false],
  ["x-gzip", true, false],
  ["deflate", true, false],
  ["zstd", false, false],
  ["zstd", false, false],
  ["gzip, gzip", false, false],
  ["constructor", false, false],
])("content-encoding %j: known %j, identity %j", (encoding, known, identity) => {
  expect(isKnownEncoding(encoding)).toBe(known);
  expect(isIdentity(encoding)).toBe(identity);
});

test.each([
  ["gzip", gzipSync(BYTES)],
  ["X-GZIP", gzipSync(BYTES)],
  // RFC 9110 §8.4.1.2: "deflate" is the zlib format.
  ["deflate", deflateSync(BYTES)],
  ["identity", BYTES],
  [null, BYTES],
])("decodes %j", async (encoding, body) => {
  const decoded = await readDecoded(streamOf(body), encoding, BYTES.length);
  expect(new TextDecoder().decode(decoded)).toBe(TEXT);
});

test("no body is no bytes in any coding", async () => {
  expect(await readDecoded(null, "gzip", 10)).toEqual(new Uint8Array(0));
});

const COMPRESSED = gzipSync(BYTES);
test.each([
  ["text", new TextEncoder().encode("plain text"), "gzip"],
  ["a cut body", COMPRESSED.subarray(0, COMPRESSED.length - 12), "gzip"],
  ["a broken checksum", Buffer.concat([COMPRESSED.subarray(0, -8), Buffer.alloc(8, 1)]), "gzip"],
  ["gzip as deflate", COMPRESSED, "deflate"],
])("%s is not %3$s: invalid_argument", async (_, body, encoding) => {
  await expect(readDecoded(streamOf(body), encoding, 1 << 20)).rejects.toSatisfy(withCode(Code.InvalidArgument));
});

test("the limit counts decoded bytes, and is exact", async () => {
  await expect(readDecoded(streamOf(gzipSync(BYTES)), "gzip", BYTES.length - 1)).rejects.toSatisfy(
    withCode(Code.ResourceExhausted),
  );
});

test("a bomb is refused long before it is decoded", async () => {
  const bomb = gzipSync(Buffer.alloc(256 << 20));
  const before = process.memoryUsage().arrayBuffers;
  await expect(readDecoded(streamOf(bomb), "gzip", 1 << 16)).rejects.toSatisfy(withCode(Code.ResourceExhausted));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
});

/** RFC 9110 §12.5.3. */
test.each([
  [null, undefined],
  ["", undefined],
  ["identity", undefined],
  ["zstd", undefined],
  ["gzip", "gzip"],
  ["br;q=0.5, gzip", "gzip"],
  ["deflate, gzip", "gzip"],
  ["gzip;q=0.1, deflate;q=0.2", "deflate"],
  ["GZIP", "gzip"],
  ["x-gzip", "x-gzip"],
  ["*", "gzip"],
  ["gzip;q=0, *", "deflate"],
  ["gzip;q=0", undefined],
  ["*;q=0", undefined],
  ["gzip;q=nonsense", "gzip"],
])("of %j the gateway writes %j", (accept, encoding) => {
  expect(chooseEncoding(accept)).toBe(encoding);
});

test.each([
  ["gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
] as const)("writes %s, which zlib reads; brotli where the runtime has it", async (encoding, decompress) => {
  if (!isKnownEncoding(encoding)) return expect(encoding).toBe("br");
  expect(Buffer.from(decompress(await compress(BYTES, encoding)))).toEqual(Buffer.from(BYTES));
});
