/** The bridge between connect-es as gRPC-Web client over HTTP/1.1 and grpc-js as gRPC server. */
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { type Bridge, createBridge } from "../../src/node/bridge.ts";
import { PortTakenError } from "../../src/node/port.ts";
import { type GrpcBackend, startGrpcBackend } from "./grpc-backend.ts";
import { collect, envelope, failureOf, type Notes, notesClient, several, until } from "./notes.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const MIB = 1 << 20;
async function start(): Promise<{ backend: GrpcBackend; bridge: Bridge; notes: Notes; log: string[] }> {
  const backend = await startGrpcBackend();
  cleanups.push(() => backend.stop());
  const log: string[] = [];
  const bridge = await createBridge({ to: `http://127.0.0.1:${backend.port}`, log: (line) => log.push(line) });
  cleanups.push(() => bridge.close());
  return { backend, bridge, notes: notesClient(bridge.url), log };
}

/** Opens a call of which the test has both ends in its own hands. */
function rawCall(bridge: Bridge, method: string): http.ClientRequest {
  const request = http.request(`${bridge.url}/note.v1.Notes/${method}`, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/grpc-web" },
  });
  request.on("error", () => {});
  cleanups.push(() => request.destroy());
  return request;
}

describe("all four kinds of call", () => {
  it("unary", async () => {
    const { notes } = await start();
    const data = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(await notes.echo({ text: "ä☕", data, count: 7 })).toMatchObject({ text: "ä☕", data, count: 7 });
  });

  it("server stream", async () => {
    const { notes } = await start();
    const list = await collect(notes.list({ count: 100, size: 10 }));
    expect(list.map(({ count }) => count)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(list[99]?.data).toEqual(new Uint8Array(10).fill(99));
  });

  it("client stream", async () => {
    const { notes, backend } = await start();
    const sent = Array.from({ length: 100 }, () => ({ data: new Uint8Array(1000) }));
    expect(await notes.collect(several(...sent))).toMatchObject({ count: 100, size: 100_000 });
    expect(backend.seen).toMatchObject({ open: 0, halfClosed: 1 });
  });

  it("two-way stream", async () => {
    const { notes } = await start();
    const answers = await collect(notes.talk(several({ text: "a" }, { text: "b" }, { text: "c" })));
    expect(answers.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  });

  it("two-way stream, in turns", async () => {
    const { notes } = await start();
    const turns: string[] = [];
    let next = Promise.withResolvers<void>();
    async function* questions() {
      for (const text of ["a", "b", "c"]) {
        turns.push(`ask ${text}`);
        yield { text };
        await next.promise;
        next = Promise.withResolvers();
      }
    }
    for await (const { text } of notes.talk(questions())) {
      turns.push(`hear ${text}`);
      next.resolve();
    }
    expect(turns).toEqual(["ask a", "hear a", "ask b", "hear b", "ask c", "hear c"]);
  });

  it("an empty stream, and the empty message", async () => {
    const { notes } = await start();
    expect(await collect(notes.list({}))).toEqual([]);
    expect(await collect(notes.talk(several()))).toEqual([]);
    expect(await notes.echo({})).toMatchObject({ text: "", count: 0 });
  });
});

it("metadata, text and bytes, before and after", async () => {
  const { notes } = await start();
  let [header, trailer] = [new Headers(), new Headers()];
  await notes.echo(
    {},
    {
      headers: { "x-ask": "a, b", "x-ask-bin": "AP8K" },
      onHeader: (fields) => {
        header = fields;
      },
      onTrailer: (fields) => {
        trailer = fields;
      },
    },
  );
  expect(header.get("x-answer")).toBe("a, b");
  expect(header.get("x-answer-bin")).toBe("AP8K");
  expect(trailer.get("x-end")).toBe("done");
  expect(trailer.get("x-end-bin")).toBe("AP8K");
});

it("errors with details and trailing metadata", async () => {
  const { notes, log } = await start();
  for (const headers of [{}, { "x-silent": "1" }] as Record<string, string>[]) {
    const error = await failureOf(notes.echo({ text: "fail" }, { headers }));
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "not yet ☕" });
    expect(error.details).toMatchObject([{ type: "note.v1.Note", value: Uint8Array.from([0x0a, 3, 119, 104, 121]) }]);
    expect(error.metadata.get("x-end")).toBe("done");
  }
  const seen: number[] = [];
  const stream = async () => {
    for await (const { count } of notes.list({ count: 2, text: "fail" })) seen.push(count);
  };
  expect(await failureOf(stream())).toMatchObject({ code: Code.DataLoss, rawMessage: "half of it" });
  expect(seen).toEqual([0, 1]);
  const missing = await fetch(`${(await start()).bridge.url}/note.v1.Notes/Nope`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto" },
    body: new Uint8Array(5),
  });
  expect(missing.headers.get("content-type")).toMatch(/^application\/grpc-web(\+proto)?$/);
  expect(await missing.text()).toContain("grpc-status: 12\r\n");
  // The backend has said all of it itself.
  expect(log).toEqual([]);
});

it("the deadline reaches the backend", async () => {
  const { notes, backend } = await start();
  const error = await failureOf(notes.echo({ text: "hang" }, { timeoutMs: 300 }));
  expect(error.code).toBe(Code.DeadlineExceeded);
  expect(backend.seen.timeoutMs).toBeGreaterThan(100);
  expect(backend.seen.timeoutMs).toBeLessThanOrEqual(300);
  await until(() => backend.seen.open === 0);
});

