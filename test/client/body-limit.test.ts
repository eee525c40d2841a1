import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { limitBody } from "../../src/client/body-limit.ts";
import { failure } from "../failure.ts";
import { gatewayOf, send } from "../library-backend.ts";

const LIMIT = 1000;
const OVER = failure(Code.ResourceExhausted, "1000 bytes");

/** A body in chunks, whose length nobody tells; and how many were taken. */
function requestOf(length: number, headers: Record<string, string> = {}) {
  let taken = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken >= length) return controller.close();
        const bytes = Math.min(100, length - taken);
        taken += bytes;
        controller.enqueue(new Uint8Array(bytes).fill(0x20));
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const init = { method: "POST", body, headers, duplex: "half" } as RequestInit;
  const request = new Request("http://gateway.example/v1/books?a=%2e", init);
  return { request, taken: () => taken, isCancelled: () => isCancelled };
}

test.each([0, 1, LIMIT - 1, LIMIT])("a body of %i bytes is the same bytes", async (length) => {
  const limited = limitBody(requestOf(length, { "x-a": "1" }).request, LIMIT);
  expect([limited.method, limited.url, limited.headers.get("x-a")]).toEqual([
    "POST",
    "http://gateway.example/v1/books?a=%2e",
    "1",
  ]);
  expect((await limited.arrayBuffer()).byteLength).toBe(length);
});

test.each([LIMIT + 1, LIMIT + 100, 1 << 30])("one of %i breaks, and the rest is not read", async (length) => {
  const { request, taken, isCancelled } = requestOf(length);
  await expect(limitBody(request, LIMIT).arrayBuffer()).rejects.toEqual(OVER);
  expect(taken()).toBeLessThanOrEqual(LIMIT + 100);
  expect(isCancelled() || taken() === length).toBe(true);
});

test("what the head tells is refused unread, and what it allows is not counted", () => {
  const withLength = (length: number) =>
    new Request("http://gateway.example/", {
      method: "POST",
      body: "a",
      headers: { "content-length": String(length) },
    });
  expect(() => limitBody(withLength(LIMIT + 1), LIMIT)).toThrow(OVER);
  const allowed = withLength(LIMIT);
  expect(limitBody(allowed, LIMIT)).toBe(allowed);
  const bodiless = new Request("http://gateway.example/");
  expect(limitBody(bodiless, LIMIT)).toBe(bodiless);
});

test("the failure is in the caller's dialect", () => {
  const { request } = requestOf(0, { "content-length": "5000" });
  const dialect = new ConnectError("in other words", Code.Aborted);
  expect(() => limitBody(request, LIMIT, () => dialect)).toThrow(dialect);
});

test("in Node as well, what would pass is not taken for whole", async () => {
  const bodies: number[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push((await new Response(init?.body ?? null).arrayBuffer()).byteLength);
    return new Response(new Uint8Array(0), { headers: { "content-type": "application/proto" } });
  };
  const gateway = gatewayOf("", { backends: { "*": { url: "http://b.example", fetch } }, maxBodyBytes: LIMIT });
  const post = (length: number) => {
    const { request } = requestOf(length, { "content-type": "application/proto" });
    return send(gateway, "/library.v1.Library/CreateBook", {
      method: "POST",
      body: request.body,
      headers: request.headers,
      duplex: "half",
    } as RequestInit);
  };
  expect([(await post(LIMIT)).status, (await post(LIMIT + 1)).status, bodies]).toEqual([200, 429, [LIMIT]]);
});
