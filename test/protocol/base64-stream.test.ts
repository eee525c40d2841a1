import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeBase64Piece, openBase64 } from "../../src/protocol/base64-stream.ts";
import { failure } from "../failure.ts";
import { bodyOf, cut, cuts } from "./cut.ts";

async function read(pieces: readonly Uint8Array[], end?: () => void): Promise<Uint8Array> {
  const { read } = openBase64(bodyOf(pieces, end), Code.InvalidArgument);
  const seen: Uint8Array[] = [];
  for (let chunk = await read(); chunk; chunk = await read()) seen.push(chunk.slice());
  return new Uint8Array(Buffer.concat(seen));
}

const text = (value: string) => new TextEncoder().encode(value);

test("pieces that were padded each by itself are read, however the text arrives", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 })), cuts, async (pieces, at) => {
      const encoded = text(pieces.map((piece) => Buffer.from(piece).toString("base64")).join(""));
      expect(await read(cut(encoded, at))).toEqual(new Uint8Array(Buffer.concat(pieces)));
    }),
  );
});

test("a piece is written as Node's Buffer writes it", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(new TextDecoder().decode(encodeBase64Piece(bytes))).toBe(Buffer.from(bytes).toString("base64"));
    }),
  );
});

// RFC 4648: groups of four characters, "=" only at the end of a piece.
test.each([
  "A",
  "AA",
  "AAA",
  "AAAAA",
  "A===",
  "=AAA",
  "====",
  "AAAA=",
  "AA=A",
  "A=AA",
  "AA= ",
  "A A=",
  "AA\u00e9A",
  "A===AAAA",
  "AAA==AAA",
])("%j is refused", async (value) => {
  const refused = failure(Code.InvalidArgument, "base64");
  await expect(read([text(value)])).rejects.toEqual(refused);
  await expect(read([...text(value)].map((byte) => Uint8Array.of(byte)))).rejects.toEqual(refused);
});

test("what comes before a fault is delivered first, and a broken body is told as it broke", async () => {
  const cut = new Error("cut");
  const { read } = openBase64(
    bodyOf([text("AAAA"), text("AA")], () => {
      throw cut;
    }),
    Code.Internal,
  );
  expect(await read()).toEqual(new Uint8Array(3));
  await expect(read()).rejects.toBe(cut);
});

test("cancel reaches the body", async () => {
  const cancelled = Promise.withResolvers<void>();
  const chunks = openBase64(bodyOf([text("AAAA")], undefined, cancelled.resolve), Code.Internal);
  await chunks.read();
  await chunks.cancel();
  await cancelled.promise;
});
