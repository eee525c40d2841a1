import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { callerSignal, parseTimeout, startDeadline } from "../../src/protocol/deadline.ts";

// Connect protocol, Timeout; gRPC over HTTP/2, Timeout.
test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ "connect-timeout-ms": "0" }, 0],
  [{ "connect-timeout-ms": "5000" }, 5_000],
  [{ "connect-timeout-ms": "9999999999" }, 9_999_999_999],
  [{ "grpc-timeout": "1H" }, 3_600_000],
  [{ "grpc-timeout": "2M" }, 120_000],
  [{ "grpc-timeout": "3S" }, 3_000],
  [{ "grpc-timeout": "4m" }, 4],
  [{ "grpc-timeout": "1u" }, 1],
  [{ "grpc-timeout": "1500u" }, 2],
  [{ "grpc-timeout": "1n" }, 1],
  [{ "grpc-timeout": "99999999n" }, 100],
  [{ "grpc-timeout": "99999999H" }, 99_999_999 * 3_600_000],
  [{ "x-server-timeout": "10" }, 10_000],
  [{ "x-server-timeout": "0.25" }, 250],
  [{ "x-server-timeout": "0.0001" }, 1],
  [{ "connect-timeout-ms": "700", "grpc-timeout": "1S", "x-server-timeout": "2" }, 700],
  [{ "connect-timeout-ms": "7000", "grpc-timeout": "1S", "x-server-timeout": "2" }, 1_000],
  [{ "connect-timeout-ms": "7000", "x-server-timeout": "2" }, 2_000],
])("%j allows %j ms", (header, timeoutMs) => {
  expect(parseTimeout(new Headers(header))).toBe(timeoutMs);
});

test.each([
  ["connect-timeout-ms", ""],
  ["connect-timeout-ms", "-1"],
  ["connect-timeout-ms", "+1"],
  ["connect-timeout-ms", "1.5"],
  ["connect-timeout-ms", "1e3"],
  ["connect-timeout-ms", "12345678901"],
  ["connect-timeout-ms", "5, 6"],
  ["grpc-timeout", ""],
  ["grpc-timeout", "5"],
  ["grpc-timeout", "S"],
  ["grpc-timeout", "5s"],
  ["grpc-timeout", "5 S"],
  ["grpc-timeout", "123456789S"],
  ["grpc-timeout", "1.5S"],
  ["x-server-timeout", ""],
  ["x-server-timeout", "soon"],
  ["x-server-timeout", "-1"],
  ["x-server-timeout", "1e9"],
  ["x-server-timeout", "Infinity"],
  ["x-server-timeout", ".5"],
])("%s: %j is malformed", (name, value) => {
  expect(() => parseTimeout(new Headers({ [name]: value }))).toThrow(
    expect.toSatisfy((error) => error.code === Code.InvalidArgument && error.message.includes(name)),
  );
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function reasonCode(signal: AbortSignal | undefined): Code | undefined {
  return signal?.reason instanceof ConnectError ? signal.reason.code : undefined;
}

test("expires with deadline_exceeded, not before", () => {
  const { signal, remainingMs } = startDeadline(new AbortController().signal, 1_000);
  expect(remainingMs()).toBe(1_000);
  vi.advanceTimersByTime(999);
  expect(signal?.aborted).toBe(false);
  expect(remainingMs()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(reasonCode(signal)).toBe(Code.DeadlineExceeded);
  vi.advanceTimersByTime(500);
  expect(remainingMs()).toBe(1);
});

test("extended, it expires later, with the same budget", () => {
  const { signal, remainingMs, extend } = startDeadline(new AbortController().signal, 1_000);
  vi.advanceTimersByTime(400);
  extend(500);
  expect(remainingMs()).toBe(600);
  vi.advanceTimersByTime(1_099);
  expect(signal?.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(reasonCode(signal)).toBe(Code.DeadlineExceeded);
});

test.each([undefined, 1_000])("what has stopped, or has no timer, is not extended, timeout %j", (timeoutMs) => {
  const deadline = startDeadline(new AbortController().signal, timeoutMs);
  deadline.stop();
  deadline.extend(500);
  expect(vi.getTimerCount()).toBe(0);
});

test("zero is over at once", () => {
  expect(reasonCode(startDeadline(new AbortController().signal, 0).signal)).toBe(Code.DeadlineExceeded);
});

test("the caller's leaving cancels, and comes first", () => {
  const caller = new AbortController();
  const { signal } = startDeadline(caller.signal, 1_000);
  caller.abort();
  vi.advanceTimersByTime(2_000);
  expect(reasonCode(signal)).toBe(Code.Canceled);
});

test.each([undefined, 1_000])("a caller who has left before, timeout %j", (timeoutMs) => {
  expect(reasonCode(startDeadline(AbortSignal.abort(), timeoutMs).signal)).toBe(Code.Canceled);
});

test("without a timeout there is no timer and no budget", () => {
  const caller = new AbortController();
  const { signal, remainingMs } = startDeadline(caller.signal, undefined);
  expect(vi.getTimerCount()).toBe(0);
  expect(remainingMs()).toBeUndefined();
  caller.abort();
  expect(reasonCode(signal)).toBe(Code.Canceled);
});

test("2^31-1 ms has a timer; beyond it there is a budget only", () => {
  startDeadline(new AbortController().signal, 2 ** 31 - 1).stop();
  expect(vi.getTimerCount()).toBe(0);
  const { signal, remainingMs } = startDeadline(new AbortController().signal, 2 ** 31);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10);
  expect(signal?.aborted).toBe(false);
  expect(remainingMs()).toBe(2 ** 31 - 10);
});

test.each([undefined, 1_000])("stop frees the timer and forgets the caller, timeout %j", (timeoutMs) => {
  const caller = new AbortController();
  const deadline = startDeadline(caller.signal, timeoutMs);
  deadline.stop();
  caller.abort();
  vi.advanceTimersByTime(5_000);
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline.signal?.aborted).toBe(false);
});

test("a race is lost with the reason, also by work that begins later", async () => {
  const caller = new AbortController();
  const { signal, race } = startDeadline(caller.signal, 1_000);
  const never = new Promise<never>(() => undefined);
  const lost = race(never);
  caller.abort();
  await expect(lost).rejects.toBe(signal?.reason);
  await expect(race(never)).rejects.toBe(signal?.reason);
  expect(reasonCode(signal)).toBe(Code.Canceled);
});

test.each([undefined, AbortSignal.abort()])("a race is won by what the work comes to, caller %j", async (caller) => {
  const failure = new Error("work");
  const { race } = startDeadline(caller, undefined);
  await expect(race(Promise.resolve(1))).resolves.toBe(1);
  await expect(race(Promise.reject(failure))).rejects.toBe(failure);
});

test("without a caller and a timeout nothing can abort", () => {
  const { signal, remainingMs } = startDeadline(undefined, undefined);
  expect(signal).toBeUndefined();
  expect(remainingMs()).toBeUndefined();
});

test("without a caller a deadline still expires", () => {
  const { signal } = startDeadline(undefined, 1_000);
  vi.advanceTimersByTime(1_000);
  expect(reasonCode(signal)).toBe(Code.DeadlineExceeded);
});

test("in Node nobody but the request's signal tells that its caller has left", () => {
  const request = new Request("http://gateway.example/");
  expect(callerSignal(request)).toBe(request.signal);
});
