/**
 * Callers that leave, or stop sending, at each point of a call: a request that is not whole is never taken for one, the
 * backend's call ends with its caller, and the next request is served.
 */
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { echo, messageOf, openBackend, openGateways } from "./gateway.ts";
import { KINDS } from "./kinds.ts";
import { ask, chunk, head, LAST_CHUNK, openWire, readAnswer } from "./wire.ts";

const backend = await openBackend();
const workerd = await openGateways(backend, [{ forms: true }]);
const port = workerd.ports[0] ?? 0;

afterEach(async () => {
  await vi.waitFor(() => expect(backend.open()).toBe(0), 5_000);
  expect(workerd.log()).not.toMatch(/unhandled|uncaught/i);
  backend.answer = echo;
  const { status, body } = await ask(port, head("GET", "/one/next"));
  expect([status, body]).toEqual([200, '{"id":"next"}']);
});

/** How much of a request is sent, before its caller goes. */
const POINTS: Readonly<Record<string, (body: string) => number>> = {
  "behind the head": () => 0,
  "after one byte": () => 1,
  "amid the body": (body) => body.length >> 1,
  "before its last byte": (body) => body.length - 1,
};

const WAYS = { "with a reset": "reset", "with a FIN": "halfClose" } as const;
const FRAMINGS = {
  "a length": (body: string) => ({ line: `Content-Length: ${body.length}`, format: (part: string) => part }),
  chunks: () => ({ line: "Transfer-Encoding: chunked", format: (part: string) => (part === "" ? "" : chunk(part)) }),
};

const CUTS = KINDS.flatMap((kind) =>
  Object.entries(WAYS).flatMap(([way, leave]) =>
    Object.entries(FRAMINGS).map(([framing, framed]) => ({ ...kind, way, leave, framing, framed })),
  ),
);

describe("a request that is cut is never whole", () => {
  test.each(CUTS)("$name, with $framing, $way", async ({ target, lines, body, leave, framed }) => {
    const { line, format } = framed(body);
    for (const [point, length] of Object.entries(POINTS)) {
      const wire = openWire(port);
      await wire.write(head("POST", target, ...lines, line) + format(body.slice(0, length(body))));
      // What has come shall have been read.
      await new Promise((resolve) => setTimeout(resolve, 10));
      wire[leave]();
      await wire.closed;
      // In envelopes the answer begins well, and tells the failure at its end.
      if (!/connect\+|grpc-web/.test(lines.join())) expect(wire.received(), point).not.toMatch(/^HTTP\/1\.1 2/);
    }
    await vi.waitFor(() => expect(backend.open()).toBe(0));
    expect(backend.arrivals.filter(({ isWhole }) => isWhole)).toEqual([]);
  });
});

describe("a caller that leaves before the answer ends the backend's call", () => {
  test.each(KINDS)("$name", async ({ target, lines, body, message }) => {
    backend.answer = () => undefined;
    const wire = openWire(port);
    await wire.write(head("POST", target, ...lines, `Content-Length: ${body.length}`) + body);
    await vi.waitFor(() => expect(backend.arrivals.map(messageOf)).toEqual([message]));
    expect(backend.open()).toBe(1);
    wire.reset();
    await vi.waitFor(() => expect(backend.open()).toBe(0));
  });
});

describe("a caller that has said all it has to say is answered", () => {
  test.each(KINDS)("$name", async ({ target, lines, body, message }) => {
    backend.answer = (arrival, response) => setTimeout(() => echo(arrival, response), 50);
    for (const sent of [
      head("POST", target, ...lines, `Content-Length: ${body.length}`) + body,
      head("POST", target, ...lines, "Transfer-Encoding: chunked") + chunk(body) + LAST_CHUNK,
    ]) {
      const wire = openWire(port);
      await wire.write(sent);
      wire.halfClose();
      expect((await readAnswer(wire)).status).toBe(200);
      wire.reset();
    }
    expect(backend.arrivals.map(messageOf)).toEqual([message, message]);
  });
});

const MESSAGE = encodeEnvelope(0, Uint8Array.of(0x0a, 1, 0x61));
const LISTS: readonly (readonly [string, string])[] = [
  ...["application/json", "application/x-ndjson", "text/event-stream"].map(
    (accept) => [accept, head("GET", "/list", `Accept: ${accept}`)] as const,
  ),
  ...["connect+json", "connect+proto", "grpc-web+proto", "grpc-web-text"].map((type) => {
    const empty = Buffer.from(encodeEnvelope(0, Buffer.from(type.endsWith("json") ? "{}" : ""))).toString("latin1");
    const body = type.endsWith("text") ? Buffer.from(empty, "latin1").toString("base64") : empty;
    const fields = [`Content-Type: application/${type}`, `Content-Length: ${body.length}`];
    return [type, head("POST", "/callers.v1.Things/List", ...fields) + body] as const;
  }),
];

describe("a stream goes on for a caller that only listens, and ends with one that leaves", () => {
  test.each(LISTS)("%s", async (_, request) => {
    let timer: NodeJS.Timeout | undefined;
    backend.answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/connect+proto" });
      timer = setInterval(() => response.write(MESSAGE), 20);
      response.on("close", () => clearInterval(timer));
    };
    const wire = openWire(port);
    await wire.write(request);
    wire.halfClose();
    await wire.waitFor(/\r\n\r\n./s);
    const before = wire.received().length;
    await vi.waitFor(() => expect(wire.received().length).toBeGreaterThan(before + 60));
    expect(backend.open()).toBe(1);
    wire.reset();
    await vi.waitFor(() => expect(backend.open()).toBe(0));
  });
});

test("callers that leave behind an answer, or amid the head of the next request, are forgotten", async () => {
  const next = head("GET", "/vault");
  for (let length = 0; length < next.length; length += 7) {
    const wire = openWire(port);
    await wire.write(head("GET", "/one/a") + next.slice(0, length));
    await readAnswer(wire);
    wire.reset();
  }
  expect(backend.arrivals.filter(({ url }) => url !== "/callers.v1.Paths/One")).toEqual([]);
});
