/** Calls as the waist has them, and a backend that is a function. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, End, Messages } from "../../src/call.ts";
import { createMessages, type MessageSource } from "../../src/protocol/messages.ts";
import type { Method } from "../../src/schema/model.ts";
import { compileProto } from "../proto.ts";

const schema = await compileProto(`
  syntax = "proto3";
  package test;
  service Service {
    rpc Unary(M) returns (M);
    rpc Server(M) returns (stream M);
    rpc Client(stream M) returns (M);
    rpc Bidi(stream M) returns (stream M);
  }
  message M { bytes data = 1; }
`);

export type MethodName = "Unary" | "Server" | "Client" | "Bidi";

export function methodOf(name: MethodName): Method {
  const method = schema.services[0]?.methods.find((method) => method.name === name);
  if (!method) throw new Error(`no method ${name}`);
  return method;
}

export const MESSAGE = Uint8Array.of(0x0a, 2, 7, 8);

export function callOf(name: MethodName, rest: Partial<Call> = {}): Call {
  return {
    method: methodOf(name),
    header: new Headers(),
    signal: new AbortController().signal,
    body: { kind: "message", read: async () => MESSAGE },
    ...rest,
  };
}

/** A request stream that the test drives. */
export interface Driven {
  readonly messages: Messages;
  send(message: Uint8Array): void;
  /** An error breaks it. */
  end(error?: ConnectError): void;
  /** Why it was cancelled. */
  readonly cancelled: Promise<ConnectError>;
}

export function driven(): Driven {
  const batches: (readonly Uint8Array[] | ConnectError | undefined)[] = [];
  let wake = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<ConnectError>();
  const push = (batch: readonly Uint8Array[] | ConnectError | undefined) => {
    batches.push(batch);
    wake.resolve();
  };
  async function* source(): MessageSource {
    for (;;) {
      while (batches.length === 0) {
        await wake.promise;
        wake = Promise.withResolvers();
      }
      const batch = batches.shift();
      if (batch instanceof ConnectError) throw batch;
      if (!batch) return { trailer: new Headers() };
      yield batch;
    }
  }
  const messages = createMessages(source(), {
    cancel(reason) {
      cancelled.resolve(reason);
      push(undefined);
    },
    describe: () => new ConnectError("not expected", Code.Unknown),
  });
  return { messages, send: (message) => push([message]), end: push, cancelled: cancelled.promise };
}

export async function drain(messages: Messages): Promise<{ messages: number[][]; end: End }> {
  const seen: number[][] = [];
  for (let batch = await messages.next(); batch; batch = await messages.next())
    seen.push(...batch.map((one) => [...one]));
  return { messages: seen, end: await messages.end };
}

/** What a fetch was asked for. */
export interface Fetched {
  readonly url: string;
  readonly init: RequestInit & { readonly cf?: object };
}

export interface FakeBackend {
  readonly seen: Fetched[];
  readonly fetch: typeof fetch;
}

/** A backend that reads the whole request, and then answers so. */
export function fakeBackend(answer: () => Response): FakeBackend {
  const seen: Fetched[] = [];
  return {
    seen,
    async fetch(url, init = {}) {
      if (init.body instanceof ReadableStream) await new Response(init.body).arrayBuffer();
      seen.push({ url: String(url), init });
      return answer();
    },
  };
}

/** A body that tells when it is let go. */
export function watched(bytes: Uint8Array): {
  readonly body: ReadableStream<Uint8Array>;
  readonly gone: Promise<void>;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) controller.enqueue(bytes);
      sent = true;
    },
    cancel: () => resolve(),
  });
  return { body, gone: promise };
}
