import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, expect, test, vi } from "vitest";
import type { End, Messages } from "../../src/call.ts";
import {
  createMessages,
  failureOf,
  type MessageSource,
  mapMessages,
  readSingle,
  withFirst,
  writeMessages,
} from "../../src/protocol/messages.ts";
import { failure } from "../failure.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
process.on("unhandledRejection", note);
afterAll(() => {
  process.off("unhandledRejection", note);
});

const LEFT = new ConnectError("left", Code.Canceled);
const BROKEN = new ConnectError("broken", Code.DataLoss);
const message = (n: number) => Uint8Array.of(n);

interface Scripted {
  readonly messages: Messages;
  /** What the origin was told. */
  readonly cancelled: ConnectError[];
}

/** A stream of so many batches, after which `last` is how it ends: an End, or what the source throws. */
function scripted(batches: number, last: End | Error = { trailer: new Headers() }): Scripted {
  const cancelled: ConnectError[] = [];
  const cut = Promise.withResolvers<undefined>();
  async function* source(): MessageSource {
    for (let i = 0; i < batches; i++) {
      // As a read does: it comes to its end when its origin is cancelled.
      await Promise.race([Promise.resolve(), cut.promise]);
      yield [message(i)];
    }
    if (last instanceof Error) throw last;
    return last;
  }
  const messages = createMessages(source(), {
    cancel(reason) {
      cancelled.push(reason);
      cut.resolve(undefined);
    },
    describe: (error) => new ConnectError(`told: ${(error as Error).message}`, Code.Internal),
  });
  return { messages, cancelled };
}

/** Never has anything, until it is cancelled. */
function silent(): Scripted {
  const cancelled: ConnectError[] = [];
  const cut = Promise.withResolvers<readonly Uint8Array[] | undefined>();
  async function* source(): MessageSource {
    const batch = await cut.promise;
    if (batch) yield batch;
    return { trailer: new Headers() };
  }
  const messages = createMessages(source(), {
    cancel(reason) {
      cancelled.push(reason);
      cut.resolve(undefined);
    },
    describe: () => BROKEN,
  });
  return { messages, cancelled };
}

async function drain(messages: Messages): Promise<{ batches: number[][]; end: End }> {
  const batches: number[][] = [];
  for (let batch = await messages.next(); batch; batch = await messages.next()) {
    batches.push(batch.map((one) => one[0] ?? -1));
  }
  return { batches, end: await messages.end };
}

test("messages come in order, then the end with its trailer", async () => {
  const trailer = new Headers({ "x-end": "1" });
  const { messages, cancelled } = scripted(3, { trailer });
  expect(await drain(messages)).toEqual({ batches: [[0], [1], [2]], end: { trailer } });
  expect(await messages.next()).toBeUndefined();
  await messages.cancel(LEFT);
  expect(await messages.end).toEqual({ trailer });
  expect(cancelled).toEqual([]);
});

test.each([
  ["a ConnectError, as it is", BROKEN, failure(Code.DataLoss, "broken")],
  ["another error, as it is described", new Error("ECONNRESET"), failure(Code.Internal, "told: ECONNRESET")],
])("a source that throws ends the stream after the messages before: %s", async (_, thrown, expected) => {
  const { messages, cancelled } = scripted(2, thrown);
  const { batches, end } = await drain(messages);
  expect(batches).toEqual([[0], [1]]);
  expect(end.error).toEqual(expected);
  // What it reads from is of no use any more.
  expect(cancelled).toEqual([end.error]);
});

test("cancel before, during and after: the end is its reason or was there before, and pending reads come to an end", async () => {
  const before = scripted(3);
  await before.messages.cancel(LEFT);
  expect(await drain(before.messages)).toMatchObject({ batches: [], end: { error: LEFT } });
  expect(before.cancelled).toEqual([LEFT]);

  const during = silent();
  const pending = during.messages.next();
  await during.messages.cancel(LEFT);
  expect(await pending).toBeUndefined();
  expect((await during.messages.end).error).toBe(LEFT);
  expect(during.cancelled).toEqual([LEFT]);

  const twice = scripted(3);
  await twice.messages.next();
  await Promise.all([twice.messages.cancel(LEFT), twice.messages.cancel(BROKEN)]);
  expect((await twice.messages.end).error).toBe(LEFT);
  expect(twice.cancelled).toEqual([LEFT]);
});

