import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, it, test } from "vitest";
import { createBridge } from "../../src/node/bridge.ts";
import { createSessions } from "../../src/node/h2-sessions.ts";
import { type GrpcBackend, startGrpcBackend } from "./grpc-backend.ts";
import { failureOf, type Notes, notesClient, until } from "./notes.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(...args: Parameters<typeof startGrpcBackend>): Promise<GrpcBackend> {
  const backend = await startGrpcBackend(...args);
  cleanups.push(() => backend.stop());
  return backend;
}

async function bridgeTo(to: string, ca?: string): Promise<{ notes: Notes; log: string[] }> {
  const log: string[] = [];
  const bridge = await createBridge({ to, log: (line) => log.push(line), ...(ca !== undefined && { ca }) });
  cleanups.push(() => bridge.close());
  return { notes: notesClient(bridge.url), log };
}

describe("the session is renewed", () => {
  it("after the backend was killed and started again", async () => {
    const backend = await start();
    const { notes, log } = await bridgeTo(`http://127.0.0.1:${backend.port}`);
    expect(await notes.echo({ text: "a" })).toMatchObject({ text: "a" });
    const hanging = failureOf(notes.echo({ text: "hang" }));
    await until(() => backend.seen.open === 1);
    backend.stop();
    expect(await hanging).toMatchObject({
      code: Code.Unavailable,
      rawMessage: "the connection to the backend was lost",
    });
    const refused = await failureOf(notes.echo({ text: "b" }));
    expect(refused.code).toBe(Code.Unavailable);
    expect(refused.rawMessage).toContain("nobody listens there");
    await failureOf(notes.echo({ text: "b" }));
    await start(undefined, backend.port);
    expect(await notes.echo({ text: "c" })).toMatchObject({ text: "c" });
    // Told once, although two calls failed by it.
    expect(log.filter((line) => line.includes("nobody listens there"))).toHaveLength(1);
  });

  it("after GOAWAY, while what has begun goes on", async () => {
    const backend = await start();
    const { notes } = await bridgeTo(`http://127.0.0.1:${backend.port}`);
    const abort = new AbortController();
    const hanging = failureOf(notes.echo({ text: "hang" }, { signal: abort.signal }));
    await until(() => backend.seen.open === 1);
    const drained = backend.drain();
    // The port is free as soon as it drains.
    await start(undefined, backend.port);
    expect(await notes.echo({ text: "new" })).toMatchObject({ text: "new" });
    expect(backend.seen.open).toBe(1);
    abort.abort();
    await hanging;
    await drained;
  });

  it("streams beyond MAX_CONCURRENT_STREAMS wait", async () => {
    const { port } = await start(undefined, 0, { "grpc.max_concurrent_streams": 3 });
    const { notes } = await bridgeTo(`http://127.0.0.1:${port}`);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, count) => notes.echo({ count })));
    expect(answers.map(({ count }) => count)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  it("when a session that was quiet for long answers no PING", async () => {
    const { port } = await start();
    const connections: { client: Socket; server: Socket }[] = [];
    const wire = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      connections.push({ client, server });
      client.pipe(server).pipe(client);
    });
    wire.listen(0, "127.0.0.1");
    await once(wire, "listening");
    cleanups.push(() => {
      wire.close();
      for (const { client, server } of connections) for (const socket of [client, server]) socket.destroy();
    });
    const url = new URL(`http://127.0.0.1:${(wire.address() as AddressInfo).port}`);
    const sessions = createSessions({ url, quietMs: 100 });
    cleanups.push(() => sessions.close());
    const first = await sessions.get();
    expect(await sessions.get()).toBe(first);
    await sleep(200);
    // It answers.
    expect(await sessions.get()).toBe(first);
    await sleep(200);
    // The cable is cut: nothing comes, and nobody says so.
    connections[0]?.client.unpipe().pause();
    const [second, same] = await Promise.all([sessions.get(), sessions.get()]);
    // Compared here: the matcher would walk through all that a session holds.
    expect([second === first, same === second]).toEqual([false, true]);
    expect(first.destroyed).toBe(true);
    expect(connections).toHaveLength(2);
  });
});

test("who closes does not wait for a backend that is silent", async () => {
  const silent = createServer();
  await once(silent.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => silent.close());
  const told: string[] = [];
  const url = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const sessions = createSessions({ url, onFailure: ({ message }) => told.push(message) });
  const pending = sessions.get();
  await once(silent, "connection");
  sessions.close();
  await expect(pending).rejects.toThrow("nobody waits");
  await expect(sessions.get()).rejects.toThrow("nobody waits");
  expect(told).toEqual([]);
});

describe("TLS", () => {
  const read = (name: string) => readFile(new URL(`tls/${name}`, import.meta.url));

  async function startTls(): Promise<GrpcBackend> {
    const [cert_chain, private_key] = await Promise.all([read("cert.pem"), read("key.pem")]);
    return start(grpc.ServerCredentials.createSsl(null, [{ cert_chain, private_key }]));
  }

  it.each(["localhost", "127.0.0.1"])("with a certificate that is trusted, for %s", async (host) => {
    const { port } = await startTls();
    const { notes } = await bridgeTo(`https://${host}:${port}`, String(await read("cert.pem")));
    expect(await notes.echo({ text: "secret" })).toMatchObject({ text: "secret" });
  });

  it("with one that is not", async () => {
    const { port } = await startTls();
    const { notes, log } = await bridgeTo(`https://localhost:${port}`);
    const error = await failureOf(notes.echo({}));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.rawMessage).toMatch(/certificate is of an issuer that is not trusted/);
    await until(() => log.length === 1);
    expect(log[0]).toMatch(`https://localhost:${port}: its certificate is of an issuer that is not trusted here`);
  });
});
