/** Callers that are slow: they cost themselves time, and nobody else. */
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, test, vi } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { KINDS } from "./kinds.ts";
import { type Answer, ask, chunk, head, LAST_CHUNK, openWire, readAnswer, type Wire } from "./wire.ts";

const backend = await openBackend();
const TIMEOUT_MS = 400;
const workerd = await openGateways(backend, [{ forms: true }, { forms: true, timeoutMs: TIMEOUT_MS }]);
const [port = 0, hasty = 0] = workerd.ports;

const wires: Wire[] = [];
function open(to = port): Wire {
  const wire = openWire(to);
  wires.push(wire);
  return wire;
}
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset();
  await vi.waitFor(() => expect(backend.open()).toBe(0), 5_000);
  expect(workerd.log()).not.toMatch(/unhandled/i);
});

/** The gateway serves others. */
async function servesOthers(): Promise<void> {
  const { status, body } = await ask(port, head("GET", "/one/other"));
  expect([status, body]).toEqual([200, '{"id":"other"}']);
}

describe("10,000 tiny chunks are one body", () => {
  test.each(KINDS)("$name", async ({ target, lines, body, message }) => {
    const wire = open();
    await wire.write(head("POST", target, ...lines, "Transfer-Encoding: chunked"));
    // Chunks of a byte, as many of them empty of any meaning to HTTP as there can be: extensions, zeros before the length.
    const pieces = [...body].map((byte, i) => `${"0".repeat(i % 3)}1;x=${i}\r\n${byte}\r\n`);
    for (const piece of pieces) await wire.write(piece);
    await wire.write(LAST_CHUNK);
    const { status } = await readAnswer(wire);
    expect([status, backend.arrivals.map(messageOf)]).toEqual([200, [message]]);
  });

  test("of one value", async () => {
    const wire = open();
    const text = "x".repeat(10_000);
    await wire.write(head("POST", "/things", "Content-Type: application/json", "Transfer-Encoding: chunked"));
    for (const byte of JSON.stringify({ text })) await wire.write(chunk(byte));
    await wire.write(LAST_CHUNK);
    expect((await readAnswer(wire)).status).toBe(200);
    expect(backend.arrivals.map(messageOf)).toEqual([{ text }]);
  });
});

/** The code of a failure, whichever dialect tells it. */
function codeOf({ body }: Answer, type: string): unknown {
  const bytes = Buffer.from(body, "latin1");
  const decoded = type.includes("-text") ? Buffer.from(body, "base64") : bytes;
  const data = /connect\+|grpc-web/.test(type) ? String(splitFrames(decoded).frames.at(-1)?.data) : body;
  if (type.includes("grpc-web")) return Number(/grpc-status: *(\d+)/.exec(data)?.[1]);
  const json = JSON.parse(data);
  const { code } = json.error ?? json;
  return code === "deadline_exceeded" ? Code.DeadlineExceeded : code;
}

describe("a body that drips", () => {
  test.each(KINDS)("$name ends with the deadline, and is never taken for whole", async ({ target, lines, body }) => {
    const wire = open(hasty);
    const startMs = performance.now();
    await wire.write(head("POST", target, ...lines, `Content-Length: ${body.length}`));
    await wire.write(body.slice(0, body.length - 100));
    let at = body.length - 100;
    const drip = setInterval(() => wire.write(body.slice(at, ++at)), 20);
    const answer = await readAnswer(wire).finally(() => clearInterval(drip));
    expect(performance.now() - startMs).toBeGreaterThan(TIMEOUT_MS - 50);
    const type = lines.join();
    const inBody = /connect\+|grpc-web/.test(type);
    expect([answer.status, codeOf(answer, type)]).toEqual([inBody ? 200 : 504, Code.DeadlineExceeded]);
    wire.reset();
    await vi.waitFor(() => expect(backend.open()).toBe(0));
    expect(backend.arrivals.filter(({ isWhole }) => isWhole)).toEqual([]);
  });

  test("100 of each kind do not keep others from being served", async () => {
    for (const { target, lines, body } of KINDS) {
      for (let i = 0; i < 100; i++) {
        const wire = open();
        await wire.write(head("POST", target, ...lines, `Content-Length: ${body.length}`) + body.slice(0, 20));
      }
    }
    for (let i = 0; i < 20; i++) await servesOthers();
    expect(backend.arrivals.map(messageOf)).toEqual(Array.from({ length: 20 }, () => ({ id: "other" })));
  });
});

test("heads that drip, or never end, do not keep others from being served", async () => {
  const whole = head("GET", "/vault", "X-A: a");
  for (let length = 0; length < whole.length; length++) await open().write(whole.slice(0, length));
  await servesOthers();
  expect(backend.arrivals).toHaveLength(1);
});
