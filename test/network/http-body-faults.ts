/** Faults behind the header. */
import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { after, fails, LATE, SERVED, type Verdict } from "./fault.ts";
import { BROKEN, type HttpFault, headFault, isEnveloped, lastEnvelopes, never, UNREACHABLE } from "./http-fault.ts";
import { POISON } from "./http-leftovers.ts";
import {
  type Answer,
  type Answering,
  CHUNKED,
  chunkOf,
  type Exchange,
  formatHead,
  LAST_CHUNK,
  serveWhole,
} from "./http-proxy.ts";

const INSIDE = fails(Code.Internal, "the body ends inside an envelope");
const WITHOUT_TRAILERS = fails(Code.Internal, "the answer of the backend broke off before its trailers");
const NO_GZIP = fails(Code.Internal, "an envelope is not valid gzip");

/** Where in its last message, or behind it, an answer stops. */
type Point = "before its body" | "inside the prefix of an envelope" | "inside a message" | "before its end";

/** How many of its bytes have come by then. */
function offsetOf(point: Point, { fields, body }: Answer): number {
  if (point === "before its body") return 0;
  if (!isEnveloped(fields)) return body.length >> 1;
  const [last, end] = lastEnvelopes(body);
  if (point === "before its end") return end;
  return point === "inside a message" ? last + 5 + ((end - last - 5) >> 1) : last + 3;
}

/** The answer up to there, in a chunk that promises the rest. */
async function begin(exchange: Exchange, point: Point): Promise<void> {
  const { answer, write } = exchange;
  const end = offsetOf(point, answer);
  await write(formatHead(answer, CHUNKED), end > 0 ? chunkOf(answer.body, end) : "");
}

const POINTS: readonly { point: Point; unary: boolean; messages: number }[] = [
  { point: "before its body", unary: true, messages: 0 },
  { point: "inside the prefix of an envelope", unary: false, messages: 1 },
  { point: "inside a message", unary: true, messages: 1 },
  { point: "before its end", unary: false, messages: 2 },
];

export const BREAKS: readonly HttpFault[] = POINTS.flatMap(({ point, unary, messages }) => {
  const verdicts = (verdict: Verdict) => ({
    unary: unary ? verdict : undefined,
    unaryInEnvelopes: verdict,
    stream: after(messages, verdict),
    untouched: "cut" as const,
  });
  return [
    {
      name: `reset ${point}`,
      async answer(exchange: Exchange) {
        await begin(exchange, point);
        exchange.reset();
      },
      ...verdicts(BROKEN),
    },
    {
      name: `closed ${point}`,
      async answer(exchange: Exchange) {
        await begin(exchange, point);
        exchange.close();
      },
      ...verdicts(BROKEN),
    },
    {
      name: `silent ${point}`,
      stalls: true as const,
      async answer(exchange: Exchange) {
        await begin(exchange, point);
        await never();
      },
      ...verdicts(LATE),
    },
  ];
});

const withoutEnd: Answering = async ({ answer, write }) => {
  await write(formatHead(answer, CHUNKED), chunkOf(answer.body.subarray(0, lastEnvelopes(answer.body)[1])), LAST_CHUNK);
};

const DRIP_BYTES = 16;

/** Header fields of so many bytes. Cloudflare takes 128 KiB of an answer, Node 16 KiB. */
function hugeHead(bytes: number): Answering {
  const fields = Array.from({ length: bytes / 1_000 }, (_, i) => `X-Huge-${i}: ${"h".repeat(980)}`);
  return async ({ answer, write }) => {
    await write(formatHead(answer, CHUNKED, ...fields), chunkOf(answer.body), LAST_CHUNK);
  };
}

