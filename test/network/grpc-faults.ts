/**
 * The faults of a gRPC server behind the bridge, and of the network between. Codes are those of gRPC's own documents:
 * "Status codes and their use" (a connection that is lost is unavailable, a response that breaks the protocol internal) and
 * "HTTP to gRPC status code mapping".
 */
import type { Socket } from "node:net";
import { Code } from "@connectrpc/connect";
import { after, type Fault, fails, LATE, SERVED, type Untouched, type Verdict } from "./fault.ts";
import { type GrpcAnswer, type GrpcAnswering, type GrpcExchange, serveGrpc } from "./grpc-proxy.ts";
import { END_HEADERS, END_STREAM, FrameType, headerBlock } from "./h2-frames.ts";

export interface GrpcFault extends Fault {
  /** What becomes of the envelopes before they are written. Default: nothing. */
  change?(body: Buffer): Buffer;
  readonly answer: GrpcAnswering;
  /** What becomes of a new connection. Default: it goes to the server. */
  readonly greet?: (socket: Socket) => void;
  /** The connection is refused, whatever `answer` says. */
  readonly refuses?: true;
}

const UNREACHABLE = "the backend cannot be reached";
const LOST = fails(Code.Unavailable, "the connection to the backend was lost");
const BROKEN = fails(Code.Internal, "the answer of the backend cannot be read");
const TOO_CALM = fails(Code.ResourceExhausted, "the backend reset the stream: ENHANCE_YOUR_CALM");
const NO_TRAILERS = fails(Code.Internal, "the backend ended its answer without trailers");
const UNDECLARED = fails(Code.Internal, "an envelope is compressed, but no coding was declared");

function alike(name: string, verdict: Verdict, answer: GrpcAnswering): GrpcFault {
  return { name, answer, unary: verdict, stream: verdict };
}

function greeting(name: string, verdict: Verdict, greet: (socket: Socket) => void): GrpcFault {
  return { ...alike(name, verdict, serveGrpc), greet };
}

const CONNECTING: readonly GrpcFault[] = [
  {
    ...alike(
      "refused",
      fails(Code.Unavailable, `${UNREACHABLE}: nobody listens there (connection refused)`),
      serveGrpc,
    ),
    refuses: true,
  },
  greeting("closed at once", fails(Code.Unavailable, `${UNREACHABLE}: it closes the connection`), (socket) =>
    socket.end(),
  ),
  greeting("reset at once", fails(Code.Unavailable, `${UNREACHABLE}: it closes the connection`), (socket) =>
    socket.resetAndDestroy(),
  ),
  { ...greeting("silent from the start", LATE, () => undefined), stalls: true },
  greeting("HTTP/1.1", fails(Code.Unavailable, `${UNREACHABLE}: it does not speak HTTP/2`), (socket) =>
    socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
  ),
];

type Point =
  | "before the answer"
  | "before its messages"
  | "inside the prefix of an envelope"
  | "inside a message"
  | "before its trailers";

function offsetOf(point: Point, { body }: GrpcAnswer): number {
  if (point === "before its messages") return 0;
  if (point === "before its trailers") return body.length;
  const last = lastEnvelope(body);
  return point === "inside a message" ? last + 5 + ((body.length - last - 5) >> 1) : last + 3;
}

function lastEnvelope(body: Buffer): number {
  let last = 0;
  for (let at = 0; at < body.length; at += 5 + body.readUInt32BE(at + 1)) last = at;
  return last;
}

async function begin({ answer, write }: GrpcExchange, point: Point): Promise<void> {
  if (point === "before the answer") return;
  await write(FrameType.headers, answer.head, END_HEADERS);
  const end = offsetOf(point, answer);
  if (end > 0) await write(FrameType.data, answer.body.subarray(0, end));
}

const never = () => new Promise<never>(() => undefined);

const POINTS: readonly { point: Point; messages: number; broken: boolean }[] = [
  { point: "before the answer", messages: 0, broken: false },
  { point: "before its messages", messages: 0, broken: false },
  // What the bridge would say there would be read as part of the envelope: it can only break off.
  { point: "inside the prefix of an envelope", messages: 1, broken: true },
  { point: "inside a message", messages: 1, broken: true },
  { point: "before its trailers", messages: 2, broken: false },
];

