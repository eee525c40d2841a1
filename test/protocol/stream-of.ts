/** What `streamOf` and `openChunks` owe in every runtime: Node serves streams from JavaScript, workerd natively. */
import { expect, it } from "vitest";
import { type ChunkSource, openChunks, streamOf } from "../../src/protocol/bytes.ts";

interface Source extends ChunkSource {
  /** Chunks asked for so far. */
  asked(): number;
  readonly cancelled: Promise<void>;
  /** How often it was told to stop. */
  cancels(): number;
}

/** So many chunks, the first when it is due, then `end`, which may throw. */
function sourceOf(chunks: number, end: () => unknown = () => undefined, bytes = 1, due = Promise.resolve()): Source {
  let asked = 0;
  let cancels = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    async next() {
      await due;
      if (asked++ < chunks) return new Uint8Array(bytes).fill(asked);
      await end();
      return undefined;
    },
    cancel() {
      cancels++;
      resolve();
    },
    asked: () => asked,
    cancels: () => cancels,
    cancelled: promise,
  };
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<number[]> {
  const { read } = openChunks(stream);
  const seen: number[] = [];
  for (let chunk = await read(); chunk; chunk = await read()) seen.push(...chunk);
  return seen;
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 20));

export function streamBattery(): void {
  it("is all that the source has, in order, and ends with it", async () => {
    const source = sourceOf(5);
    expect(await drain(streamOf(source))).toEqual([1, 2, 3, 4, 5]);
    await soon();
    expect(source.cancels()).toBe(0);
    expect(await drain(streamOf(sourceOf(0)))).toEqual([]);
  });

  it("leaves out chunks without bytes, which would end a stream or be lost", async () => {
    const chunks = [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(0), new Uint8Array(0), Uint8Array.of(2)];
    const source: ChunkSource = { next: async () => chunks.shift(), cancel: () => undefined };
    expect(await drain(streamOf(source))).toEqual([1, 2]);
  });

  it("breaks after the chunks before, when the source rejects", async () => {
    const failure = new Error("cut");
    const { read } = openChunks(streamOf(sourceOf(1, () => Promise.reject(failure))));
    expect([...((await read()) ?? [])]).toEqual([1]);
    await expect(read()).rejects.toThrow("cut");
  });

  it("hands on each chunk without waiting for the next", async () => {
    const held = Promise.withResolvers<void>();
    const chunks = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)];
    const source: ChunkSource = {
      async next() {
        if (chunks.length === 1) await held.promise;
        return chunks.shift();
      },
      cancel: () => undefined,
    };
    const { read } = openChunks(streamOf(source));
    const seen: number[] = [];
    while (seen.length < 2) seen.push(...((await read()) ?? []));
    expect(seen).toEqual([1, 2]);
    held.resolve();
    expect([...((await read()) ?? [])]).toEqual([3]);
    expect(await read()).toBeUndefined();
  });

  it("breaks after all chunks before, also those that came at once", async () => {
    const { read } = openChunks(streamOf(sourceOf(5, () => Promise.reject(new Error("cut")))));
    const seen: number[] = [];
    await expect(
      (async () => {
        for (let chunk = await read(); chunk; chunk = await read()) seen.push(...chunk);
      })(),
    ).rejects.toThrow("cut");
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  it("asks for no more than is read", async () => {
    const source = sourceOf(1_000, undefined, 65_536);
    const chunks = openChunks(streamOf(source));
    await chunks.read();
    await soon();
    expect(source.asked()).toBeLessThanOrEqual(2);
    await chunks.read();
    await soon();
    expect(source.asked()).toBeLessThanOrEqual(3);
    await chunks.cancel();
  });

  it("tells the source once that its reader has left, between two chunks", async () => {
    const source = sourceOf(1_000);
    const chunks = openChunks(streamOf(source));
    await chunks.read();
    await chunks.cancel();
    await source.cancelled;
    await soon();
    expect(source.cancels()).toBe(1);
  });

  it("tells the source that its reader has left while it waited for a chunk, at the latest when that has come", async () => {
    const held = Promise.withResolvers<void>();
    const source = sourceOf(2, undefined, 1, held.promise);
    const chunks = openChunks(streamOf(source));
    // A read that waits comes to its end, well in Node, by an error in workerd.
    const pending = chunks.read().catch(() => undefined);
    await soon();
    await chunks.cancel();
    expect(await pending).toBeUndefined();
    held.resolve();
    await source.cancelled;
    await soon();
    expect(source.cancels()).toBe(1);
  });

  it("tells the source that its reader has left before anything was read", async () => {
    const source = sourceOf(1_000);
    await streamOf(source).cancel();
    await source.cancelled;
    expect(source.cancels()).toBe(1);
  });

  it("is opened without being read, and cancel is harmless at the end and twice", async () => {
    const chunks = openChunks(streamOf(sourceOf(1)));
    expect([...((await chunks.read()) ?? [])]).toEqual([1]);
    expect(await chunks.read()).toBeUndefined();
    await chunks.cancel();
    await chunks.cancel();
  });
}
