/** Bodies as the runtime has them. */
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { readAll, watchBody } from "../../src/protocol/bytes.ts";
import { FETCH_KEEPS_ENCODING, readDecoded } from "../../src/protocol/compression.ts";
import { streamBattery } from "./stream-of.ts";

const BYTES = Uint8Array.from({ length: 300_001 }, (_, i) => i % 251);

/** A native body: the runtime hands it out in pieces of its own. */
function body(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  const { body } = new Response(bytes);
  if (!body) throw new Error("no body");
  return body;
}

/** A native stream that is written piece by piece. */
function pieces(count: number, bytes: Uint8Array): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const write = async () => {
    const writer = writable.getWriter();
    for (let i = 0; i < count; i++) await writer.write(bytes);
    await writer.close();
  };
  // Fails when the reader has had enough.
  write().catch(() => undefined);
  return readable;
}

/** The DOM types know the writable side as BufferSource only. */
function compression(format: CompressionFormat): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new CompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>;
}

declare const IdentityTransformStream: new () => TransformStream<Uint8Array, Uint8Array>;

it("reads all, by BYOB, whatever the pieces", async () => {
  expect(await readAll(body(BYTES), BYTES.length)).toEqual(BYTES);
  expect(await readAll(pieces(5_000, Uint8Array.of(1, 2)), 10_000)).toEqual(
    Uint8Array.from({ length: 10_000 }, (_, i) => 1 + (i % 2)),
  );
});

it("stops at the limit", async () => {
  for (const stream of [body(BYTES), pieces(1_000_000, new Uint8Array(100))]) {
    const error = await readAll(stream, 5_000).catch((error: unknown) => error);
    expect(error instanceof ConnectError && error.code).toBe(Code.ResourceExhausted);
  }
});

it("decodes gzip and deflate, and refuses what is neither", async () => {
  for (const format of ["gzip", "deflate"] as const) {
    const compressed = body(BYTES).pipeThrough(compression(format));
    expect(await readDecoded(compressed, format, BYTES.length)).toEqual(BYTES);
    const broken = await readDecoded(body(BYTES), format, BYTES.length).catch((error: unknown) => error);
    expect(broken instanceof ConnectError && broken.code).toBe(Code.InvalidArgument);
  }
});

it("watches a body until its end, and changes nothing", async () => {
  const ended = Promise.withResolvers<string>();
  const watched = watchBody(body(BYTES), () => ended.resolve("ended"));
  expect(await readAll(watched, BYTES.length)).toEqual(BYTES);
  expect(await ended.promise).toBe("ended");
});

it("is known to keep encodings", () => {
  expect(FETCH_KEEPS_ENCODING).toBe(true);
});

describe("a body that is pulled from a source", streamBattery);
