/** Limits of streaming calls: how long one may be silent, and how many there are at once. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, CallFn, Messages, Policy, Reply } from "../call.ts";

export interface StreamLimits {
  /** A stream on which no message comes or is taken, either way, for so long ends with deadline_exceeded. */
  readonly idleMs: number;
  /** Streams at once; one more is resource_exhausted. Undefined: any number. */
  readonly maxStreams: number | undefined;
}

/** Timers hold no longer time. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Unary calls are let through as they are. */
export function createStreamLimits({ idleMs, maxStreams = Number.POSITIVE_INFINITY }: StreamLimits): Policy {
  const open = new Set<Watch>();

  function admit(watch: Watch): void {
    // workerd ends the calls of a caller who has left without a word. Their timers would have rung by now.
    if (open.size >= maxStreams) for (const one of open) if (one.isOver()) open.delete(one);
    if (open.size >= maxStreams) {
      watch.stop();
      throw new ConnectError(`${maxStreams} streams are open, which is the limit`, Code.ResourceExhausted);
    }
    open.add(watch);
  }

  async function run(call: Call, next: CallFn): Promise<Reply> {
    const idle = new AbortController();
    const failed = Promise.withResolvers<never>();
    // Raced or not: a stream that began before it fell silent fails by its end.
    failed.promise.catch(() => undefined);
    let answer: Messages | undefined;
    const watch = startWatch(idleMs, () => {
      const error = new ConnectError(`no message came or was taken for ${idleMs} ms`, Code.DeadlineExceeded);
      idle.abort(error);
      failed.reject(error);
      answer?.cancel(error);
    });
    admit(watch);
    const stop = () => {
      watch.stop();
      open.delete(watch);
    };
    try {
      const reply = await Promise.race([next(noteRequest(call, idle.signal, watch.note)), failed.promise]);
      const { body } = reply;
      if (body.kind !== "stream") {
        stop();
        return reply;
      }
      const { messages } = body;
      answer = messages;
      messages.end.then(stop);
      return { ...reply, body: { ...body, messages: noteMessages(messages, watch.note) } };
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

interface Watch {
  /** Something has happened. */
  note(): void;
  /** Nothing has for longer than may be. */
  isOver(): boolean;
  stop(): void;
}

/** @param onIdle called once, unless it is stopped before. */
function startWatch(idleMs: number, onIdle: () => void): Watch {
  let lastMs = Date.now();
  const leftMs = () => lastMs + idleMs - Date.now();
  // Not set anew each time: that would cost more than to look at the clock.
  const look = () => {
    if (leftMs() <= 0) onIdle();
    else timer = setTimeout(look, Math.min(leftMs(), MAX_TIMER_MS));
  };
  let timer = setTimeout(look, Math.min(idleMs, MAX_TIMER_MS));
  return {
    note() {
      lastMs = Date.now();
    },
    isOver: () => leftMs() < 0,
    stop: () => clearTimeout(timer),
  };
}
