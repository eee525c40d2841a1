/**
 * The waist: N client protocols and M upstream protocols meet at `Call` and `Reply`, which carry protobuf wire bytes.
 * JSON exists only on a side that speaks JSON.
 */
import type { ConnectError } from "@connectrpc/connect";
import type { Method } from "./schema/model.ts";

export interface Call {
  readonly method: Method;
  /** Request metadata, already cleaned of what belongs to the client's exchange. Owned by the call. */
  readonly header: Headers;
  /** What is left of the deadline, in whole milliseconds, at least 1. Undefined: there is none. */
  readonly timeoutMs?: number | undefined;
  /**
   * Aborts when the caller leaves or the deadline passes. Undefined: there is no deadline, and the runtime itself ends
   * what was begun for a caller who has left.
   */
  readonly signal?: AbortSignal | undefined;
  readonly body: Body;
}

export interface Reply {
  /** Response metadata. */
  readonly header: Headers;
  readonly body: Body;
  /**
   * Trailing metadata of a unary reply. A unary failure is a thrown ConnectError, whose metadata holds trailing
   * entries as `trailer-` + name.
   */
  readonly trailer?: Headers;
}

export type Body =
  /** One message, read and transcoded when asked for. Rejects with a ConnectError. */
  | { readonly kind: "message"; read(): Promise<Uint8Array> }
  | {
      readonly kind: "stream";
      readonly messages: Messages;
      /** Of a request: its caller may wait for an answer before it sends a message. Default: it does not. */
      readonly duplex?: "full";
    }
  /** Passthrough: untouched bytes of the caller's protocol. */
  | {
      readonly kind: "raw";
      readonly stream: ReadableStream<Uint8Array> | null;
      /** Of an answer: when it has a Content-Encoding, the runtime does not know that its bytes are so coded. Default: it does. */
      readonly coded?: boolean;
    };

/** A message stream. It never throws: its end is a value. */
export interface Messages {
  /** All whole messages that have arrived, at least one; undefined at the end. Never rejects. */
  next(): Promise<readonly Uint8Array[] | undefined>;
  /** Always settles, after cancel too. */
  readonly end: Promise<End>;
  /** A pending `next()` then resolves undefined. */
  cancel(reason: ConnectError): Promise<void>;
}

export interface End {
  readonly error?: ConnectError;
  readonly trailer: Headers;
}

export type CallFn = (call: Call) => Promise<Reply>;

/** The inner onion. Without `reads` a policy sees head, signal, header, trailer and end only. */
export interface Policy {
  readonly reads?: "message";
  wrap(next: CallFn): CallFn;
}

export type FetchFn = (request: Request) => Promise<Response>;

/** The outer onion: CORS, HTTP cache, access log. */
export type HttpFilter = (next: FetchFn) => FetchFn;
