/** Limits of streams, in the runtime: how long one may be silent, and how many there are at once. */
import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { readEvents } from "../client/events.ts";
import { openBackend, openGateways } from "./gateway.ts";
import { type Answer, ask, head, openWire, readAnswer, type Wire } from "./wire.ts";

const backend = await openBackend();
const IDLE_MS = 600;
const MAX_STREAMS = 3;
const GATEWAYS = [{ streamIdleMs: IDLE_MS }, { streamIdleMs: IDLE_MS, maxStreams: MAX_STREAMS }];
const { ports, log } = await openGateways(backend, GATEWAYS);
const [silent = 0, few = 0] = ports;
/** Without the signal of a request. */
const wordless = (await openGateways(backend, GATEWAYS, [])).ports[1] ?? 0;

const wires: Wire[] = [];
function open(port: number): Wire {
  const wire = openWire(port);
  wires.push(wire);
  return wire;
}
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset();
  await vi.waitFor(() => expect(backend.open()).toBe(0), 5_000);
  expect(log()).not.toMatch(/unhandled/i);
});

const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
const STREAM = { "content-type": "application/connect+proto" };

/** A backend that sends a message so often, so many times, and then is silent. */
function streaming(everyMs: number, count: number): void {
  backend.answer = (_, response) => {
    response.writeHead(200, STREAM);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent++ < count) response.write(MESSAGE);
      else clearInterval(timer);
    }, everyMs);
    response.on("close", () => clearInterval(timer));
  };
}

interface Caller {
  readonly request: string;
  /** Messages, and the code of the failure that ends them. */
  read(answer: Answer): readonly [messages: number, code: unknown];
}

const byAccept = (accept: string, read: Caller["read"]): Caller => ({
  request: head("GET", "/list", `Accept: ${accept}`),
  read,
});

function enveloped(type: string, codeOf: (last: string) => unknown): Caller {
  const isJson = type.endsWith("json");
  const body = Buffer.from(encodeEnvelope(0, Buffer.from(isJson ? "{}" : ""))).toString("latin1");
  return {
    request: head("POST", "/callers.v1.Things/List", `Content-Type: ${type}`, `Content-Length: ${body.length}`) + body,
    read(answer) {
      const { frames } = splitFrames(Buffer.from(answer.body, "latin1"));
      return [frames.length - 1, codeOf(String(frames.at(-1)?.data))];
    },
  };
}

const CALLERS: Readonly<Record<string, Caller>> = {
  lines: byAccept("application/x-ndjson", ({ body }) => {
    const lines = body.split("\n").filter((line) => line !== "");
    return [lines.length - 1, JSON.parse(lines.at(-1) ?? "").error.code];
  }),
  events: byAccept("text/event-stream", ({ body }) => {
    const events = readEvents(body);
    return [events.length - 1, JSON.parse(events.at(-1)?.data ?? "").code];
  }),
  Connect: enveloped("application/connect+json", (last) => JSON.parse(last).error.code),
  "Connect in binary": enveloped("application/connect+proto", (last) => JSON.parse(last).error.code),
  "gRPC-Web": enveloped("application/grpc-web+proto", (last) => Number(/grpc-status:(\d+)/.exec(last)?.[1])),
};
const DEADLINE = new Set<unknown>([Code.DeadlineExceeded, "deadline_exceeded"]);

describe("a stream that falls silent ends, and so does the backend's call", () => {
  test.each(Object.entries(CALLERS))("%s", async (_, { request, read }) => {
    // Slower in all than may be silent, but never silent for as long.
    streaming(IDLE_MS / 8, 10);
    const startMs = performance.now();
    const wire = open(silent);
    await wire.write(request);
    const [messages, code] = read(await readAnswer(wire));
    expect(performance.now() - startMs).toBeGreaterThan(2 * IDLE_MS);
    expect([messages, DEADLINE.has(code)]).toEqual([10, true]);
    await vi.waitFor(() => expect(backend.open()).toBe(0));
  });

  test("a socket", async () => {
    streaming(IDLE_MS / 8, 2);
    const socket = new WebSocket(`ws://127.0.0.1:${silent}/list`);
    const messages: unknown[] = [];
    socket.addEventListener("message", ({ data }) => messages.push(data));
    const { code } = await new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    expect([messages.length, code]).toEqual([2, 4000 + Code.DeadlineExceeded]);
  });

  test("one that never begins to answer is 504", async () => {
    backend.answer = () => undefined;
    expect((await ask(silent, head("GET", "/list"))).status).toBe(504);
  });

  test("so does one whose caller does not read", async () => {
    const large = encodeEnvelope(0, Buffer.concat([Uint8Array.of(0x0a, 0x80, 0x80, 0x40), Buffer.alloc(1 << 20, "a")]));
    backend.answer = (_, response) => {
      response.writeHead(200, STREAM);
      const more = () => {
        while (!response.closed && response.write(large));
      };
      response.on("drain", more);
      more();
    };
    const wire = open(silent);
    await wire.write(head("GET", "/list", "Accept: application/x-ndjson"));
    await wire.waitFor(/result/);
    wire.pause();
    expect(backend.open()).toBe(1);
    await vi.waitFor(() => expect(backend.open()).toBe(0), 10_000);
  });

  test("unary calls are not streams", async () => {
    backend.answer = (arrival, response) =>
      setTimeout(
        () => response.writeHead(200, { "content-type": "application/proto" }).end(arrival.body),
        1.5 * IDLE_MS,
      );
    expect((await ask(silent, head("GET", "/one/a"))).body).toBe('{"id":"a"}');
  });
});

describe("so many streams at once", () => {
  /** A stream that has begun; undefined: there was no room for it. */
  async function begin(port: number, { request }: Caller): Promise<Wire | undefined> {
    const wire = open(port);
    await wire.write(request);
    const [text] = await wire.waitFor(/^HTTP.*?\r\n\r\n./s);
    // In envelopes it is the first that tells.
    return /^HTTP\/1\.1 200/.test(text) && !wire.received().includes("resource_exhausted") ? wire : undefined;
  }

  /** Once those of the test before are forgotten. */
  function fill(port: number): Promise<readonly Wire[]> {
    streaming(20, Number.POSITIVE_INFINITY);
    const all = Object.values(CALLERS).slice(0, MAX_STREAMS);
    return Promise.all(
      all.map((caller) =>
        vi.waitFor(async () => {
          const wire = await begin(port, caller);
          if (!wire) throw new Error("no room");
          return wire;
        }, LONG),
      ),
    );
  }
  const LONG = { timeout: 5_000, interval: 100 };
  const { lines } = CALLERS;
  const hasRoom = async (port: number) => lines !== undefined && (await begin(port, lines)) !== undefined;

  test("one more is 429 and reaches nobody, unary calls are served", async () => {
    await fill(few);
    const before = backend.arrivals.length;
    const { status, body } = await ask(few, head("GET", "/list"));
    expect([status, JSON.parse(body).code]).toEqual([429, Code.ResourceExhausted]);
    expect(backend.arrivals).toHaveLength(before);
    backend.answer = (arrival, response) =>
      response.writeHead(200, { "content-type": "application/proto" }).end(arrival.body);
    expect((await ask(few, head("GET", "/one/a"))).status).toBe(200);
  });

  test.each([
    ["with the signal of a request", few],
    ["without", wordless],
  ])("one that leaves makes room for one, %s, once it would have been idle", async (_, port) => {
    const [first] = await fill(port);
    first?.reset();
    await vi.waitFor(async () => expect(await hasRoom(port)).toBe(true), LONG);
    expect(await hasRoom(port)).toBe(false);
  });
});
