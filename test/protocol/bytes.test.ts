import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { discard, openChunks, readAll, watchBody } from "../../src/protocol/bytes.ts";
import { streamBattery } from "./stream-of.ts";

/** A stream of pieces, as a byte stream or as a default one, that knows whether it was cancelled. */
function streamOf(pieces: readonly number[][], type: "bytes" | undefined, endless = false) {
  const state = { cancelled: false, pulled: 0 };
  let i = 0;
  const source = {
    pull(controller: { enqueue(chunk: Uint8Array<ArrayBuffer>): void; close(): void }) {
      state.pulled++;
      const piece = pieces[i++] ?? (endless ? [0] : undefined);
      if (piece) controller.enqueue(new Uint8Array(piece));
      else controller.close();
      // A pull that a BYOB read waits for must answer it, even at the end.
      const { byobRequest } = controller as Partial<ReadableByteStreamController>;
      if (!piece) byobRequest?.respond(0);
    },
    cancel() {
      state.cancelled = true;
    },
  };
  const stream =
    type === "bytes"
      ? new ReadableStream({ ...source, type })
      : new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  return { stream, state };
}

const KINDS = [
  ["a byte stream", "bytes"],
  ["a default stream", undefined],
] as const;

test("no stream is no bytes", async () => {
  expect(await readAll(null, 0)).toEqual(new Uint8Array(0));
});

for (const [name, type] of KINDS) {
  test.each([
    ["nothing", [], 0, []],
    ["one piece of exactly the limit", [[1, 2, 3]], 3, [1, 2, 3]],
    ["many pieces in order", [[1], [2, 3], [4], [5, 6, 7, 8, 9]], 100, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ])(`${name}: %s`, async (_, pieces, maxBytes, bytes) => {
    expect([...(await readAll(streamOf(pieces, type).stream, maxBytes))]).toEqual(bytes);
  });

  test(`${name}: thousands of pieces`, async () => {
    const pieces = Array.from({ length: 5_000 }, (_, i) => [i & 0xff, i >> 8]);
    expect([...(await readAll(streamOf(pieces, type).stream, 10_000))]).toEqual(pieces.flat());
  });

  test(`${name}: one byte over the limit cancels, however long it would have gone on`, async () => {
    const { stream, state } = streamOf([[1, 2], [3]], type, true);
    await expect(readAll(stream, 2)).rejects.toSatisfy(
      (error) =>
        error instanceof ConnectError && error.code === Code.ResourceExhausted && error.message.includes("2 bytes"),
    );
    expect(state.cancelled).toBe(true);
    expect(state.pulled).toBeLessThan(10);
  });
}

test("what the stream fails with is passed on", async () => {
  const failure = new Error("cut");
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(failure);
    },
  });
  await expect(readAll(stream, 10)).rejects.toBe(failure);
});

test("a body in pieces of a byte does not hold a buffer for each", async () => {
  const views: ArrayBufferLike[] = [];
  let left = 2_000;
  const stream = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { byobRequest } = controller;
      if (!byobRequest?.view) throw new Error("not read by BYOB");
      views.push(byobRequest.view.buffer);
      if (left-- > 0) {
        new Uint8Array(byobRequest.view.buffer, byobRequest.view.byteOffset, 1)[0] = 7;
        byobRequest.respond(1);
      } else {
        controller.close();
        byobRequest.respond(0);
      }
    },
  });
  const bytes = await readAll(stream, 4_000);
  expect(bytes.length).toBe(2_000);
  expect(bytes.every((byte) => byte === 7)).toBe(true);
  // Every buffer but the last went back into the next read, and was detached by it.
  const held = views.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  expect(held).toBeLessThanOrEqual(2 * 65_536);
});

/** Gives its bytes in two pieces and then does what `end` says. */
function pieces(end: (controller: ReadableStreamDefaultController<Uint8Array>) => void, cancelled?: () => void) {
  const left = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece) controller.enqueue(piece);
      else end(controller);
    },
    cancel: () => cancelled?.(),
  });
}

test("a watched body is the same, and its end is told: of a whole one, one that breaks and one that is left", async () => {
  const whole = Promise.withResolvers<void>();
  const watched = watchBody(
    pieces((controller) => controller.close()),
    whole.resolve,
  );
  expect(await readAll(watched, 10)).toEqual(Uint8Array.of(1, 2, 3));
  await whole.promise;

  const failure = new Error("cut");
  const broken = Promise.withResolvers<void>();
  const breaking = watchBody(
    pieces((controller) => controller.error(failure)),
    broken.resolve,
  );
  await expect(readAll(breaking, 10)).rejects.toBe(failure);
  await broken.promise;

  const left = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const endless = pieces(() => undefined, cancelled.resolve);
  const reader = watchBody(endless, left.resolve).getReader();
  await reader.read();
  await reader.cancel();
  await Promise.all([left.promise, cancelled.promise]);
});

describe("a body that is pulled from a source", streamBattery);

for (const [name, type] of KINDS) {
  test(`chunks of ${name}: as they come, the end, and the error that broke it`, async () => {
    const { read } = openChunks(streamOf([[1], [2, 3]], type).stream);
    expect([[...((await read()) ?? [])], [...((await read()) ?? [])]]).toEqual([[1], [2, 3]]);
    expect(await read()).toBeUndefined();
    const { stream, state } = streamOf([[1]], type, true);
    const chunks = openChunks(stream);
    await chunks.read();
    await chunks.cancel();
    expect([state.cancelled, await chunks.read()]).toEqual([true, undefined]);
  });
}

test("what nobody wants is let go without a fuss: no body, an open one, one that broke, one that is being read", async () => {
  await discard(null);
  const { stream, state } = streamOf([[1]], undefined, true);
  await discard(stream);
  expect(state.cancelled).toBe(true);
  const broken = pieces((controller) => controller.error(new Error("cut")));
  await readAll(broken, 10).catch(() => undefined);
  await discard(broken);
  const open = streamOf([[1], [2]], undefined).stream;
  const { read } = openChunks(open);
  await discard(open);
  expect([...((await read()) ?? [])]).toEqual([1]);
});
