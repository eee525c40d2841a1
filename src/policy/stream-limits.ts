/** Limits of streaming calls: how long one may be silent, and how many there are at once. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, CallFn, Messages, Policy, Reply } from "../call.ts";
import { createFailure, MAX_TIMER_MS } from "../protocol/deadline.ts";

export interface StreamLimits {
  /** A stream on which no message comes or is taken, either way, for so long ends with deadline_exceeded. */
  readonly idleMs: number;
  /** Streams at once; one more is resource_exhausted. Undefined: any number. */
  readonly maxStreams: number | undefined;
}

/** Unary calls are let through as they are. */
export function createStreamLimits({ idleMs, maxStreams = Number.POSITIVE_INFINITY }: StreamLimits): Policy {
  /** Of each stream, how long it may still be silent. */
  const open = new Set<() => number>();

  function admit(leftMs: () => number): void {
    // workerd ends the calls of a caller who has left without a word. Their timers would have rung by now.
    if (open.size >= maxStreams) for (const one of open) if (one() < 0) open.delete(one);
    if (open.size >= maxStreams) {
      throw new ConnectError(`${maxStreams} streams are open, which is the limit`, Code.ResourceExhausted);
    }
    open.add(leftMs);
  }

  async function run(call: Call, next: CallFn): Promise<Reply> {
    let lastMs = Date.now();
    const note = () => {
      lastMs = Date.now();
    };
    const leftMs = () => lastMs + idleMs - Date.now();
    admit(leftMs);
    const idle = new AbortController();
    const failure = createFailure();
    let answer: Messages | undefined;
    // Not set anew with each message: that would cost more than to look at the clock.
    const look = () => {
      const waitMs = leftMs();
      if (waitMs > 0) {
        timer = setTimeout(look, Math.min(waitMs, MAX_TIMER_MS));
        return;
      }
      const error = new ConnectError(`no message came or was taken for ${idleMs} ms`, Code.DeadlineExceeded);
      idle.abort(error);
      failure.fail(error);
      answer?.cancel(error);
    };
    let timer = setTimeout(look, Math.min(idleMs, MAX_TIMER_MS));
    const stop = () => {
      clearTimeout(timer);
      open.delete(leftMs);
    };
    try {
      const reply = await Promise.race([next(noteRequest(call, idle.signal, note)), failure.promise]);
      const { body } = reply;
      if (body.kind !== "stream") {
        stop();
        return reply;
      }
      const { messages } = body;
      answer = messages;
      messages.end.then(stop);
      return { ...reply, body: { ...body, messages: noteMessages(messages, note) } };
    } catch (error) {
      stop();
      throw error;
    }
  }

  return {
    reads: "message",
    wrap: (next) => (call) => (call.method.kind === "unary" ? next(call) : run(call, next)),
  };
}

function noteRequest(call: Call, idle: AbortSignal, note: () => void): Call {
  const { method, header, body } = call;
  return {
    method,
    header,
    signal: call.signal ? AbortSignal.any([call.signal, idle]) : idle,
    body: body.kind === "stream" ? { ...body, messages: noteMessages(body.messages, note) } : body,
    get timeoutMs() {
      return call.timeoutMs;
    },
  };
}

/** Asked for, one is taken of what came before. */
function noteMessages(messages: Messages, note: () => void): Messages {
  return {
    end: messages.end,
    async next() {
      note();
      const batch = await messages.next();
      note();
      return batch;
    },
    cancel: (reason) => messages.cancel(reason),
  };
}
