/**
 * Stands between a gateway and its backend, over HTTP/1.1. The backend is called for real; what it answered is written to
 * the gateway by hand, byte by byte if need be, so that every fault a network has can be put in its place.
 */
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readBody } from "../server.ts";

/** What the backend answered, without what frames it on the connection. */
export interface Answer {
  readonly status: number;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** A call that waits for its answer. */
export interface Exchange {
  readonly answer: Answer;
  /** Resolves when the kernel has taken the bytes, and the gateway has had time to read them. */
  write(...bytes: readonly (string | Uint8Array)[]): Promise<void>;
  /** These are the last bytes (FIN). */
  close(...bytes: readonly (string | Uint8Array)[]): void;
  /** The connection is gone (RST). */
  reset(): void;
}

/** Answers a call. Resolves when all that will ever be written is; the connection stays open then, for the next call. */
export type Answering = (exchange: Exchange) => Promise<void>;

export interface FaultProxy {
  readonly url: string;
  /** Calls whose answer has not come to its end on a connection that is still open. */
  open(): number;
  /** The body of the last answer to a call of the method, were it whole. */
  sent(method: string): Buffer;
  /** Until the next: how calls are answered. */
  answer: Answering;
  /** Until the next: what becomes of the backend's answer before that. Undefined: nothing. */
  change: ((answer: Answer) => Answer) | undefined;
  /** Nobody listens any more, and every connection is closed. */
  refuse(): Promise<void>;
  /** Somebody listens again. */
  accept(): Promise<void>;
  stop(): Promise<void>;
}

/** For a reader on a busy machine to take what was written before the connection breaks. */
const TAKE_MS = 20;

const FRAMING = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "date"]);

/** Answers come whole and uncompressed: the faults are made here. */
const CODINGS = ["accept-encoding", "connect-accept-encoding", "grpc-accept-encoding"];

/** @param backend base url. */
export async function startFaultProxy(backend: string): Promise<FaultProxy> {
  const sent = new Map<string, Buffer>();
  let open = 0;
  let server = createServer();
  let port = 0;

  /** Node reads the requests; the answers are ours, so its own ServerResponse is left alone. */
  function createServer(): http.Server {
    const server = http.createServer(async (request) => {
      const { socket } = request;
      const over = new AbortController();
      const closed = once(socket, "close", { signal: over.signal }).catch(() => undefined);
      open++;
      await Promise.race([answerCall(request), closed]);
      open--;
      over.abort();
    });
    return server.on("connection", (socket) => socket.on("error", () => undefined));
  }

  async function answerCall(request: IncomingMessage): Promise<void> {
    const { socket } = request;
    try {
      const answer = await callBackend(backend, request);
      const changed = proxy.change?.(answer) ?? answer;
      sent.set(request.url?.split("/").at(-1) ?? "", changed.body);
      await proxy.answer(exchangeOf(socket, changed));
    } catch {
      socket.resetAndDestroy();
    }
  }

  async function listen(): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }

  async function close(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }

  const proxy: FaultProxy = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    open: () => open,
    sent: (method) => sent.get(method) ?? Buffer.alloc(0),
    answer: serveWhole,
    change: undefined,
    refuse: close,
    async accept() {
      server = createServer();
      await listen();
    },
    async stop() {
      if (server.listening) await close();
    },
  };
  await listen();
  return proxy;
}

function exchangeOf(socket: Socket, answer: Answer): Exchange {
  return {
    answer,
    async write(...bytes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      // Once the gateway has left, nothing more is written.
      socket.write(joined(bytes), (error) => error ?? resolve());
      await promise;
      await sleep(TAKE_MS);
    },
    close: (...bytes) => socket.end(joined(bytes)),
    reset: () => socket.resetAndDestroy(),
  };
}

function joined(bytes: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(bytes.map((one) => Buffer.from(one)));
}

async function callBackend(backend: string, request: IncomingMessage): Promise<Answer> {
  const { method, url, headers } = request;
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !CODINGS.includes(name)));
  const call = http.request(backend + url, { method, headers: own, agent: false });
  const answered = once(call, "response");
  request.pipe(call);
  const [response] = (await answered) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    fields: pairs(response.rawHeaders).filter(([name]) => !FRAMING.has(name.toLowerCase())),
    body: await readBody(response),
  };
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] as [string, string]] : []));
}

/** A header block. What is undefined, or "", is left out. */
export function formatHead({ status, fields }: Pick<Answer, "status" | "fields">, ...more: string[]): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} Whatever`, ...lines, ...more].join("\r\n")}\r\n\r\n`;
}

export const CHUNKED = "Transfer-Encoding: chunked";
export const LAST_CHUNK = "0\r\n\r\n";

/** A chunk of the body: all of it is promised, and `end` bytes are there. */
export function chunkOf(body: Buffer, end = body.length): Buffer {
  const tail = end === body.length ? "\r\n" : "";
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body.subarray(0, end), Buffer.from(tail)]);
}

/** What happens without a fault. */
export const serveWhole: Answering = async ({ answer, write }) => {
  const body = answer.body.length > 0 ? [chunkOf(answer.body), LAST_CHUNK] : [LAST_CHUNK];
  await write(formatHead(answer, CHUNKED), ...body);
};
