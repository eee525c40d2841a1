/** maxBodyBytes: the limit of a whole body, of every kind, whether its length is told or not. */
import { describe, expect, test, vi } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { KINDS } from "./kinds.ts";
import { type Answer, ask, chunk, head, LAST_CHUNK } from "./wire.ts";

const backend = await openBackend();
/** A gateway for each kind, whose limit is its body. */
const { ports, log } = await openGateways(
  backend,
  [-1, 0, 1].flatMap((more) => KINDS.map(({ body }) => ({ forms: true, maxBodyBytes: body.length + more }))),
);
const FRAMINGS: Readonly<Record<string, (body: string) => readonly [line: string, body: string]>> = {
  "a length": (body) => [`Content-Length: ${body.length}`, body],
  "chunks, and a length that does not count (RFC 9112 §6.3)": (body) => [
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    chunk(body) + LAST_CHUNK,
  ],
  chunks: (body) => [
    "Transfer-Encoding: chunked",
    chunk(body.slice(0, 10)) + chunk(body.slice(10, -1)) + chunk(body.slice(-1)) + LAST_CHUNK,
  ],
};

/** Status of HTTP, or the code that the last envelope tells. */
function outcomeOf({ status, body }: Answer, type: string): number | string {
  if (status !== 200 || !/connect\+|grpc-web/.test(type)) return status;
  const bytes = Buffer.from(body, type.includes("-text") ? "base64" : "latin1");
  const last = String(splitFrames(bytes).frames.at(-1)?.data);
  return /"code":"(\w+)"|grpc-status:(?!0)(\d+)/.exec(last)?.slice(1).find(Boolean) ?? status;
}

const ALL = KINDS.flatMap((kind, at) =>
  Object.entries(FRAMINGS).map(([framing, framed]) => ({ ...kind, at, framing, framed })),
);

describe.each(ALL)("$name, with $framing", ({ at, target, lines, body, message, framed }) => {
  const request = () => {
    const [line, framedBody] = framed(body);
    return head("POST", target, ...lines, line) + framedBody;
  };
  test.each([
    ["is the limit", 1],
    ["is one below it", 2],
  ])("%s", async (_, offset) => {
    const answer = await ask(ports[offset * KINDS.length + at] ?? 0, request());
    expect([outcomeOf(answer, lines.join()), backend.arrivals.map(messageOf)]).toEqual([200, [message]]);
  });

  test("is one above it", async () => {
    const answer = await ask(ports[at] ?? 0, request());
    const isRpc = target.startsWith("/callers");
    const refused = /connect\+/.test(lines.join())
      ? "resource_exhausted"
      : /grpc-web/.test(lines.join())
        ? "8"
        : isRpc
          ? 429
          : 413;
    expect(outcomeOf(answer, lines.join())).toBe(refused);
    // What was handed on before is broken off.
    await vi.waitFor(() => expect(backend.open()).toBe(0));
    expect(backend.arrivals.filter(({ isWhole }) => isWhole)).toEqual([]);
    expect(log()).not.toMatch(/unhandled/i);
  });
});
