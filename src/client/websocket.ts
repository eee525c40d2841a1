/**
 * WebSocket (RFC 6455) on streaming methods: the one way for browsers to send and receive at once.
 *
 * A frame is a message, JSON as text or wire as binary, and an empty text frame ends the request. The end of the call
 * closes the socket: 1000, or 4000 + code with the message as the reason. A socket that the caller closes before cancels
 * the call.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Body, Messages, Reply } from "../call.ts";
import { tooLarge } from "../protocol/bytes.ts";
import { createMessages, type MessageSource, singleMessage } from "../protocol/messages.ts";
import { requestMetadata } from "../protocol/metadata.ts";
import { refuse } from "../protocol/status.ts";
import type { Method } from "../schema/model.ts";
import type { ClientOptions, Opened } from "./exchange.ts";

export interface SocketExchange {
  readonly method: Method;
  /** Aborts when the caller closes the socket, or its connection breaks. */
  readonly signal: AbortSignal;
  /** @throws ConnectError for what the head refuses: then there is no socket. */
  open(): Opened;
  /**
   * The answer that opens the socket; the reply goes out by it whenever it comes.
   *
   * @param onEnd told when the socket is closed, by whomever.
   */
  accept(reply: Promise<Reply>, onEnd: () => void): Response;
}

/** How frames are messages of the method. */
export interface SocketFormat {
  readonly method: Method;
  /** A frame → wire. Throws ConnectError. */
  encode(frame: Frame): Uint8Array;
  /** Wire → JSON text. Throws ConnectError. */
  decode(wire: Uint8Array): Uint8Array;
  /** The request when it needs no frame; undefined: it does. Throws ConnectError. */
  whole(): Uint8Array | undefined;
}

export type Frame = { readonly json: Uint8Array } | { readonly wire: Uint8Array };

/** Frames that wait for the backend may hold so many times the bytes of one message: nobody can be told to send slower. */
const MAX_WAITING = 4;

/** Subprotocols: how the gateway writes its frames. It reads both. */
const JSON_PROTOCOL = "json";
const PROTO_PROTOCOL = "proto";

