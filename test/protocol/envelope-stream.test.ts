import { deflateSync, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, encodeEnvelopes } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { End, Messages } from "../../src/call.ts";
import { type EnvelopeReading, readEnvelopes } from "../../src/protocol/envelope-stream.ts";
import { failure } from "../failure.ts";
import { bodyOf, cut, cuts } from "./cut.ts";

const END = 0x80;
const BROKEN = new ConnectError("described", Code.Unavailable);
const TRAILER = new Headers({ "x-end": "1" });

function reading(rest: Partial<EnvelopeReading> = {}): EnvelopeReading {
  return {
    maxBytes: 100,
    encoding: null,
    endFlag: END,
    faultCode: Code.DataLoss,
    end: (last, messages) => {
      if (!last) throw new ConnectError(`no end after ${messages}`, Code.Aborted);
      return { trailer: TRAILER };
    },
    describe: () => BROKEN,
    ...rest,
  };
}

interface Read {
  readonly batches: number[][][];
  readonly end: End;
}

async function drain(messages: Messages): Promise<Read> {
  const batches: number[][][] = [];
  for (let batch = await messages.next(); batch; batch = await messages.next()) {
    expect(batch.length).toBeGreaterThan(0);
    batches.push(batch.map((one) => [...one]));
  }
  return { batches, end: await messages.end };
}

const envelope = (flags: number, ...bytes: number[]) => encodeEnvelope(flags, Uint8Array.from(bytes));
const joined = (...pieces: Uint8Array[]) => new Uint8Array(Buffer.concat(pieces));
const LAST = envelope(END);

test("all messages come, in order, cut anywhere, and then the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 })), cuts, async (messages, at) => {
      const body = encodeEnvelopes(...messages.map((data) => ({ flags: 0, data })), {
        flags: END,
        data: new Uint8Array(0),
      });
      const { batches, end } = await drain(readEnvelopes(bodyOf(cut(body, at)), reading()));
      expect(batches.flat()).toEqual(messages.map((one) => [...one]));
      expect(end).toEqual({ trailer: TRAILER });
    }),
  );
});

test("what has come is not held back for more: a batch for each piece that completes a message", async () => {
  const pieces = [
    joined(envelope(0, 1), envelope(0, 2), envelope(0, 3).subarray(0, 3)),
    envelope(0, 3).subarray(3),
    joined(envelope(0, 4), LAST),
  ];
  const { batches } = await drain(readEnvelopes(bodyOf(pieces), reading()));
  expect(batches).toEqual([[[1], [2]], [[3]], [[4]]]);
});

test.each<[string, Uint8Array[], Partial<EnvelopeReading>, number[][], unknown]>([
  ["no body", [], {}, [], failure(Code.Aborted, "no end after 0")],
  ["no end", [envelope(0, 1)], {}, [[1]], failure(Code.Aborted, "no end after 1")],
  ["cut inside a prefix", [envelope(0, 1), LAST.subarray(0, 4)], {}, [[1]], failure(Code.DataLoss, "inside")],
  ["cut inside data", [envelope(0, 1), envelope(0, 2, 3).subarray(0, 6)], {}, [[1]], failure(Code.DataLoss, "inside")],
  ["cut behind the end", [LAST, Uint8Array.of(0)], {}, [], failure(Code.DataLoss, "inside")],
  ["a message behind the end", [envelope(0, 1), LAST, envelope(0, 2)], {}, [[1]], failure(Code.DataLoss, "follows")],
  ["two ends", [LAST, LAST], {}, [], failure(Code.DataLoss, "follows")],
  ["an unknown flag", [envelope(0, 1), envelope(4, 2)], {}, [[1]], failure(Code.Internal, "flags: 4")],
  ["an end where none is due", [envelope(END)], { endFlag: 0 }, [], failure(Code.Internal, "flags: 128")],
  [
    "a message over the limit",
    [envelope(0, 1), encodeEnvelope(0, new Uint8Array(101))],
    {},
    [[1]],
    failure(Code.ResourceExhausted, "100"),
  ],
  ["an end over the limit", [encodeEnvelope(END, new Uint8Array(101))], {}, [], failure(Code.ResourceExhausted, "100")],
  ["compressed, nothing declared", [envelope(1, 1)], {}, [], failure(Code.Internal, "compressed")],
  ["compressed, identity declared", [envelope(1, 1)], { encoding: "identity" }, [], failure(Code.Internal, "coding")],
  ["no gzip", [envelope(0, 1), envelope(1, 9, 9)], { encoding: "gzip" }, [[1]], failure(Code.DataLoss, "gzip")],
  [
    "gzip that breaks off",
    [encodeEnvelope(1, gzipSync(new Uint8Array(50)).subarray(0, 15))],
    { encoding: "gzip" },
    [],
    failure(Code.DataLoss, "gzip"),
  ],
  [
    "a bomb",
    [envelope(0, 1), encodeEnvelope(1, gzipSync(new Uint8Array(101)))],
    { encoding: "gzip" },
    [[1]],
    failure(Code.ResourceExhausted, "100"),
  ],
])("%s", async (_, pieces, rest, messages, error) => {
  // In one piece and in many: those before the fault come either way, and the rest of the body is let go.
  for (const body of [[joined(...pieces)], pieces.flatMap((piece) => [...piece].map((byte) => Uint8Array.of(byte)))]) {
    const { batches, end } = await drain(readEnvelopes(bodyOf(body), reading(rest)));
    expect(batches.flat()).toEqual(messages);
    expect(end.error).toEqual(error);
  }
});

