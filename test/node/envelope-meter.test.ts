import { expect, it } from "vitest";
import { EnvelopeMeter } from "../../src/node/envelope-meter.ts";

// PROTOCOL-HTTP2, Length-Prefixed-Message: one byte of flags, four of length, the message.
const body = Uint8Array.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 9, 9, 9, 0, 0, 0, 1, 1, ...new Uint8Array(257).fill(0x80)]);
const ends = new Set([0, 5, 13, 275]);

it.each([1, 2, 3, 4, 7, 300])("knows where envelopes end, in chunks of %d bytes", (size) => {
  const meter = new EnvelopeMeter();
  for (let at = 0; at < body.length; at += size) {
    expect(meter.whole).toBe(ends.has(at));
    expect(meter.take(body.subarray(at, at + size))).toBe(true);
  }
  expect(meter.whole).toBe(true);
});

it("a length of four bytes", () => {
  const meter = new EnvelopeMeter();
  meter.take(Uint8Array.from([0, 0xff, 0xff, 0xff, 0xff]));
  for (let sent = 0; sent + 2 ** 24 < 2 ** 32; sent += 2 ** 24) {
    meter.take(new Uint8Array(2 ** 24));
    expect(meter.whole).toBe(false);
  }
  meter.take(new Uint8Array(2 ** 24 - 1));
  expect(meter.whole).toBe(true);
});

it("stops at what gRPC-Web takes for trailers, wherever the prefix is cut", () => {
  const meter = new EnvelopeMeter();
  expect(meter.take(body)).toBe(true);
  expect(meter.take(Uint8Array.from([0x80]))).toBe(false);
  expect(new EnvelopeMeter().take(Uint8Array.from([...body, 0x81, 0, 0, 0, 0]))).toBe(false);
});
