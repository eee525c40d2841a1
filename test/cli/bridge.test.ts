import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { startGrpcBackend } from "../node/grpc-backend.ts";
import { notesClient } from "../node/notes.ts";
import { type Command, runCommand } from "../process.ts";

const CERT = fileURLToPath(new URL("../node/tls/cert.pem", import.meta.url));
const KEY = fileURLToPath(new URL("../node/tls/key.pem", import.meta.url));

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function isthmus(...args: readonly string[]): Command {
  const command = runCommand(["bin/isthmus.js", ...args]);
  cleanups.push(() => command.kill());
  return command;
}

async function start(credentials?: grpc.ServerCredentials): Promise<number> {
  const backend = await startGrpcBackend(credentials);
  cleanups.push(() => backend.stop());
  return backend.port;
}

async function startTls(): Promise<number> {
  const [cert_chain, private_key] = await Promise.all([readFile(CERT), readFile(KEY)]);
  return start(grpc.ServerCredentials.createSsl(null, [{ cert_chain, private_key }]));
}

test("bridge serves a backend over TLS, says that it answers, and leaves nothing behind", async () => {
  const to = `https://localhost:${await startTls()}`;
  const command = isthmus("bridge", "--to", to, "--ca", CERT, "--port", "0");
  const [, url = ""] = await command.waitFor(/^listening on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await command.waitFor(new RegExp(`^${to}: speaks gRPC$`, "m"));
  expect(await notesClient(url).echo({ text: "x" })).toMatchObject({ text: "x" });
  command.signal("SIGTERM");
  expect(await command.ended).toBe(0);
  await command.groupGone();
});

test("bridge says why a backend does not answer, and waits for it", async () => {
  const command = isthmus("bridge", "--to", "http://127.0.0.1:1", "--port", "0");
  await command.waitFor(/^listening on /m);
  await command.waitFor(/^http:\/\/127\.0\.0\.1:1: nobody listens there \(connection refused\)$/m);
});

test.each([
  ["no target", ["bridge"], /required option '--to <url>'/],
  ["a target that is no URL", ["bridge", "--to", "localhost:50051"], /'localhost:50051' is invalid/],
  ["a certificate that is none", ["bridge", "--to", "https://x", "--ca", KEY], /key\.pem: holds no certificate in PEM/],
  ["nothing to check", ["check"], /^error: nothing to check: give --schema, --upstream, or both$/m],
  [
    "a protocol that there is not",
    ["check", "--upstream", "http://x", "--upstream-protocol", "soap"],
    /'soap' is invalid/,
  ],
])("%s", async (_, args, message) => {
  const command = isthmus(...args);
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(message);
});

test("check --upstream: 0 and what it speaks, or 1 and why not", async () => {
  const to = `http://127.0.0.1:${await start()}`;
  const good = isthmus("check", "--upstream", to, "--upstream-protocol", "grpc");
  expect(await good.ended).toBe(0);
  expect(good.output).toBe(`${to}: speaks gRPC\n`);
  const bad = isthmus("check", "--upstream", to, "--schema", "proto");
  expect(await bad.ended).toBe(1);
  const why = `error: ${to}: it speaks HTTP/2 only, and connect goes over HTTP/1.1: is its protocol grpc?\n`;
  expect(bad.output).toMatch(/^0 errors, \d+ warnings, \d+ bindings served\n/);
  expect(bad.output.endsWith(why)).toBe(true);
  const tls = `https://localhost:${await startTls()}`;
  const trusted = isthmus("check", "--upstream", tls, "--upstream-protocol", "grpc", "--ca", CERT);
  expect(await trusted.ended).toBe(0);
  expect(trusted.output).toBe(`${tls}: speaks gRPC\n`);
});
