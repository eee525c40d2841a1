/**
 * REST streams as bytes and moments, through the gateway in raw workerd and in Node. The backend is written by hand and
 * speaks Connect, so that nothing happens unless a test says so: no check here waits for a time to pass.
 */
import { once } from "node:events";
import http, { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { splitFrames } from "./cases/envelope.ts";
import { RUNTIMES, startGateways } from "./matrix/gateways.ts";
import { END, envelopeOf, FORMS, type Form, lineOf, registry, set, UPLOADS } from "./rest-forms.ts";
import { readBody, serve } from "./server.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
let answer: (exchange: Exchange) => unknown = () => undefined;
/** Calls of the backend that have neither ended nor broken. */
const open = new Set<Exchange>();
const backend = await serve((request, response) => {
  const exchange = { request, response };
  open.add(exchange);
  response.on("close", () => open.delete(exchange));
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  answer(exchange);
});
const gateways = await startGateways(set, [
  { backends: { "*": { url: backend.url } } },
  { backends: { "*": { url: backend.url } }, sseHeartbeatMs: 50 },
]);
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
process.on("unhandledRejection", note);
// The gateway in Node tells of backends that fail.
beforeEach(() => {
  open.clear();
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  await gateways.stop();
  await backend[Symbol.asyncDispose]();
});

const nothingOpen = () => vi.waitFor(() => expect(open.size).toBe(0), { timeout: 5000, interval: 10 });

/**
 * What the kernel may keep of two connections, and less than is sent: Linux lets a receive buffer grow to 32 MiB
 * (tcp_rmem) and a send buffer to 4 MiB (tcp_wmem). Usually it is some 12 MiB in all.
 */
const SOCKET_BYTES = 80 << 20;

function begin({ response }: Exchange): ServerResponse {
  return response.writeHead(200, { "content-type": "application/connect+proto" });
}

/** A request whose body the test writes. */
function call(base: string, path: string, method: string, headers: OutgoingHttpHeaders) {
  const request = http.request(base + path, { method, headers, agent: false });
  request.on("error", () => undefined);
  const response = once(request, "response").then(([one]) => one as IncomingMessage);
  response.catch(() => undefined);
  return { request, response };
}

function get(base: string, { path, accept }: Pick<Form, "path" | "accept">, headers: OutgoingHttpHeaders = {}) {
  const { request, response } = call(base, path, "GET", { accept, ...headers });
  request.end();
  return { request, response };
}

/** Reads on until the text is there. */
async function readUntil(response: IncomingMessage, text: string): Promise<void> {
  let body = "";
  while (!body.includes(text)) {
    const chunk = response.read();
    if (chunk) body += chunk;
    else await Promise.race([once(response, "readable"), failsAfter(5000, `only ${JSON.stringify(body)} came`)]);
  }
  expect(body).toBe(text);
}

async function failsAfter(ms: number, message: string): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(message);
}

/** How the request ended, as the backend sees it. */
function endOf(request: IncomingMessage): Promise<"cleanly" | "broken"> {
  return new Promise((resolve) => {
    request.on("end", () => resolve("cleanly"));
    request.on("close", () => resolve(request.complete ? "cleanly" : "broken"));
  });
}

/** Resolves with the data of so many messages of the request. */
async function messagesOf(request: IncomingMessage, count: number): Promise<readonly Buffer[]> {
  let bytes = Buffer.alloc(0);
  return new Promise((resolve) => {
    request.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const { frames } = splitFrames(bytes);
      if (frames.length >= count) resolve(frames.map(({ data }) => data));
    });
  });
}