const BREAKS: readonly GrpcFault[] = POINTS.flatMap(({ point, messages, broken }) => {
  const verdicts = (verdict: Verdict, untouched: Untouched | undefined) => ({
    unary: verdict,
    stream: after(messages, verdict),
    ...(untouched && { untouched }),
  });
  const lost = { ...verdicts(broken ? BROKEN : LOST, broken ? "cut" : "told"), breaksOthers: true as const };
  return [
    {
      name: `reset ${point}`,
      async answer(exchange: GrpcExchange) {
        await begin(exchange, point);
        exchange.reset();
      },
      ...lost,
    },
    {
      name: `closed ${point}`,
      async answer(exchange: GrpcExchange) {
        await begin(exchange, point);
        exchange.close();
      },
      ...lost,
    },
    {
      name: `silent ${point}`,
      stalls: true as const,
      async answer(exchange: GrpcExchange) {
        await begin(exchange, point);
        await never();
      },
      ...verdicts(LATE, point === "before the answer" ? undefined : "cut"),
    },
  ];
});

function page(status: number): GrpcAnswering {
  return async ({ write }) => {
    const block = headerBlock({ ":status": `${status}`, "content-type": "text/html" });
    await write(FrameType.headers, block, END_HEADERS);
    await write(FrameType.data, Buffer.from("<html>who knows what happened at 10.1.2.3</html>"), END_STREAM);
  };
}

const noGrpc = (code: Code, status: number) =>
  fails(code, `the backend does not answer in gRPC: HTTP ${status}, content type text/html`);

/** Header fields of so many bytes. The bridge takes 64 KiB of an answer, Node's fetch 16 KiB. */
function hugeHead(bytes: number): GrpcAnswering {
  const fields = Array.from({ length: bytes / 10_000 }, (_, i) => [`x-huge-${i}`, "h".repeat(9_950)]);
  return async ({ answer: { head, body, trailers }, write }) => {
    await write(FrameType.headers, Buffer.concat([head, headerBlock(Object.fromEntries(fields))]), END_HEADERS);
    await write(FrameType.data, body);
    await write(FrameType.headers, trailers, END_HEADERS | END_STREAM);
  };
}

const DRIP_BYTES = 3;

const OTHERS: readonly GrpcFault[] = [
  alike("HTTP 404 with a page", noGrpc(Code.Unimplemented, 404), page(404)),
  alike("HTTP 503 with a page", noGrpc(Code.Unavailable, 503), page(503)),
  alike("HTTP 302 with a page", noGrpc(Code.Unknown, 302), page(302)),
  alike("HTTP 200 with a page", noGrpc(Code.Unknown, 200), page(200)),
  alike("HTTP 103, then the answer", SERVED, async (exchange) => {
    await exchange.write(FrameType.headers, headerBlock({ ":status": "103", link: "</style.css>" }), END_HEADERS);
    await serveGrpc(exchange);
  }),
  {
    ...alike("60 kB of header fields", SERVED, hugeHead(60_000)),
    breaksOthers: true,
    inNode: fails(Code.Unavailable, UNREACHABLE),
  },
  { ...alike("100 kB of header fields", TOO_CALM, hugeHead(100_000)), breaksOthers: true },
  { ...alike("1 MB of header fields", TOO_CALM, hugeHead(1_000_000)), breaksOthers: true },
  alike("drop by drop", SERVED, async ({ answer: { head, body, trailers }, write }) => {
    await write(FrameType.headers, head, END_HEADERS);
    for (let at = 0; at < body.length; at += DRIP_BYTES) {
      await write(FrameType.data, body.subarray(at, at + DRIP_BYTES));
    }
    await write(FrameType.headers, trailers, END_HEADERS | END_STREAM);
  }),
  {
    name: "no trailers",
    async answer({ answer: { head, body }, write }) {
      await write(FrameType.headers, head, END_HEADERS);
      await write(FrameType.data, body, END_STREAM);
    },
    unary: NO_TRAILERS,
    stream: after(2, NO_TRAILERS),
    untouched: "told",
  },
  {
    name: "an envelope that is compressed, and says not how",
    change(body) {
      const changed = Buffer.from(body);
      changed.writeUInt8(1, lastEnvelope(body));
      return changed;
    },
    answer: serveGrpc,
    unary: UNDECLARED,
    stream: after(1, UNDECLARED),
    untouched: "whole",
  },
  {
    // RFC 9113 §6.1: data belongs to a stream.
    ...alike("a frame that is none", LOST, ({ writeToAll }) => writeToAll(FrameType.data, Buffer.from("what"))),
    breaksOthers: true,
  },
];

export const GRPC_FAULTS: readonly GrpcFault[] = [...CONNECTING, ...OTHERS, ...BREAKS];
