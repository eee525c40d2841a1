/**
 * Stands between the bridge and a gRPC server, over HTTP/2 without TLS. The server is called for real; its answer is
 * gathered, and then written by hand, frame by frame.
 */
import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { splitFrames } from "../cases/envelope.ts";
import { END_HEADERS, END_STREAM, type Frame, FrameCutter, FrameType, formatFrame, PREFACE } from "./h2-frames.ts";

/** What the server answered. */
export interface GrpcAnswer {
  readonly stream: number;
  /** Two header blocks. */
  readonly head: Buffer;
  readonly trailers: Buffer;
  /** Envelopes. */
  readonly body: Buffer;
}

/** A call that waits for its answer. */
export interface GrpcExchange {
  readonly answer: GrpcAnswer;
  /** A frame of the call; a header block may be longer than one frame. Resolves when the kernel has taken it, and the bridge has had time to read it. */
  write(type: number, payload: Buffer, flags?: number): Promise<void>;
  /** A frame of the connection. */
  writeToAll(type: number, payload: Buffer): Promise<void>;
  /** The connection ends, by a FIN or by a RST: all calls in it do. */
  close(): void;
  reset(): void;
}

export type GrpcAnswering = (exchange: GrpcExchange) => Promise<void>;

export interface GrpcProxy {
  readonly url: string;
  /** Calls whose answer has not come to its end, that were not cancelled, on connections that are still open. */
  open(): number;
  /** The last body that had so many envelopes, were it whole. */
  sent(envelopes: number): Buffer;
  answer: GrpcAnswering;
  /** What becomes of a body before it is written. Undefined: nothing. */
  change: ((body: Buffer) => Buffer) | undefined;
  /** Instead of a connection to the server: what becomes of a new one. Undefined: it goes to the server. */
  greet: ((socket: Socket) => void) | undefined;
  /** Every connection is closed. */
  drop(): Promise<void>;
  /** Nobody listens any more, or somebody does again. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  stop(): Promise<void>;
}

const TAKE_MS = 20;
const MAX_FRAME_BYTES = 16_384;

/** SETTINGS_HEADER_TABLE_SIZE = 0: then no header block refers to another, and one may be held back. */
const NO_HEADER_TABLE = Uint8Array.of(0, 1, 0, 0, 0, 0);

export const serveGrpc: GrpcAnswering = async ({ answer: { head, body, trailers }, write }) => {
  await write(FrameType.headers, head, END_HEADERS);
  await write(FrameType.data, body);
  await write(FrameType.headers, trailers, END_HEADERS | END_STREAM);
};

/** @param backend url of the server. */
export async function startGrpcProxy(backend: string): Promise<GrpcProxy> {
  const sockets = new Set<Socket>();
  /** Calls, by connection and stream. */
  const open = new Set<string>();
  const bodies = new Map<number, Buffer>();
  let connections = 0;
  let port = 0;
  const server = net.createServer({ noDelay: true }, (socket) => {
    track(socket);
    if (proxy.greet) proxy.greet(socket);
    else relay(socket);
  });

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  }

  function relay(client: Socket): void {
    const upstream = net.connect({ port: Number(new URL(backend).port), host: "127.0.0.1", noDelay: true });
    track(upstream);
    const id = connections++;
    const call = (stream: number) => `${id}/${stream}`;
    const parts = new Map<number, { head?: Buffer; data: Buffer[] }>();
    client.on("close", () => {
      upstream.destroy();
      for (const one of open) if (one.startsWith(`${id}/`)) open.delete(one);
    });
    upstream.on("close", () => client.destroy());

    const requests = new FrameCutter();
    let preface = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      let bytes = chunk;
      if (preface.length < PREFACE.length) {
        const missing = PREFACE.length - preface.length;
        preface = Buffer.concat([preface, chunk.subarray(0, missing)]);
        bytes = chunk.subarray(missing);
        if (preface.length === PREFACE.length) upstream.write(preface);
      }
      for (const frame of requests.push(bytes)) {
        if (frame.type === FrameType.rstStream) open.delete(call(frame.stream));
        if (frame.type === FrameType.headers) open.add(call(frame.stream));
        const isSettings = frame.type === FrameType.settings && frame.flags === 0;
        const payload = isSettings ? Buffer.concat([frame.payload, NO_HEADER_TABLE]) : frame.payload;
        upstream.write(formatFrame({ ...frame, payload }));
      }
    });

    const answers = new FrameCutter();
    upstream.on("data", (chunk: Buffer) => {
      for (const frame of answers.push(chunk)) {
        if (frame.stream > 0 && (frame.type === FrameType.headers || frame.type === FrameType.data)) gather(frame);
        else client.write(formatFrame(frame));
      }
    });

    function gather({ type, flags, stream, payload }: Frame): void {
      const part = parts.get(stream) ?? { data: [] };
      parts.set(stream, part);
      if (type === FrameType.data) part.data.push(payload);
      else if (!part.head) part.head = payload;
      if (!(flags & END_STREAM)) return;
      parts.delete(stream);
      const whole = Buffer.concat(part.data);
      const body = proxy.change?.(whole) ?? whole;
      bodies.set(splitFrames(body).frames.length, body);
      const answer = { stream, head: part.head ?? payload, trailers: payload, body };
      proxy.answer(exchangeOf(client, answer)).then(() => open.delete(call(stream)));
    }
  }

  const proxy: GrpcProxy = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    open: () => open.size,
    sent: (envelopes) => bodies.get(envelopes) ?? Buffer.alloc(0),
    answer: serveGrpc,
    change: undefined,
    greet: undefined,
    async drop() {
      for (const socket of sockets) socket.destroy();
      // For the bridge to see it.
      await sleep(TAKE_MS);
    },
    async refuse() {
      server.close();
      await proxy.drop();
    },
    async accept() {
      await once(server.listen(port, "127.0.0.1"), "listening");
    },
    async stop() {
      server.close();
      await proxy.drop();
    },
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
  return proxy;
}

function exchangeOf(client: Socket, answer: GrpcAnswer): GrpcExchange {
  const send = async (frame: Frame) => {
    const bytes = Buffer.concat(splitBlock(frame).map(formatFrame));
    await new Promise<void>((resolve) => client.write(bytes, () => resolve()));
    await sleep(TAKE_MS);
  };
  return {
    answer,
    write: (type, payload, flags = 0) => send({ type, flags, stream: answer.stream, payload }),
    writeToAll: (type, payload) => send({ type, flags: 0, stream: 0, payload }),
    close: () => client.end(),
    reset: () => client.resetAndDestroy(),
  };
}

/** RFC 9113 §4.2: 16 KiB a frame. The frames of a header block go without any other in between (§4.3). */
function splitBlock(frame: Frame): Frame[] {
  const count = Math.max(1, Math.ceil(frame.payload.length / MAX_FRAME_BYTES));
  return Array.from({ length: count }, (_, i) => ({
    ...frame,
    type: i === 0 ? frame.type : FrameType.continuation,
    flags: i === count - 1 ? frame.flags : 0,
    payload: frame.payload.subarray(i * MAX_FRAME_BYTES, (i + 1) * MAX_FRAME_BYTES),
  }));
}