describe("large messages and slow ends", () => {
  it("messages of 20 MiB both ways, several at once", async () => {
    const { notes } = await start();
    const data = new Uint8Array(20 * MIB).map((_, i) => i * 31);
    const answers = await Promise.all([1, 2, 3].map((count) => notes.echo({ data, count })));
    for (const answer of answers) expect(Buffer.compare(answer.data, data)).toBe(0);
  });

  it("a slow reader stops the backend, and then gets everything", async () => {
    const { bridge, backend } = await start();
    const request = rawCall(bridge, "List");
    // count: 64, size: 1 MiB
    request.end(envelope(Buffer.from([0x18, 64, 0x20, 0x80, 0x80, 0x40])));
    const response = await new Promise<http.IncomingMessage>((resolve) => request.on("response", resolve));
    await sleep(1000);
    const written = backend.seen.bytes;
    expect(written).toBeLessThan(24 * MIB);
    await sleep(300);
    expect(backend.seen.bytes).toBe(written);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(64 * MIB);
    expect(backend.seen).toMatchObject({ open: 0, bytes: 64 * MIB });
  });

  it("a slow backend stops the caller", async () => {
    const { bridge } = await start();
    const request = rawCall(bridge, "Collect");
    request.write(envelope(Buffer.from([0x0a, 4, ...Buffer.from("stop")])));
    const data = Buffer.alloc(MIB);
    let accepted = 0;
    while (accepted < 200 && (await Promise.race([written(request, envelope(data)), sleep(500, false)]))) accepted++;
    expect(accepted).toBeLessThan(24);
  });
});

/** Resolves true when the chunk has left this process. */
function written(request: http.ClientRequest, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => request.write(chunk, () => resolve(true)));
}

describe("a caller that leaves", () => {
  it("before the answer has begun", async () => {
    const { notes, backend } = await start();
    const abort = new AbortController();
    const failed = failureOf(notes.echo({ text: "hang" }, { signal: abort.signal, headers: { "x-silent": "1" } }));
    await until(() => backend.seen.open === 1);
    abort.abort();
    expect((await failed).code).toBe(Code.Canceled);
    await until(() => backend.seen.open === 0);
    expect(backend.seen.cancelled).toBe(1);
  });

  it("in the middle of a stream", async () => {
    const { notes, backend } = await start();
    for await (const note of notes.list({ count: 1, text: "hang" })) {
      expect(note.count).toBe(0);
      break;
    }
    await until(() => backend.seen.open === 0);
    expect(backend.seen.cancelled).toBe(1);
  });

  it("while it reads slowly", async () => {
    const { bridge, backend } = await start();
    const request = rawCall(bridge, "List");
    request.end(envelope(Buffer.from([0x18, 64, 0x20, 0x80, 0x80, 0x40])));
    await new Promise((resolve) => request.on("response", resolve));
    await sleep(300);
    expect(backend.seen.open).toBe(1);
    request.destroy();
    await until(() => backend.seen.open === 0);
    expect(backend.seen.cancelled).toBe(1);
  });

  it("a hundred calls, half of them given up: nothing is left open", async () => {
    const { notes, backend } = await start();
    const abort = new AbortController();
    const calls = Array.from({ length: 100 }, (_, i) =>
      i % 2 ? notes.echo({ text: "hang" }, { signal: abort.signal }) : notes.echo({ text: "x" }),
    );
    const settled = Promise.allSettled(calls);
    await until(() => backend.seen.open === 50);
    abort.abort();
    const results = (await settled).map(({ status }) => status);
    expect(results.filter((status) => status === "fulfilled")).toHaveLength(50);
    await until(() => backend.seen.open === 0);
  });
});

it("a backend that ends early: the caller gets the answer and the connection lives on", async () => {
  const { bridge, backend } = await start();
  const request = rawCall(bridge, "Collect");
  request.write(envelope(Buffer.from([0x0a, 6, ...Buffer.from("enough")])));
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on("response", resolve));
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toContain("grpc-status: 0\r\n");
  expect(backend.seen.open).toBe(0);
});

describe("whom it serves", () => {
  it.each([
    ["another method", { method: "GET" }, 405],
    ["another content type", { headers: { "content-type": "application/json" } }, 415],
    ["gRPC itself, which HTTP/1.1 cannot carry", { headers: { "content-type": "application/grpc" } }, 415],
    ["gRPC-Web in text", { headers: { "content-type": "application/grpc-web-text" } }, 415],
    ["no content type", { headers: {} }, 415],
    ["the name of a stranger", { headers: { host: "evil.example", "content-type": "application/grpc-web" } }, 403],
    ["another target", { path: "http://evil.example/note.v1.Notes/Echo" }, 421],
    ["a tunnel", { method: "OPTIONS", path: "*" }, 421],
  ] as [string, http.RequestOptions, number][])("not %s", async (_, options, status) => {
    const { bridge, backend } = await start();
    const request = http.request(`${bridge.url}/note.v1.Notes/Echo`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web" },
      agent: false,
      ...options,
    });
    request.end();
    const response = await new Promise<http.IncomingMessage>((resolve) => request.on("response", resolve));
    expect(response.statusCode).toBe(status);
    if (status === 405) expect(response.headers.allow).toBe("POST");
    response.resume();
    expect(backend.seen.timeoutMs).toBeUndefined();
  });

  it("not on a port that is taken", async () => {
    const { bridge } = await start();
    const port = Number(bridge.url.split(":").at(-1));
    await expect(createBridge({ to: "http://127.0.0.1:1", port })).rejects.toEqual(new PortTakenError(port));
  });
});
