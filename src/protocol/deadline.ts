/** Deadlines: the three headers that carry them, and the signal that ends a call. */
import { Code, ConnectError } from "@connectrpc/connect";

/** Timers hold a signed 32-bit number of milliseconds; a longer wait would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const GRPC_UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * What the caller allows, in whole milliseconds rounded up, the shortest of:
 * `Connect-Timeout-Ms` (at most 10 digits), `grpc-timeout` (at most 8 digits and a unit), `X-Server-Timeout` (seconds,
 * a fraction allowed).
 *
 * @returns undefined when none is given.
 * @throws ConnectError invalid_argument naming the header that is malformed.
 */
export function parseTimeout(header: Headers): number | undefined {
  const timeouts = [parseConnect(header), parseGrpc(header), parseServer(header)].filter((ms) => ms !== undefined);
  return timeouts.length > 0 ? Math.min(...timeouts) : undefined;
}

function parseConnect(header: Headers): number | undefined {
  const text = header.get("connect-timeout-ms");
  if (text === null) return undefined;
  if (!/^[0-9]{1,10}$/.test(text)) throw malformed("connect-timeout-ms", text);
  return Number(text);
}

function parseGrpc(header: Headers): number | undefined {
  const text = header.get("grpc-timeout");
  if (text === null) return undefined;
  const [, digits, unit] = /^([0-9]{1,8})([HMSmun])$/.exec(text) ?? [];
  const unitMs = GRPC_UNIT_MS[unit ?? ""];
  if (unitMs === undefined) throw malformed("grpc-timeout", text);
  return Math.ceil(Number(digits) * unitMs);
}

function parseServer(header: Headers): number | undefined {
  const text = header.get("x-server-timeout");
  if (text === null) return undefined;
  if (!/^[0-9]{1,15}(\.[0-9]+)?$/.test(text)) throw malformed("x-server-timeout", text);
  return Math.ceil(Number(text) * 1_000);
}

function malformed(name: string, text: string): ConnectError {
  return new ConnectError(`${name}: ${JSON.stringify(text.slice(0, 40))} is no timeout`, Code.InvalidArgument);
}

export interface Deadline {
  /**
   * Aborts with a ConnectError: canceled when the caller leaves, deadline_exceeded when the time is over. Undefined:
   * neither can happen.
   */
  readonly signal: AbortSignal | undefined;
  /** What the work comes to, or rejects with the signal's reason once it aborts: for work that knows no signal. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Milliseconds left, at least 1; undefined without a deadline. */
  remainingMs(): number | undefined;
  /** The timer, if there is one, runs on for that much longer; `remainingMs` does not. */
  extend(ms: number): void;
  /** Frees the timer. The signal stays as it is. */
  stop(): void;
}

/**
 * Whether the runtime ends all that a request has begun when its caller leaves, as workerd does. To be told of it by the
 * request's signal, and to tell the fetch, costs a tenth of the CPU of a request of 1 kB there.
 */
const RUNTIME_ENDS_CALLS = "IdentityTransformStream" in globalThis;

/** The signal of a request whose caller may leave unseen; undefined where the runtime sees to it. */
export function callerSignal(request: Request): AbortSignal | undefined {
  return RUNTIME_ENDS_CALLS ? undefined : request.signal;
}

const NO_DEADLINE: Deadline = {
  signal: undefined,
  race: (work) => work,
  remainingMs: () => undefined,
  extend: () => undefined,
  stop: () => undefined,
};

/**
 * @param caller aborts when the caller leaves. Undefined: that is not watched.
 * @param timeoutMs undefined: no deadline. Zero is over at once. Beyond 2³¹−1 there is no timer, but the budget is
 *   still passed on.
 */
export function startDeadline(caller: AbortSignal | undefined, timeoutMs: number | undefined): Deadline {
  if (timeoutMs === undefined) return caller ? watch(caller) : NO_DEADLINE;
  const { abort, ...watched } = watch(caller);
  const startedMs = Date.now();
  const remainingMs = () => Math.max(1, timeoutMs - (Date.now() - startedMs));
  const expire = () => abort(new ConnectError("the deadline has passed", Code.DeadlineExceeded));
  if (timeoutMs === 0) expire();
  let timer = timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS ? setTimeout(expire, timeoutMs) : undefined;
  return {
    ...watched,
    remainingMs,
    extend(ms) {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(remainingMs() + ms, MAX_TIMER_MS));
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      watched.stop();
    },
  };
}

/** A promise to race with work that knows no signal. That it fails when nobody waits any more is no fault of the program. */
export function createFailure(): { readonly promise: Promise<never>; fail(reason: ConnectError): void } {
  let fail: (reason: ConnectError) => void = () => undefined;
  const promise = new Promise<never>((_, reject) => {
    fail = reject;
  });
  promise.catch(() => undefined);
  return { promise, fail };
}

interface Watch extends Deadline {
  abort(reason: ConnectError): void;
}

function watch(caller: AbortSignal | undefined): Watch {
  const controller = new AbortController();
  const aborted = createFailure();
  const abort = (reason: ConnectError) => {
    controller.abort(reason);
    aborted.fail(reason);
  };
  const leave = () => abort(new ConnectError("the caller has left", Code.Canceled));
  if (caller?.aborted) leave();
  else caller?.addEventListener("abort", leave, { once: true });
  return {
    signal: controller.signal,
    abort,
    race: (work) => Promise.race([work, aborted.promise]),
    remainingMs: () => undefined,
    extend: () => undefined,
    stop: () => caller?.removeEventListener("abort", leave),
  };
}