describe.each(RUNTIMES)("in %s", (runtime) => {
  const base = gateways.url(runtime, 0);

  describe.each(FORMS)("a stream as $name", (form) => {
    it("is there message by message: each before the next is sent", async () => {
      const seen = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      answer = async (exchange) => {
        const response = begin(exchange);
        for (const [i, { promise }] of seen.entries()) {
          response.write(form.message(`m${i}`));
          await promise;
        }
        response.end(END);
      };
      const response = await get(base, form).response;
      for (const [i, { resolve }] of seen.entries()) {
        await readUntil(response, form.shown(`m${i}`, i));
        resolve();
      }
      expect(String(await readBody(response))).toBe(form.end);
      expect(response.complete).toBe(true);
      await nothingOpen();
    });

    it("cancels the backend's call when its caller leaves, while nothing comes", async () => {
      answer = (exchange) => begin(exchange).write(form.message("first"));
      const { request, response } = get(base, form);
      await readUntil(await response, form.shown("first", 0));
      expect(open.size).toBe(1);
      request.socket?.resetAndDestroy();
      await nothingOpen();
    });

    it("cancels the backend's call when its caller leaves, while it writes", async () => {
      answer = (exchange) => {
        const response = begin(exchange);
        const timer = setInterval(() => response.write(form.message("more")), 5);
        response.on("close", () => clearInterval(timer));
      };
      const { request, response } = get(base, form);
      await once(await response, "readable");
      request.socket?.resetAndDestroy();
      await nothingOpen();
    });

    it("tells it when the backend dies, after the messages before", async () => {
      const seen = Promise.withResolvers<void>();
      answer = async (exchange) => {
        begin(exchange).write(form.message("first"));
        await seen.promise;
        exchange.response.destroy();
      };
      const response = await get(base, form).response;
      await readUntil(response, form.shown("first", 0));
      seen.resolve();
      const rest = readBody(response).then(String);
      if (form.died) expect(await rest).toMatch(form.died);
      else await expect(rest).rejects.toThrow("aborted");
      await nothingOpen();
    });

    it("ends with the deadline, and so does the backend's call", async () => {
      answer = (exchange) => begin(exchange).write(form.message("first"));
      const response = await get(base, form, { "connect-timeout-ms": "800" }).response;
      await readUntil(response, form.shown("first", 0));
      const rest = readBody(response).then(String);
      if (form.died) expect(await rest).toMatch(/"code":4,/);
      else await expect(rest).rejects.toThrow("aborted");
      await nothingOpen();
    });

    it("is written no faster than it is read", { timeout: 60_000 }, async () => {
      const text = "x".repeat(65_536);
      const total = 2048;
      let written = 0;
      const stalled = Promise.withResolvers<void>();
      answer = async (exchange) => {
        const response = begin(exchange);
        const envelope = form.message(text);
        for (; written < total; written++) {
          if (response.write(envelope)) continue;
          const timer = setTimeout(stalled.resolve, 500);
          await once(response, "drain");
          clearTimeout(timer);
        }
        stalled.resolve();
        response.end(END);
      };
      const response = await get(base, form).response;
      response.pause();
      await stalled.promise;
      expect(written * text.length).toBeLessThan(SOCKET_BYTES);
      let length = 0;
      for await (const chunk of response) length += chunk.length;
      expect(length).toBeGreaterThanOrEqual(total * text.length);
      await nothingOpen();
    });
  });

  describe.each(UPLOADS)("an upload as $name", ({ path, type, piece, end }) => {
    it("reaches the backend message by message: each before the next is sent", async () => {
      const onCall = Promise.withResolvers<Exchange>();
      answer = (exchange) => onCall.resolve(exchange);
      const { request, response } = call(base, path, "POST", { "content-type": type });
      request.write(piece(0));
      const exchange = await onCall.promise;
      await messagesOf(exchange.request, 1);
      const second = messagesOf(exchange.request, 1);
      request.write(piece(1));
      expect(String((await second)[0])).toContain("1");
      request.end(piece(2) + end);
      expect(await endOf(exchange.request)).toBe("cleanly");
      begin(exchange).end(Buffer.concat([lineOf("done"), END]));
      expect(JSON.parse(String(await readBody(await response)))).toEqual({ text: "done" });
      await nothingOpen();
    });

    it("that its caller breaks off is aborted, never ended", async () => {
      const ended = Promise.withResolvers<string>();
      const began = Promise.withResolvers<void>();
      answer = async ({ request }) => {
        endOf(request).then(ended.resolve);
        await messagesOf(request, 1);
        began.resolve();
      };
      const { request } = call(base, path, "POST", { "content-type": type });
      request.write(piece(0));
      await began.promise;
      request.socket?.resetAndDestroy();
      expect(await ended.promise).toBe("broken");
      await nothingOpen();
    });

    it("can be answered before its end", async () => {
      answer = async (exchange) => {
        await messagesOf(exchange.request, 1);
        begin(exchange).end(Buffer.concat([lineOf("enough"), END]));
      };
      const { request, response } = call(base, path, "POST", { "content-type": type });
      request.write(piece(0));
      expect(JSON.parse(String(await readBody(await response)))).toEqual({ text: "enough" });
      request.destroy();
      await nothingOpen();
    });

    it("stops while the backend does not read", { timeout: 60_000 }, async () => {
      const onCall = Promise.withResolvers<Exchange>();
      answer = (exchange) => onCall.resolve(exchange);
      const { request } = call(base, path, "POST", { "content-type": type });
      request.write(piece(0));
      const chunk = piece(1).repeat(10_000);
      let written = 0;
      for (let goesOn = true; goesOn && written < 192 << 20; written += chunk.length) {
        goesOn =
          request.write(chunk) || (await Promise.race([once(request, "drain").then(() => true), sleep(500, false)]));
      }
      expect(written).toBeLessThan(SOCKET_BYTES);
      request.socket?.resetAndDestroy();
      // It sees what happened to its socket when it has read what came before.
      const exchange = await onCall.promise;
      exchange.request.resume();
      expect(await endOf(exchange.request)).toBe("broken");
      await nothingOpen();
    });
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 5_000_003])(
    "an HttpBody of %i bytes goes up and comes down whole",
    async (size) => {
      const bytes = Buffer.alloc(
        size,
        Uint8Array.from({ length: 251 }, (_, i) => i),
      );
      const body = registry.getMessage("google.api.HttpBody") as DescMessage;
      answer = async (exchange) => {
        if (exchange.request.url?.endsWith("/Push")) {
          const { frames, rest } = splitFrames(await readBody(exchange.request));
          expect(rest.length).toBe(0);
          const messages = frames.map(
            ({ data }) => fromBinary(body, data) as unknown as { contentType: string; data: Uint8Array },
          );
          expect(messages.map(({ contentType }) => contentType)).toEqual(["a/b", ...messages.slice(1).map(() => "")]);
          expect(Buffer.concat(messages.map(({ data }) => data)).equals(bytes)).toBe(true);
          begin(exchange).end(Buffer.concat([lineOf("done"), END]));
          return;
        }
        const response = begin(exchange);
        for (let at = 0; at === 0 || at < size; at += 1_000_000) {
          const data = bytes.subarray(at, at + 1_000_000).toString("base64");
          response.write(envelopeOf("google.api.HttpBody", { ...(at === 0 && { contentType: "c/d" }), data }));
        }
        response.end(END);
      };
      const up = call(base, "/v1/file", "POST", { "content-type": "a/b" });
      up.request.end(bytes);
      expect(JSON.parse(String(await readBody(await up.response)))).toEqual({ text: "done" });
      const down = await get(base, { path: "/v1/file", accept: "*/*" }).response;
      expect(down.headers["content-type"]).toBe("c/d");
      expect((await readBody(down)).equals(bytes)).toBe(true);
      await nothingOpen();
    },
  );

  it("two ways, half duplex: the answer begins when the request has ended", async () => {
    answer = async (exchange) => {
      const { frames } = splitFrames(await readBody(exchange.request));
      const response = begin(exchange);
      for (const { data } of frames) response.write(encodeEnvelope(0, data));
      response.end(END);
    };
    const header = { "content-type": "application/x-ndjson", accept: "application/x-ndjson" };
    const { request, response } = call(base, "/v1/talk", "POST", header);
    request.write('{"text":"a"}\n');
    request.end('{"text":"b"}\n');
    expect(String(await readBody(await response))).toBe('{"result":{"text":"a"}}\n{"result":{"text":"b"}}\n');
    await nothingOpen();
  });

  it("events: an answer without a message yet begins with heartbeats", async () => {
    const seen = Promise.withResolvers<void>();
    answer = async (exchange) => {
      begin(exchange).flushHeaders();
      await seen.promise;
      exchange.response.end(encodeEnvelope(2, Buffer.from('{"error":{"code":"not_found","message":"none"}}')));
    };
    const response = await get(gateways.url(runtime, 1), { path: "/v1/watch", accept: "text/event-stream" }).response;
    await readUntil(response, ":\n\n");
    await readUntil(response, ":\n\n");
    seen.resolve();
    expect(String(await readBody(response)).replaceAll(":\n\n", "")).toBe(
      'event: error\ndata: {"code":5,"message":"none"}\n\n',
    );
    await nothingOpen();
  });
});
