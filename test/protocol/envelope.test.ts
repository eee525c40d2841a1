import { Code } from "@connectrpc/connect";
import { encodeEnvelopes, transformJoinEnvelopes } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type Envelope, EnvelopeCutter, formatEnvelopes } from "../../src/protocol/envelope.ts";
import { failure } from "../failure.ts";
import { cut, cuts } from "./cut.ts";

const envelope = fc.record({ flags: fc.nat(255), data: fc.uint8Array({ maxLength: 300 }) });

/** The bytes of a pushed sequence of chunks, and what waits after them. */
function push(chunks: Iterable<Uint8Array>, maxBytes = 1_000): { envelopes: Envelope[]; rest: number } {
  const cutter = new EnvelopeCutter(maxBytes, () => undefined);
  const envelopes: Envelope[] = [];
  for (const chunk of chunks) envelopes.push(...cutter.push(chunk));
  return { envelopes, rest: cutter.rest };
}

test("envelopes of connect-es, cut anywhere, come out as they were", () => {
  fc.assert(
    fc.property(fc.array(envelope, { maxLength: 8 }), cuts, (envelopes, at) => {
      const bytes = encodeEnvelopes(...envelopes);
      const { envelopes: seen, rest } = push(cut(bytes, at));
      expect(seen.map(({ flags, data }) => ({ flags, data: new Uint8Array(data) }))).toEqual(envelopes);
      expect(rest).toBe(0);
    }),
  );
});

test("a body that ends anywhere inside an envelope leaves a rest, at its end none", () => {
  const bytes = encodeEnvelopes({ flags: 0, data: Uint8Array.of(1, 2, 3) }, { flags: 2, data: new Uint8Array(0) });
  const rests = Array.from({ length: bytes.length + 1 }, (_, i) => push([bytes.subarray(0, i)]).rest);
  expect(rests).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 0]);
});

test("data is its receiver's: neither a reused chunk nor later ones change it", () => {
  const cutter = new EnvelopeCutter(1_000, () => undefined);
  const chunk = encodeEnvelopes({ flags: 0, data: Uint8Array.of(1, 2) }, { flags: 0, data: Uint8Array.of(3, 4) });
  const [first, second] = [...cutter.push(chunk)];
  chunk.fill(0xff);
  expect([...cutter.push(encodeEnvelopes({ flags: 0, data: Uint8Array.of(9) }))]).toHaveLength(1);
  expect([first?.data, second?.data].map((data) => [...(data ?? [])])).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test.each([
  ["at the limit", 10, undefined],
  ["over it", 11, failure(Code.ResourceExhausted, "10 bytes")],
  ["of four gigabytes", 0xffff_ffff, failure(Code.ResourceExhausted, "10 bytes")],
])("an envelope %s", (_, length, error) => {
  const cutter = new EnvelopeCutter(10, () => undefined);
  const first = encodeEnvelopes({ flags: 0, data: Uint8Array.of(7) });
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint32(1, length);
  const seen: Envelope[] = [];
  const read = () => {
    // Before any of its data has come.
    for (const one of cutter.push(Uint8Array.of(...first, ...head))) seen.push(one);
  };
  if (error) expect(read).toThrow(error);
  else read();
  expect(seen.map(({ data }) => [...data])).toEqual([[7]]);
});

test("flags are looked at before a length is believed", () => {
  const page = new TextEncoder().encode("<html>");
  const refused = new Error("flags");
  const cutter = new EnvelopeCutter(10, (flags) => {
    if (flags !== 0) throw refused;
  });
  expect(() => [...cutter.push(page)]).toThrow(refused);
});

test("a long message in many small chunks is not copied once for each", () => {
  const cutter = new EnvelopeCutter(1 << 24, () => undefined);
  const size = 1 << 22;
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint32(1, size);
  expect([...cutter.push(head)]).toEqual([]);
  const chunk = new Uint8Array(64).fill(3);
  let seen: Envelope | undefined;
  const copy = vi.spyOn(Uint8Array.prototype, "set");
  for (let sent = 0; sent < size; sent += chunk.length) for (const one of cutter.push(chunk)) seen = one;
  expect(seen?.data.length).toBe(size);
  expect(seen?.data.every((byte) => byte === 3)).toBe(true);
  const copied = copy.mock.calls.reduce((sum, [from]) => sum + from.length, 0);
  copy.mockRestore();
  // 65,536 copies of up to 4 MiB would be 128 GiB.
  expect(copied).toBeLessThan(4 * size);
});

test("what an envelope says of its length costs nothing before the data comes", () => {
  const head = new Uint8Array(6);
  new DataView(head.buffer).setUint32(1, 1 << 24);
  const before = process.memoryUsage().arrayBuffers;
  const cutters = Array.from({ length: 100 }, () => new EnvelopeCutter(1 << 24, () => undefined));
  for (const cutter of cutters) expect([...cutter.push(head)]).toEqual([]);
  // 1.6 GiB were promised.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
  expect(cutters.map(({ rest }) => rest)).toEqual(cutters.map(() => head.length));
});

test("a batch is written as connect-es writes it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 })), fc.nat(255), async (messages, flags) => {
      const chunks: Uint8Array[] = [];
      async function* envelopes() {
        for (const data of messages) yield { flags, data };
      }
      for await (const chunk of transformJoinEnvelopes()(envelopes())) chunks.push(chunk);
      expect(Buffer.from(formatEnvelopes(messages, flags))).toEqual(Buffer.concat(chunks));
    }),
  );
});
