/**
 * The faults of a backend that speaks Connect or gRPC-Web, and of the network before it: how the proxy makes each, and
 * what has to come of it. Codes are those that the specifications of Connect and gRPC give: their tables from HTTP,
 * unavailable where there was no answer, internal for one that breaks the protocol (DESIGN: an upstream that breaks its
 * protocol gets the code that their clients give it).
 */
import { Code } from "@connectrpc/connect";
import { after, type Fault, fails, LATE, SERVED, type Verdict } from "./fault.ts";
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

export interface HttpFault extends Fault {
  /** What becomes of the backend's answer before it is written. Default: nothing. */
  change?(answer: Answer): Answer;
  readonly answer: Answering;
  /** The connection is refused, whatever `answer` says. */
  readonly refuses?: true;
}

const UNREACHABLE = fails(Code.Unavailable, "the backend cannot be reached");
const BROKEN = fails(Code.Internal, "the answer of the backend cannot be read");
const INSIDE = fails(Code.Internal, "the body ends inside an envelope");
const WITHOUT_TRAILERS = fails(Code.Internal, "the answer of the backend broke off before its trailers");
const NO_GZIP = fails(Code.Internal, "an envelope is not valid gzip");

function isEnveloped(fields: Answer["fields"]): boolean {
  const type = fields.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return /^application\/(?:connect\+|grpc-web)/.test(type);
}

/** Where the last message begins, and the envelope that ends the stream. */
function lastEnvelopes(body: Buffer): readonly [number, number] {
  const starts: number[] = [];
  for (let at = 0; at < body.length; at += 5 + body.readUInt32BE(at + 1)) starts.push(at);
  const [last = 0, end = 0] = starts.slice(-2);
  return [last, end];
}

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

const never = () => new Promise<never>(() => undefined);

const POINTS: readonly { point: Point; unary: boolean; messages: number }[] = [
  { point: "before its body", unary: true, messages: 0 },
  { point: "inside the prefix of an envelope", unary: false, messages: 1 },
  { point: "inside a message", unary: true, messages: 1 },
  { point: "before its end", unary: false, messages: 2 },
];

const BREAKS: readonly HttpFault[] = POINTS.flatMap(({ point, unary, messages }) => {
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

/** All alike, whichever the kind of call. */
function headFault(name: string, verdict: Verdict, answer: Answering): HttpFault {
  return { name, answer, unary: verdict, stream: verdict };
}

const BEFORE_THE_ANSWER: readonly HttpFault[] = [
  { ...headFault("refused", UNREACHABLE, serveWhole), refuses: true },
  headFault("reset before the answer", UNREACHABLE, async ({ reset }) => reset()),
  headFault("closed before the answer", UNREACHABLE, async ({ close }) => close()),
  { ...headFault("silent before the answer", LATE, never), stalls: true },
  headFault("reset inside the header", UNREACHABLE, async ({ answer, write, reset }) => {
    await write(formatHead(answer, CHUNKED).slice(0, -10));
    reset();
  }),
  headFault("closed inside the header", UNREACHABLE, async ({ answer, write, close }) => {
    await write(formatHead(answer, CHUNKED).slice(0, -10));
    close();
  }),
  {
    ...headFault("silent inside the header", LATE, async ({ answer, write }) => {
      await write(formatHead(answer, CHUNKED).slice(0, -10));
      await never();
    }),
    stalls: true,
  },
  headFault("no HTTP at all", UNREACHABLE, async ({ write, close }) => {
    await write(Uint8Array.of(0x15, 3, 3, 0, 2, 2, 70), "\r\n\r\n");
    close();
  }),
  headFault("a status line that is none", UNREACHABLE, async ({ answer, write, close }) => {
    await write(formatHead(answer, CHUNKED).replace(" 200 ", " ok "), LAST_CHUNK);
    close();
  }),
];

const HTML = "<html><body>who knows what happened at 10.1.2.3</body></html>";

/** Connect, "HTTP to error code"; gRPC has the same table. */
const HTTP_CODES: readonly (readonly [number, Code])[] = [
  [400, Code.Internal],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.Unimplemented],
  [413, Code.Unknown],
  [429, Code.Unavailable],
  [500, Code.Unknown],
  [502, Code.Unavailable],
  [503, Code.Unavailable],
  [504, Code.Unavailable],
];

function page(status: number, ...more: string[]): Answering {
  const fields = [["Content-Type", "text/html"]] as const;
  return ({ write }) => write(formatHead({ status, fields }, ...more, `Content-Length: ${HTML.length}`), HTML);
}

const OTHER_ANSWERS: readonly HttpFault[] = [
  ...HTTP_CODES.map(([status, code]) =>
    headFault(`HTTP ${status} with a page`, fails(code, `the backend answered with HTTP ${status}`), page(status)),
  ),
  ...[301, 302, 307].map((status) =>
    headFault(
      `HTTP ${status} to elsewhere`,
      fails(Code.Unknown, `the backend answered with HTTP ${status}`),
      page(status, "Location: http://127.0.0.1:9/"),
    ),
  ),
  headFault("HTTP 200 with a page", fails(Code.Unknown, "the backend answered with content type text/html"), page(200)),
  headFault(
    "HTTP 503 whose JSON breaks off",
    fails(Code.Unavailable, "the backend answered with HTTP 503"),
    async ({ write, reset }) => {
      const fields = [["Content-Type", "application/json"]] as const;
      await write(formatHead({ status: 503, fields }, "Content-Length: 100"), '{"code":"not_found","mess');
      reset();
    },
  ),
  headFault("HTTP 103, then the answer", SERVED, async (exchange) => {
    await exchange.write(formatHead({ status: 103, fields: [["Link", "</style.css>; rel=preload"]] }));
    await serveWhole(exchange);
  }),
  {
    // Nobody asked to be told to continue; RFC 9110 §15.2 has that ignored.
    ...headFault("HTTP 100, then the answer", SERVED, async (exchange) => {
      await exchange.write(formatHead({ status: 100, fields: [] }));
      await serveWhole(exchange);
    }),
    inNode: UNREACHABLE,
  },
];

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

/** What an answer that was longer than it said would leave on the connection, for the next call to take. */
const POISON = `HTTP/1.1 401 Poison\r\nContent-Length: 0\r\n\r\n`;

const BODIES: readonly HttpFault[] = [
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
  headFault("two lengths", UNREACHABLE, async ({ answer, write }) => {
    await write(formatHead(answer, `Content-Length: ${answer.body.length}`, "Content-Length: 3"), answer.body);
  }),
];

export const HTTP_FAULTS: readonly HttpFault[] = [...BEFORE_THE_ANSWER, ...OTHER_ANSWERS, ...BREAKS, ...BODIES];