export const BODIES: readonly HttpFault[] = [
  headFault("drop by drop", SERVED, async ({ answer, write }) => {
    const all = Buffer.concat([
      Buffer.from(formatHead(answer, CHUNKED)),
      chunkOf(answer.body),
      Buffer.from(LAST_CHUNK),
    ]);
    for (let at = 0; at < all.length; at += DRIP_BYTES) await write(all.subarray(at, at + DRIP_BYTES));
  }),
  {
    name: "a length that is too long",
    async answer({ answer, write, close }) {
      await write(formatHead(answer, `Content-Length: ${answer.body.length + 5}`), answer.body);
      close();
    },
    unary: BROKEN,
    stream: after(2, BROKEN),
    untouched: "cut",
  },
  {
    name: "a chunk that is none",
    async answer({ answer, write, close }) {
      await write(formatHead(answer, CHUNKED), "what\r\n");
      close();
    },
    unary: BROKEN,
    stream: BROKEN,
    untouched: "cut",
  },
  {
    name: "a length that is too short",
    async answer({ answer, write }) {
      const end = offsetOf("inside a message", answer);
      await write(formatHead(answer, `Content-Length: ${end}`), answer.body, POISON);
    },
    unary: fails(Code.Internal, "invalid matrix.v1.Everything from the backend: truncated"),
    unaryInEnvelopes: INSIDE,
    stream: after(1, INSIDE),
    untouched: "shortened",
    unread: true,
  },
  {
    name: "no end of the stream",
    only: "connect",
    answer: withoutEnd,
    unary: undefined,
    stream: after(2, fails(Code.Internal, "the stream of the backend broke off before its end")),
    untouched: "shortened",
  },
  {
    name: "no trailers",
    only: "grpc-web",
    answer: withoutEnd,
    unary: WITHOUT_TRAILERS,
    stream: after(2, WITHOUT_TRAILERS),
    untouched: "shortened",
  },
  {
    name: "silent inside a body that is compressed",
    only: "connect",
    stalls: true,
    change: ({ status, fields, body }) => ({
      status,
      fields: [...fields, ["Content-Encoding", "gzip"]],
      body: gzipSync(body),
    }),
    async answer({ answer, write }) {
      await write(formatHead(answer, CHUNKED), chunkOf(answer.body, answer.body.length >> 1));
      await never();
    },
    unary: LATE,
    stream: undefined,
    untouched: "cut",
    // In Node no body is compressed any more when it passes.
    onlyIn: "workerd",
  },
  {
    name: "a body that is not in its coding",
    only: "connect",
    change: ({ fields, ...rest }) => ({ ...rest, fields: [...fields, ["Content-Encoding", "gzip"]] }),
    answer: serveWhole,
    unary: BROKEN,
    stream: undefined,
    untouched: "whole",
    untouchedInNode: "cut",
  },
  {
    name: "an envelope that is not in its coding",
    change({ status, fields, body }) {
      const changed = Buffer.from(body);
      changed.writeUInt8(1, lastEnvelopes(body)[0]);
      const more = ["Connect-Content-Encoding", "Grpc-Encoding"].map((name) => [name, "gzip"] as const);
      return { status, fields: [...fields, ...more], body: changed };
    },
    answer: serveWhole,
    unary: undefined,
    unaryInEnvelopes: NO_GZIP,
    stream: after(1, NO_GZIP),
    untouched: "whole",
  },
  {
    name: "neither length nor chunks, and the end is that of the connection",
    async answer({ answer, write, close }) {
      await write(formatHead(answer), answer.body);
      close();
    },
    unary: SERVED,
    stream: SERVED,
  },
  { ...headFault("100 kB of header fields", SERVED, hugeHead(100_000)), inNode: UNREACHABLE },
  headFault("1 MB of header fields", UNREACHABLE, hugeHead(1_000_000)),
  headFault("a header field that is none", UNREACHABLE, async ({ answer, write }) => {
    await write(formatHead(answer, CHUNKED, "what"), chunkOf(answer.body), LAST_CHUNK);
  }),
  {
    // RFC 9112 §6.3: the chunks count, or the answer is refused.
    ...headFault("a length, and chunks", SERVED, async ({ answer, write }) => {
      await write(formatHead(answer, CHUNKED, "Content-Length: 3"), chunkOf(answer.body), LAST_CHUNK);
    }),
    inNode: UNREACHABLE,
  },
  headFault("header fields that are no metadata", SERVED, async ({ answer, write }) => {
    const odd = ["X-Odd: \u00e4\u20ac", "Trailer-: nameless", "X-Empty:", "grpc-status: 13", "Connect-Timeout-Ms: no"];
    await write(formatHead(answer, CHUNKED, ...odd), chunkOf(answer.body), LAST_CHUNK);
  }),
  headFault("HTTP/1.0", SERVED, async ({ answer, close }) => {
    close(formatHead(answer, `Content-Length: ${answer.body.length}`).replace("HTTP/1.1", "HTTP/1.0"), answer.body);
  }),
  headFault("two lengths", UNREACHABLE, async ({ answer, write }) => {
    await write(formatHead(answer, `Content-Length: ${answer.body.length}`, "Content-Length: 3"), answer.body);
  }),
];