test("a body without end flag ends with the body, and null is one without bytes", async () => {
  const rest = { endFlag: 0, end: (_: unknown, messages: number) => ({ trailer: new Headers({ n: `${messages}` }) }) };
  const some = await drain(readEnvelopes(bodyOf([envelope(0, 1), envelope(0, 2)]), reading(rest)));
  expect([some.batches.flat(), some.end.trailer.get("n")]).toEqual([[[1], [2]], "2"]);
  const none = await drain(readEnvelopes(null, reading(rest)));
  expect([none.batches, none.end.trailer.get("n")]).toEqual([[], "0"]);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
])("%s envelopes among others, the end too", async (encoding, compress) => {
  const seen: (Uint8Array | undefined)[] = [];
  const end = (last: Uint8Array | undefined): End => {
    seen.push(last);
    return { trailer: TRAILER };
  };
  const pieces = [
    encodeEnvelope(1, compress(Uint8Array.of(1, 2))),
    envelope(0, 3),
    envelope(1),
    encodeEnvelope(END | 1, compress(Uint8Array.of(4))),
  ];
  const { batches } = await drain(readEnvelopes(bodyOf([joined(...pieces)]), reading({ encoding, end })));
  expect(batches).toEqual([[[1, 2], [3], []]]);
  expect(seen.map((last) => [...(last ?? [])])).toEqual([[4]]);
});

test("many small envelopes that are large when decompressed do not become one batch", async () => {
  const large = encodeEnvelope(1, gzipSync(new Uint8Array(60)));
  const body = joined(...Array.from({ length: 20 }, () => large), LAST);
  const { batches } = await drain(readEnvelopes(bodyOf([body]), reading({ encoding: "gzip" })));
  expect(batches.map((batch) => batch.length)).toEqual(Array.from({ length: 10 }, () => 2));
});

test("a body that breaks is described after the messages before it", async () => {
  const describe = vi.fn(() => BROKEN);
  const cut = new Error("reset");
  const end = () => {
    throw cut;
  };
  const { batches, end: last } = await drain(readEnvelopes(bodyOf([envelope(0, 1)], end), reading({ describe })));
  expect([batches, last.error]).toEqual([[[[1]]], BROKEN]);
  expect(describe).toHaveBeenCalledWith(cut);
});

test.each<[string, Uint8Array]>([
  ["has a fault", envelope(4, 1)],
  ["is over the limit", encodeEnvelope(0, new Uint8Array(101))],
])("what comes after an envelope that %s is let go", async (_, piece) => {
  const cancelled = Promise.withResolvers<void>();
  const endless = Array.from({ length: 1_000 }, () => piece);
  await drain(readEnvelopes(bodyOf(endless, undefined, cancelled.resolve), reading()));
  await cancelled.promise;
});

test("cancel frees the body, whether it is being read or not", async () => {
  const idle = Promise.withResolvers<void>();
  const messages = readEnvelopes(bodyOf([envelope(0, 1)], undefined, idle.resolve), reading());
  await messages.cancel(BROKEN);
  await idle.promise;
  const waiting = Promise.withResolvers<void>();
  const never = new ReadableStream<Uint8Array>({ cancel: () => waiting.resolve() });
  const pending = readEnvelopes(never, reading());
  const next = pending.next();
  await pending.cancel(BROKEN);
  await waiting.promise;
  expect([await next, (await pending.end).error]).toEqual([undefined, BROKEN]);
});

test("nothing is read before it is wanted", async () => {
  const pull = vi.fn();
  const stream = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  readEnvelopes(stream, reading());
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(pull).not.toHaveBeenCalled();
});