/** A kind of stream by its name, so that a counterexample can be read. */
const KINDS: Readonly<Record<string, () => Messages>> = {
  plain: () => scripted(3).messages,
  failing: () => scripted(2, new Error("cut")).messages,
  refusing: () => scripted(2, { error: BROKEN, trailer: new Headers() }).messages,
  silent: () => silent().messages,
  mapped: () => mapMessages(scripted(3).messages, (one) => one),
  "mapped, with a fault": () =>
    mapMessages(scripted(3).messages, (one) => {
      if (one[0] === 1) throw BROKEN;
      return one;
    }),
  "with its first taken": () => withFirst(Promise.resolve([message(9)]), scripted(2).messages),
};

test("in every interleaving next never rejects, the end settles once, and nothing is left waiting", async () => {
  const act = fc.constantFrom("next", "cancel", "tick");
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(KINDS)), fc.array(act, { maxLength: 12 }), async (kind, acts) => {
      const messages = KINDS[kind]?.();
      if (!messages) throw new Error(kind);
      const ends: End[] = [];
      messages.end.then((end) => ends.push(end));
      let pending: Promise<unknown> = Promise.resolve();
      const cancels: Promise<void>[] = [];
      for (const act of acts) {
        if (act === "cancel") cancels.push(messages.cancel(LEFT));
        else if (act === "tick") await Promise.resolve();
        // One reader, which waits for each batch before it asks for the next.
        else pending = pending.then(() => messages.next());
      }
      cancels.push(messages.cancel(LEFT));
      await Promise.all([pending, ...cancels]);
      await messages.end;
      expect(ends).toHaveLength(1);
      expect(await messages.next()).toBeUndefined();
      expect(await messages.end).toBe(ends[0]);
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(unhandled).toEqual([]);
});

test("a conversion that fails ends the stream after the messages before it, and frees where they come from", async () => {
  const { messages, cancelled } = scripted(5);
  const convert = vi.fn((one: Uint8Array) => {
    if (one[0] === 2) throw BROKEN;
    return Uint8Array.of((one[0] ?? 0) + 10);
  });
  const { batches, end } = await drain(mapMessages(messages, convert));
  expect(batches).toEqual([[10], [11]]);
  expect(end.error).toBe(BROKEN);
  expect(convert).toHaveBeenCalledTimes(3);
  await messages.end;
  expect(cancelled).toEqual([BROKEN]);
});

test("messages of the same batch before the one that cannot be converted are delivered", async () => {
  async function* source(): MessageSource {
    yield [message(1), message(2), message(3)];
    return { trailer: new Headers() };
  }
  const origin = createMessages(source(), { cancel: () => undefined, describe: () => BROKEN });
  const mapped = mapMessages(origin, (one) => {
    if (one[0] === 3) throw LEFT;
    return one;
  });
  expect(await drain(mapped)).toMatchObject({ batches: [[1, 2]], end: { error: LEFT } });
});

test("what a conversion throws by mistake is not shown to the caller", async () => {
  const log = vi.spyOn(console, "error").mockReturnValue();
  const mapped = mapMessages(scripted(1).messages, () => {
    throw new TypeError("secret is undefined");
  });
  const { end } = await drain(mapped);
  expect(end.error).toEqual(failure(Code.Internal));
  expect(end.error?.message).not.toContain("secret");
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});

test("a mapped stream keeps the end of its origin, and passes its cancel on", async () => {
  const end = { error: BROKEN, trailer: new Headers({ "x-end": "1" }) };
  expect((await drain(mapMessages(scripted(1, end).messages, (one) => one))).end).toBe(end);
  const { messages, cancelled } = silent();
  const mapped = mapMessages(messages, (one) => one);
  const pending = mapped.next();
  await mapped.cancel(LEFT);
  expect([await pending, cancelled]).toEqual([undefined, [LEFT]]);
});

test("the first batch that was taken comes first, and not after a cancel", async () => {
  const taken = scripted(2).messages;
  expect((await drain(withFirst(Promise.resolve([message(9)]), taken))).batches).toEqual([[9], [0], [1]]);
  const left = withFirst(Promise.resolve([message(9)]), scripted(2).messages);
  await left.cancel(LEFT);
  expect(await left.next()).toBeUndefined();
});

