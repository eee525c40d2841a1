/** Message streams: made of anything that yields messages, converted, read for one message, written as a body. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { End, Messages } from "../call.ts";
import { streamOf } from "./bytes.ts";
import { putTrailer } from "./metadata.ts";

/**
 * Yields the messages as they come, each batch with at least one, and returns how they ended. It may throw: a
 * ConnectError, or else whatever broke, of which the stream's maker says what it means.
 */
export type MessageSource = AsyncGenerator<readonly Uint8Array[], End, void>;

export interface SourceControl {
  /** Frees what the source reads from, so that a read which is waiting comes to its end. Also told of the source's own failure. Never rejects. */
  cancel(reason: ConnectError): unknown;
  /** What it means that the source threw something else than a ConnectError. */
  describe(error: unknown): ConnectError;
}

/** A message stream as the waist wants it: whatever the source does, the end is a value and settles once. */
export function createMessages(source: MessageSource, { cancel, describe }: SourceControl): Messages {
  let settle: (end: End) => void = () => undefined;
  const end = new Promise<End>((resolve) => {
    settle = resolve;
  });
  let isOpen = true;
  /** Resolves a `next()` that waits. */
  let wake: ((batch: undefined) => void) | undefined;

  function finish(last: End): void {
    if (!isOpen) return;
    isOpen = false;
    settle(last);
    wake?.(undefined);
  }

  function fail(fault: unknown): void {
    if (!isOpen) return;
    const error = fault instanceof ConnectError ? fault : describe(fault);
    finish(failed(error));
    cancel(error);
  }

  return {
    end,
    next() {
      if (!isOpen) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        wake = resolve;
        source.next().then(({ done, value }) => {
          if (done) finish(value);
          else if (isOpen) resolve(value);
        }, fail);
      });
    },
    async cancel(reason) {
      if (!isOpen) return;
      finish(failed(reason));
      await cancel(reason);
      await source.return(failed(reason)).catch(() => undefined);
    },
  };
}

function failed(error: ConnectError): End {
  return { error, trailer: new Headers() };
}

/**
 * The same stream, each message converted.
 *
 * @param convert what it throws ends the stream, after the messages before, and cancels where they come from.
 */
export function mapMessages(messages: Messages, convert: (message: Uint8Array) => Uint8Array): Messages {
  async function* source(): MessageSource {
    for (let batch = await messages.next(); batch; batch = await messages.next()) {
      const converted: Uint8Array[] = [];
      let fault: unknown;
      try {
        for (const message of batch) converted.push(convert(message));
      } catch (error) {
        fault = error;
      }
      if (converted.length > 0) yield converted;
      if (fault !== undefined) throw fault;
    }
    return messages.end;
  }
  return createMessages(source(), {
    cancel: (reason) => messages.cancel(reason),
    describe(error) {
      console.error(error);
      return new ConnectError("internal error", Code.Internal);
    },
  });
}

/** The same stream, whose first `next()` was called already. */
export function withFirst(first: Promise<readonly Uint8Array[] | undefined>, messages: Messages): Messages {
  let taken: typeof first | undefined = first;
  return {
    end: messages.end,
    next() {
      const batch = taken ?? messages.next();
      taken = undefined;
      return batch;
    },
    cancel(reason) {
      taken = undefined;
      return messages.cancel(reason);
    },
  };
}

/** A stream of one message. */
export function singleMessage(message: Uint8Array, trailer = new Headers()): Messages {
  let batch: readonly Uint8Array[] | undefined = [message];
  return {
    end: Promise.resolve({ trailer }),
    async next() {
      const only = batch;
      batch = undefined;
      return only;
    },
    async cancel() {},
  };
}

export interface Single {
  readonly message: Uint8Array;
  readonly trailer: Headers;
}

/**
 * The one message of a stream that has to hold one.
 *
 * @param what names it in errors: "request", "answer".
 * @throws ConnectError the stream's own failure, with the trailer as `trailer-*` metadata; unimplemented when there is
 *   none or a second one, as Connect and gRPC have it.
 */
export async function readSingle(messages: Messages, what: string): Promise<Single> {
  let single: Uint8Array | undefined;
  for (let batch = await messages.next(); batch; batch = await messages.next()) {
    if (single || batch.length > 1) {
      const error = new ConnectError(`the ${what} holds more than one message`, Code.Unimplemented);
      await messages.cancel(error);
      throw error;
    }
    single = batch[0];
  }
  const end = await messages.end;
  if (end.error) throw failureOf(end.error, end.trailer);
  if (!single) throw new ConnectError(`the ${what} holds no message`, Code.Unimplemented);
  return { message: single, trailer: end.trailer };
}

/** The failure of a stream as that of a call: trailing metadata becomes `trailer-*` metadata of the error. */
export function failureOf(error: ConnectError, trailer: Headers): ConnectError {
  putTrailer(error.metadata, trailer);
  return error;
}

export interface MessageFormat {
  /** The bytes of a batch. */
  batch(messages: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>;
  /** The last bytes, if any. What it throws breaks the transfer. */
  end(end: End): Uint8Array | undefined;
  /** What is written when nothing has come for so long. Default: nothing. */
  readonly idle?: Idle;
}

export interface Idle {
  readonly afterMs: number;
  readonly bytes: Uint8Array;
}

/** The body that carries a stream. When its reader leaves, the stream is cancelled. */
export function writeMessages(messages: Messages, { batch, end, idle }: MessageFormat): ReadableStream<Uint8Array> {
  let isOpen = true;
  let pending: Promise<readonly Uint8Array[] | undefined> | undefined;
  return streamOf({
    async next() {
      if (!isOpen) return undefined;
      pending ??= messages.next();
      if (idle && !(await settlesWithin(pending, idle.afterMs))) return idle.bytes;
      const came = await pending;
      pending = undefined;
      if (came) return batch(came);
      isOpen = false;
      return end(await messages.end);
    },
    cancel: () => messages.cancel(new ConnectError("the reader has left", Code.Canceled)),
  });
}

/** @param promise one that never rejects. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