export function isWebSocketUpgrade({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket";
}

export function createSocketExchange(request: Request, format: SocketFormat, options: ClientOptions): SocketExchange {
  const { method } = format;
  const closed = new AbortController();
  const incoming = createIncoming(format, options.readMaxBytes);
  const protocol = chooseProtocol(request.headers.get("sec-websocket-protocol"));

  function open(): Opened {
    checkOrigin(request.headers, options.socketOrigins);
    if (!WebSocketPair) throw refuse(501, Code.Unimplemented, "WebSockets are not served on this host");
    return { header: requestMetadata(request.headers, options.metadata), body: openBody() };
  }

  function openBody(): Body {
    if (method.kind !== "server-stream") return { kind: "stream", messages: incoming.messages, duplex: "full" };
    const whole = format.whole();
    return { kind: "message", read: async () => whole ?? (await incoming.only()) };
  }

  function accept(reply: Promise<Reply>, onEnd: () => void): Response {
    if (!WebSocketPair) throw new Error("open comes before accept");
    const { 0: client, 1: socket } = new WebSocketPair();
    socket.binaryType = "arraybuffer";
    socket.accept();
    const leave = () => {
      closed.abort();
      incoming.leave();
    };
    socket.addEventListener("message", ({ data }) => incoming.push(data));
    socket.addEventListener("close", leave);
    socket.addEventListener("error", leave);
    const toFrame = protocol === PROTO_PROTOCOL ? (wire: Uint8Array) => wire : textOf(format);
    sendReply(reply, socket, toFrame)
      .catch((error) => close(socket, error instanceof ConnectError ? error : internal(error)))
      .finally(onEnd);
    const headers = new Headers(protocol ? { "sec-websocket-protocol": protocol } : {});
    return new Response(null, { status: 101, headers, webSocket: client } as ResponseInit);
  }

  return { method, signal: closed.signal, open, accept };
}

/** The socket of workerd, as far as it is used here. Elsewhere there is none. */
interface Socket {
  binaryType: string;
  accept(): void;
  send(data: string | Uint8Array): void;
  close(code: number, reason: string): void;
  addEventListener(type: string, listener: (event: { readonly data: string | ArrayBuffer }) => void): void;
}
const { WebSocketPair } = globalThis as {
  readonly WebSocketPair?: new () => { readonly 0: Socket; readonly 1: Socket };
};

async function sendReply(
  reply: Promise<Reply>,
  socket: Socket,
  toFrame: (wire: Uint8Array) => string | Uint8Array,
): Promise<void> {
  const { body } = await reply;
  if (body.kind === "raw") throw new ConnectError("a reply that nobody can show", Code.Internal);
  const messages = body.kind === "stream" ? body.messages : singleMessage(await body.read());
  try {
    for (let batch = await messages.next(); batch; batch = await messages.next()) {
      for (const wire of batch) socket.send(toFrame(wire));
    }
  } catch (error) {
    await messages.cancel(error instanceof ConnectError ? error : internal(error));
    throw error;
  }
  const { error } = await messages.end;
  close(socket, error);
}

function textOf({ decode }: SocketFormat): (wire: Uint8Array) => string {
  const decoder = new TextDecoder();
  return (wire) => decoder.decode(decode(wire));
}

/** RFC 6455 §7.4: 4000 to 4999 are for applications; a reason has 123 bytes at most. */
function close(socket: Socket, error: ConnectError | undefined): void {
  const reason = new Uint8Array(123);
  const { written } = new TextEncoder().encodeInto(error?.rawMessage ?? "", reason);
  try {
    socket.close(error ? 4000 + error.code : 1000, new TextDecoder().decode(reason.subarray(0, written)));
  } catch {
    // The caller was first.
  }
}

function internal(error: unknown): ConnectError {
  console.error(error);
  return new ConnectError("internal error", Code.Internal);
}

interface Incoming {
  readonly messages: Messages;
  push(data: string | ArrayBuffer): void;
  /** The caller has closed the socket. */
  leave(): void;
  /** The first message; a second one is a fault. */
  only(): Promise<Uint8Array>;
}

/** Frames come when they come: they wait here, bounded, until the backend takes them. */
function createIncoming(format: SocketFormat, maxBytes: number): Incoming {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isComplete = false;
  let fault: ConnectError | undefined;
  let wake: (() => void) | undefined;

  async function* source(): MessageSource {
    for (;;) {
      if (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        waitingBytes = 0;
        yield batch;
      } else if (fault) throw fault;
      else if (isComplete) return { trailer: new Headers() };
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }

  function take(data: string | ArrayBuffer): void {
    if (data === "") {
      isComplete = true;
      return;
    }
    if (isComplete) throw new ConnectError("a frame follows the end of the request", Code.InvalidArgument);
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    const wire = format.encode(typeof data === "string" ? { json: bytes } : { wire: bytes });
    waiting.push(wire);
    waitingBytes += wire.length;
    if (waitingBytes > MAX_WAITING * maxBytes) {
      throw new ConnectError("more frames came than the backend takes", Code.ResourceExhausted);
    }
  }

  function fail(error: unknown): void {
    fault ??= error instanceof ConnectError ? error : internal(error);
  }

  const messages = createMessages(source(), { cancel: () => wake?.(), describe: internal });
  return {
    messages,
    push(data) {
      if (fault) return;
      try {
        take(data);
      } catch (error) {
        fail(error);
      }
      wake?.();
    },
    leave() {
      fail(new ConnectError("the caller has left", Code.Canceled));
      wake?.();
    },
    async only() {
      const batch = await messages.next();
      if (batch?.length === 1 && batch[0]) {
        isComplete = true;
        return batch[0];
      }
      const { error } = batch ? {} : await messages.end;
      throw error ?? new ConnectError("the request holds not one message", Code.Unimplemented);
    },
  };
}

/**
 * Browsers let any page open a socket, with the user's cookies: CORS does not stand before it.
 *
 * @param isAllowed says which origins may, besides that of the gateway itself.
 * @throws ConnectError permission_denied
 */
function checkOrigin(headers: Headers, isAllowed: (origin: string) => boolean): void {
  const origin = headers.get("origin");
  if (origin === null || isAllowed(origin)) return;
  if (origin.slice(origin.indexOf("://") + 3) === headers.get("host")) return;
  throw new ConnectError(`origin ${JSON.stringify(origin.slice(0, 200))} may not open a socket`, Code.PermissionDenied);
}

/** Who offers subprotocols wants one of them chosen. */
function chooseProtocol(offered: string | null): string | undefined {
  const names = offered?.split(",").map((name) => name.trim());
  return names?.find((name) => name === JSON_PROTOCOL || name === PROTO_PROTOCOL);
}