const trailer = new Headers({ "x-end": "1" });
test("the one message of a stream, with the trailer", async () => {
  expect(await readSingle(scripted(1, { trailer }).messages, "answer")).toEqual({ message: message(0), trailer });
});

// Connect and gRPC: an answer without or with a second message is unimplemented.
test("none or two messages are unimplemented, the rest is not read, and a failure is told as it is", async () => {
  await expect(readSingle(scripted(0).messages, "answer")).rejects.toEqual(failure(Code.Unimplemented, "answer"));
  const endless = scripted(1_000);
  await expect(readSingle(endless.messages, "request")).rejects.toEqual(failure(Code.Unimplemented, "request"));
  expect(endless.cancelled).toHaveLength(1);
  for (const batches of [0, 1]) {
    const error = new ConnectError("no", Code.NotFound);
    const read = readSingle(scripted(batches, { error, trailer }).messages, "answer");
    await expect(read).rejects.toBe(error);
    expect(error.metadata.get("trailer-x-end")).toBe("1");
  }
});

test("trailing metadata of a failure is told apart by its name", () => {
  const error = failureOf(new ConnectError("no", Code.NotFound, { "x-lead": "0" }), trailer);
  expect([error.metadata.get("x-lead"), error.metadata.get("trailer-x-end")]).toEqual(["0", "1"]);
});

const format = {
  batch: (messages: readonly Uint8Array[]) => Uint8Array.from(messages.flatMap((one) => [...one])),
  end: ({ error }: End) => (error ? Uint8Array.of(0xee) : Uint8Array.of(0xff)),
};

test("the body of a stream: a chunk for each batch, and the end last, which tells a failure", async () => {
  const whole = await new Response(writeMessages(scripted(3).messages, format)).bytes();
  expect([...whole]).toEqual([0, 1, 2, 0xff]);
  const failed = await new Response(writeMessages(scripted(1, BROKEN).messages, format)).bytes();
  expect([...failed]).toEqual([0, 0xee]);
});

test("an end that cannot be told breaks the transfer, after the messages before", async () => {
  const end = () => {
    throw BROKEN;
  };
  const reader = writeMessages(scripted(1).messages, { ...format, end }).getReader();
  expect((await reader.read()).value).toEqual(Uint8Array.of(0));
  await expect(reader.read()).rejects.toBe(BROKEN);
});

test("a format without last bytes just ends", async () => {
  const body = writeMessages(scripted(1).messages, { ...format, end: () => undefined });
  expect([...(await new Response(body).bytes())]).toEqual([0]);
});

test("nothing is read ahead of the reader, and one that leaves cancels the stream", async () => {
  const { messages, cancelled } = scripted(1_000);
  const next = vi.spyOn(messages, "next");
  const reader = writeMessages(messages, format).getReader();
  await reader.read();
  await reader.read();
  expect(next).toHaveBeenCalledTimes(2);
  await reader.cancel();
  expect((await messages.end).error).toEqual(failure(Code.Canceled));
  expect(cancelled).toHaveLength(1);
});

test("a reader that leaves while nothing comes ends a pending read", async () => {
  const { messages, cancelled } = silent();
  const reader = writeMessages(messages, format).getReader();
  const pending = reader.read();
  await reader.cancel();
  await pending;
  await messages.end;
  expect(cancelled).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(unhandled).toEqual([]);
});

test("a hundred thousand batches leave no more behind than a hundred", async () => {
  async function* source(batches: number): MessageSource {
    for (let i = 0; i < batches; i++) yield [new Uint8Array(1_000)];
    return { trailer: new Headers() };
  }
  const run = async (batches: number) => {
    const messages = createMessages(source(batches), { cancel: () => undefined, describe: () => BROKEN });
    const mapped = mapMessages(messages, (one) => one);
    for (let batch = await mapped.next(); batch; batch = await mapped.next());
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return { held: arrayBuffers + heapUsed, mapped };
  };
  const few = await run(100);
  const many = await run(100_000);
  // 100 MB have gone through.
  expect(many.held - few.held).toBeLessThan(50_000_000);
  await many.mapped.end;
});
