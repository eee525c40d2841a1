/** Limits of WebSockets: what a frame may hold, and what the head of one may be. */
import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { ask, head } from "./wire.ts";

const backend = await openBackend();
const LIMITS = { readMaxBytes: 1000, maxDepth: 10, maxUrlBytes: 100, maxHeaderBytes: 500, forms: true };
const [port = 0] = (await openGateways(backend, [LIMITS])).ports;

const jsonOf = (size: number) => JSON.stringify({ text: "a".repeat(size - '{"text":""}'.length) });
/** `text`, in so many bytes from 131 on. */
const wireOf = (size: number) =>
  Buffer.concat([Uint8Array.of(0x0a, ((size - 3) & 0x7f) | 0x80, (size - 3) >> 7), Buffer.alloc(size - 3, "a")]);
const nested = (levels: number) => `${'{"thing":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

/** Sends the frames, and the end of the request. @returns the code of the close. */
async function talk(...frames: readonly (string | Buffer)[]): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/talk`);
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  for (const frame of frames) socket.send(typeof frame === "string" ? frame : new Uint8Array(frame));
  socket.send("");
  return (await closed).code;
}

test.each<[string, (size: number) => string | Buffer, number, Code]>([
  ["bytes of a text", jsonOf, 1000, Code.ResourceExhausted],
  ["bytes of a message", wireOf, 1000, Code.ResourceExhausted],
  ["levels", nested, 10, Code.InvalidArgument],
])("%s: one below the limit, the limit, one above", async (_, frameOf, limit, code) => {
  expect([await talk(frameOf(limit - 1)), await talk(frameOf(limit))]).toEqual([1000, 1000]);
  expect(backend.arrivals.map((arrival) => [messageOf(arrival)].flat().length)).toEqual([1, 1]);
  expect(await talk(frameOf(limit + 1))).toBe(4000 + code);
  await vi.waitFor(() => expect(backend.open()).toBe(0));
  expect(backend.arrivals.filter(({ isWhole }) => isWhole)).toHaveLength(2);
});

test("a head over its limits opens no socket", async () => {
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const open = (target: string, ...lines: readonly string[]) =>
    head("GET", target, ...upgrade, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", ...lines);
  // An accepted upgrade is 101.
  expect((await ask(port, open(`/talk?${"a".repeat(100)}`))).status).toBe(414);
  expect((await ask(port, open("/talk", `X-A: ${"a".repeat(500)}`))).status).toBe(431);
  expect(backend.arrivals).toEqual([]);
});
