import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Call, CallFn, Reply } from "../../src/call.ts";
import { createStreamLimits, type StreamLimits } from "../../src/policy/stream-limits.ts";
import { failure } from "../failure.ts";
import { callOf, type Driven, driven, MESSAGE } from "../upstream/call.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const IDLE_MS = 1000;
const IDLE = failure(Code.DeadlineExceeded, "1000 ms");

function limited(next: CallFn, limits: Partial<StreamLimits> = {}): CallFn {
  return createStreamLimits({ idleMs: IDLE_MS, maxStreams: undefined, ...limits }).wrap(next);
}

/** A backend whose answer the test drives, and the call that reached it. */
function backend() {
  const answer = driven();
  const calls: Call[] = [];
  const next: CallFn = async (call) => {
    calls.push(call);
    return { header: new Headers(), body: { kind: "stream", messages: answer.messages } };
  };
  return { answer, calls, next };
}

function messagesOf({ body }: Reply) {
  if (body.kind !== "stream") throw new Error(`a body that is ${body.kind}`);
  return body.messages;
}

describe("a stream that is silent", () => {
  test.each([
    ["Server", 0],
    ["Bidi", 0],
    ["Server", 3],
    ["Bidi", 3],
  ] as const)("%s, after %i messages, ends in time, and so does the backend's call", async (name, count) => {
    const { answer, calls, next } = backend();
    const messages = messagesOf(await limited(next)(callOf(name)));
    for (let i = 0; i < count; i++) {
      const batch = messages.next();
      await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
      answer.send(MESSAGE);
      expect(await batch).toEqual([MESSAGE]);
    }
    const last = messages.next();
    await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
    expect(calls[0]?.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await last).toBeUndefined();
    expect((await messages.end).error).toEqual(IDLE);
    expect(calls[0]?.signal?.reason).toEqual(IDLE);
    expect(await answer.cancelled).toEqual(IDLE);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends when nobody takes what has come", async () => {
    const { answer, next } = backend();
    const messages = messagesOf(await limited(next)(callOf("Server")));
    answer.send(MESSAGE);
    await messages.next();
    answer.send(MESSAGE);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect((await messages.end).error).toEqual(IDLE);
  });

  test("lives while the caller sends", async () => {
    const request = driven();
    const { calls, next } = backend();
    const reply = await limited(next)(callOf("Bidi", { body: { kind: "stream", messages: request.messages } }));
    const sent = messagesOf({ header: new Headers(), body: calls[0]?.body ?? reply.body });
    for (let i = 0; i < 5; i++) {
      const batch = sent.next();
      await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
      request.send(MESSAGE);
      expect(await batch).toEqual([MESSAGE]);
    }
    expect(calls[0]?.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect((await messagesOf(reply).end).error).toEqual(IDLE);
  });

  test.each(["Server", "Client", "Bidi"] as const)("%s, whose backend does not answer, fails in time", async (name) => {
    const failed = expect(limited(() => new Promise(() => undefined))(callOf(name))).rejects.toEqual(IDLE);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    await failed;
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("the caller's own signal, and the deadline, pass", async () => {
  const { calls, next } = backend();
  const caller = new AbortController();
  await limited(next)({ ...callOf("Server"), signal: caller.signal, timeoutMs: 7 });
  expect(calls[0]?.timeoutMs).toBe(7);
  caller.abort("gone");
  expect(calls[0]?.signal?.reason).toBe("gone");
});

test.each<[string, (answer: Driven) => void]>([
  ["well", (answer) => answer.end()],
  ["badly", (answer) => answer.end(new ConnectError("broken", Code.Internal))],
])("a stream that ended %s leaves no timer", async (_, end) => {
  const { answer, next } = backend();
  const messages = messagesOf(await limited(next)(callOf("Server")));
  end(answer);
  expect(await messages.next()).toBeUndefined();
  await messages.end;
  expect(vi.getTimerCount()).toBe(0);
});

test("unary calls have no limits here", async () => {
  const { calls, next } = backend();
  const call = callOf("Unary");
  await limited(next, { maxStreams: 1 })(call);
  await limited(next, { maxStreams: 1 })(call);
  expect(calls).toEqual([call, call]);
  expect(vi.getTimerCount()).toBe(0);
});

describe("streams at once", () => {
  const MAX = 3;
  const FULL = failure(Code.ResourceExhausted, "3 streams");

  /** A policy before streams that go on, as many as it takes; and what ends the n-th. */
  function crowd() {
    const answers: Driven[] = [];
    const policy = createStreamLimits({ idleMs: IDLE_MS, maxStreams: MAX });
    // Each service has a backend of its own; all count together.
    const open = () =>
      policy.wrap(async () => {
        const answer = driven();
        answers.push(answer);
        return { header: new Headers(), body: { kind: "stream", messages: answer.messages } };
      })(callOf("Server"));
    return { answers, open, policy };
  }

  test("one below the limit, the limit, one above", async () => {
    const { answers, open } = crowd();
    for (let i = 0; i < MAX; i++) await open();
    await expect(open()).rejects.toEqual(FULL);
    expect(answers).toHaveLength(MAX);
    expect(vi.getTimerCount()).toBe(MAX);
  });

  test("one that has ended makes room for another, whether it was taken or not", async () => {
    const { answers, open } = crowd();
    const replies = [await open(), await open(), await open()];
    answers[1]?.end();
    await messagesOf(replies[1] as Reply).next();
    await messagesOf(replies[1] as Reply).end;
    await open();
    await messagesOf(replies[0] as Reply).cancel(new ConnectError("gone", Code.Canceled));
    await open();
    await expect(open()).rejects.toEqual(FULL);
  });

  test("so does one that fails, or is answered with one message", async () => {
    const { open, policy } = crowd();
    await open();
    await open();
    const failing = policy.wrap(() => Promise.reject(new ConnectError("no", Code.NotFound)));
    const single = policy.wrap(async () => ({
      header: new Headers(),
      body: { kind: "message", read: async () => MESSAGE },
    }));
    for (let i = 0; i < MAX; i++) {
      await expect(failing(callOf("Server"))).rejects.toEqual(failure(Code.NotFound, "no"));
      await single(callOf("Client"));
    }
    await open();
    await expect(open()).rejects.toEqual(FULL);
  });

  test("so does one whose call the runtime has ended without a word, once it would have been idle", async () => {
    const { open } = crowd();
    for (let i = 0; i < MAX; i++) await open();
    vi.clearAllTimers();
    vi.setSystemTime(Date.now() + IDLE_MS);
    await expect(open()).rejects.toEqual(FULL);
    vi.setSystemTime(Date.now() + 1);
    await open();
  });
});
