import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { expect, test } from "vitest";
import { bodyInit, openEnvelopes, type Payload } from "../../src/upstream/backend.ts";
import { failure } from "../failure.ts";
import { callOf, driven, MESSAGE } from "./call.ts";

const BROKEN = new ConnectError("line 3 is no JSON", Code.InvalidArgument);
const ENVELOPE = [...encodeEnvelope(0, MESSAGE)];

async function bytesOf(payload: Payload): Promise<number[]> {
  return [...(await new Response(payload as BodyInit).bytes())];
}

function readerOf(payload: Payload): ReadableStreamDefaultReader<Uint8Array> {
  if (!(payload instanceof ReadableStream)) throw new Error("no stream");
  return payload.getReader();
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

test("one message is one envelope, and a raw body is what it is", async () => {
  const { payload } = await openEnvelopes(callOf("Unary"));
  expect(await bytesOf(payload)).toEqual(ENVELOPE);
  const stream = new Blob(["any"]).stream();
  expect((await openEnvelopes(callOf("Unary", { body: { kind: "raw", stream } }))).payload).toBe(stream);
});

test("a stream is its envelopes, as they come", async () => {
  const request = driven();
  request.send(MESSAGE);
  const { payload, call } = await openEnvelopes(
    callOf("Client", { body: { kind: "stream", messages: request.messages } }),
  );
  const reader = readerOf(payload);
  expect([...((await reader.read()).value ?? [])]).toEqual(ENVELOPE);
  const second = reader.read();
  request.send(MESSAGE);
  expect([...((await second).value ?? [])]).toEqual(ENVELOPE);
  request.end();
  expect((await reader.read()).done).toBe(true);
  expect(call.signal?.aborted).toBe(false);
});

test("a stream that is wrong from its start calls nobody", async () => {
  const request = driven();
  request.end(BROKEN);
  const opened = openEnvelopes(callOf("Client", { body: { kind: "stream", messages: request.messages } }));
  await expect(opened).rejects.toBe(BROKEN);
});

test("an empty stream is an empty body", async () => {
  const request = driven();
  request.end();
  const { payload } = await openEnvelopes(callOf("Client", { body: { kind: "stream", messages: request.messages } }));
  expect(await bytesOf(payload)).toEqual([]);
});

test("one that may wait for the answer is not waited for", async () => {
  const { messages } = driven();
  const { payload } = await openEnvelopes(callOf("Bidi", { body: { kind: "stream", messages, duplex: "full" } }));
  expect(payload).toBeInstanceOf(ReadableStream);
});

test("a request that breaks midway breaks its body and aborts the call, with its own error", async () => {
  const request = driven();
  request.send(MESSAGE);
  const { payload, call } = await openEnvelopes(
    callOf("Client", { body: { kind: "stream", messages: request.messages } }),
  );
  const reader = readerOf(payload);
  await reader.read();
  request.end(BROKEN);
  await expect(reader.read()).rejects.toBe(BROKEN);
  expect(call.signal?.reason).toBe(BROKEN);
});

test("a call that is aborted cancels its request, before its first message and later", async () => {
  const reason = new ConnectError("the caller has left", Code.Canceled);
  const waiting = driven();
  const first = new AbortController();
  const body = { kind: "stream", messages: waiting.messages } as const;
  const opened = openEnvelopes(callOf("Client", { body, signal: first.signal }));
  first.abort(reason);
  await expect(opened).rejects.toBe(reason);
  expect(await waiting.cancelled).toBe(reason);

  const running = driven();
  running.send(MESSAGE);
  const later = new AbortController();
  const { call } = await openEnvelopes(
    callOf("Client", { body: { kind: "stream", messages: running.messages }, signal: later.signal }),
  );
  later.abort(reason);
  expect([call.signal?.reason, await running.cancelled]).toEqual([reason, reason]);
});

test("a backend that reads no more ends the request, and not the call: its answer may be on the way", async () => {
  const request = driven();
  request.send(MESSAGE);
  const { payload, call } = await openEnvelopes(
    callOf("Client", { body: { kind: "stream", messages: request.messages } }),
  );
  await readerOf(payload).cancel();
  expect(await request.cancelled).toEqual(failure(Code.Canceled, "not wanted"));
  await tick();
  expect(call.signal?.aborted).toBe(false);
});

test("a call that has ended cancels the rest of its request, which breaks rather than end cleanly", async () => {
  const request = driven();
  request.send(MESSAGE);
  const caller = new AbortController();
  const { payload, call, stop } = await openEnvelopes(
    callOf("Client", { body: { kind: "stream", messages: request.messages }, signal: caller.signal }),
  );
  const reader = readerOf(payload);
  await reader.read();
  const next = reader.read();
  stop();
  await expect(next).rejects.toEqual(failure(Code.Canceled));
  expect(await request.cancelled).toEqual(failure(Code.Canceled, "not wanted"));
  caller.abort();
  await tick();
  expect(call.signal?.aborted).toBe(false);
});

test("only a stream needs duplex", () => {
  expect(bodyInit(null)).toEqual({});
  expect(bodyInit(MESSAGE)).toEqual({ body: MESSAGE });
  const stream = new ReadableStream<Uint8Array>();
  expect(bodyInit(stream)).toEqual({ body: stream, duplex: "half" });
});
