import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Backend, startBackend } from "../../examples/library/backend.ts";
import { OPTION_TEXTS } from "../../src/cli/option-texts.ts";
import { compileProtos } from "../../src/node/protos.ts";
import { variableName } from "../../src/variables.ts";
import { type Command, runCommand } from "../process.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function dev(args: readonly string[], env?: Readonly<Record<string, string>>): Command {
  const command = runCommand(["bin/isthmus.js", "dev", ...args], env);
  cleanups.push(() => command.kill());
  return command;
}

async function library(): Promise<{ backend: Backend; set: string }> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const schema = await compileProtos("proto");
  const set = join(folder, "set.binpb");
  await writeFile(set, schema);
  const backend = await startBackend({ schema, host: "127.0.0.1", port: 0, h2cPort: 0 });
  cleanups.push(() => backend.close());
  return { backend, set };
}

test("serves a descriptor set in front of a backend, and leaves no process behind", { timeout: 30_000 }, async () => {
  const { backend, set } = await library();
  const command = dev(["--schema", set, "--upstream", `http://127.0.0.1:${backend.port}`, "--port", "0"]);
  const [, url] = await command.waitFor(/^listening on (http:\/\/127\.0\.0\.1:\d+)$/m);
  const response = await fetch(`${url}/v1/shelves/nature`);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ name: "shelves/nature", theme: "Birds, beasts and flowers" });
  command.signal("SIGTERM");
  await command.ended;
  await command.groupGone();
});

test("takes options of the gateway from the environment", { timeout: 30_000 }, async () => {
  const { backend, set } = await library();
  const args = ["--schema", set, "--upstream", `http://127.0.0.1:${backend.port}`, "--port", "0"];
  const command = dev(args, { ISTHMUS_EMIT_DEFAULTS: "true" });
  const [, url] = await command.waitFor(/listening on (\S+)/);
  const response = await fetch(`${url}/v1/shelves/history/books`);
  expect(await response.json()).toEqual({ books: [], nextPageToken: "" });
});

test("takes them from flags, which count before the environment, and rules from a service config", {
  timeout: 30_000,
}, async () => {
  const { backend, set } = await library();
  const config = `${set}.yaml`;
  const rule = "{ selector: example.library.v1.LibraryService.ListBooks, get: '/configured/{parent=shelves/*}' }";
  await writeFile(config, `http: { rules: [${rule}] }`);
  const command = dev(
    ["--schema", set, "--upstream", `http://127.0.0.1:${backend.port}`, "--port", "0"].concat(
      ["--service-config", config, "--emit-defaults", "--unknown-query", "ignore", "--ignored-query", "a,b"],
      ["--update-mask", "false", "--read-max-bytes", "1000", "--cors", '{"allowOrigins":["http://localhost:*"]}'],
    ),
    { ISTHMUS_EMIT_DEFAULTS: "false", ISTHMUS_BACKENDS: '{"*":{"url":"http://127.0.0.1:1"}}' },
  );
  const [, url] = await command.waitFor(/listening on (\S+)/);
  const response = await fetch(`${url}/configured/shelves/history?nope=1`);
  expect(await response.json()).toEqual({ books: [], nextPageToken: "" });
  const fromPage = await fetch(`${url}/v1/none`, { headers: { origin: "http://localhost:3000" } });
  expect(fromPage.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  // The annotation's path is left to CreateBook.
  expect((await fetch(`${url}/v1/shelves/history/books`)).status).toBe(405);
  const headers = { "content-type": "application/json" };
  const large = { method: "POST", headers, body: JSON.stringify({ theme: "x".repeat(1000) }) };
  expect((await fetch(`${url}/v1/shelves?shelf_id=x`, large)).status).toBe(413);
});

test("--help names every option with its flag, default, meaning and variable", async () => {
  const command = runCommand(["bin/isthmus.js", "dev", "--help"], { COLUMNS: "1000" });
  expect(await command.ended).toBe(0);
  const help = command.output.replace(/\s+/g, " ");
  for (const [option, { default: standard, about }] of Object.entries(OPTION_TEXTS)) {
    const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect(help).toContain(`${flag} `);
    expect(help).toContain(`${about} (default: ${standard}) (env: ${variableName(option)})`);
  }
});

test("warns of faulty rules and serves the others", { timeout: 30_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const rule = (template: string) => `{ option (google.api.http) = { get: "${template}" }; }`;
  await writeFile(
    join(folder, "a.proto"),
    `syntax = "proto3"; package p; import "google/api/annotations.proto"; message M {} service S {
      rpc Bad(M) returns (M) ${rule("/bad/{nope}")}
      rpc Good(M) returns (M) ${rule("/good")}
    }`,
  );
  // Nobody listens on port 1, so a call that is routed ends as unavailable.
  const command = dev(["--schema", folder, "--upstream", "http://127.0.0.1:1", "--port", "0"]);
  const [, url] = await command.waitFor(/listening on (\S+)/);
  expect(command.output.match(/^warning: a\.proto:2: p\.S\.Bad "\/bad\/\{nope\}".*nope/gm)).toHaveLength(1);
  expect((await fetch(`${url}/good`)).status).toBe(503);
  expect((await fetch(`${url}/bad/1`)).status).toBe(404);
});

test("a port that is taken", { timeout: 30_000 }, async () => {
  const other = createServer().listen(0, "127.0.0.1");
  cleanups.push(() => other.close());
  await new Promise((resolve) => other.on("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const command = dev(["--schema", "proto", "--upstream", "http://127.0.0.1:1", "--port", String(port)]);
  expect(await command.ended).toBe(1);
  expect(command.output).toBe(`error: port ${port} is taken: choose another with --port\n`);
});

test.each([
  ["no URL", ["--upstream", "localhost"], /'--upstream <url>' argument 'localhost' is invalid.*http:\/\//],
  ["another scheme", ["--upstream", "ftp://x"], /argument 'ftp:\/\/x' is invalid/],
  ["no port", ["--upstream", "http://x", "--port", "x"], /'--port <number>' argument 'x' is invalid/],
  ["a protocol that there is not", ["--upstream", "http://x", "--upstream-protocol", "soap"], /"soap"/],
  ["no upstream", [], /^error: no backend: .*--upstream http:/],
  ["two places of the backend", ["--upstream", "http://x", "--backends", "{}"], /cannot be used with/],
  ["backends that are no JSON", ["--backends", "{"], /ISTHMUS_BACKENDS: not a JSON object/],
  ["cors that names nobody", ["--upstream", "http://x", "--cors", "{}"], /cors\.allowOrigins/],
  ["an option that is none of its choices", ["--upstream", "http://x", "--rpc", "some"], /one of annotated, all, none/],
  ["no number", ["--upstream", "http://x", "--max-depth", "0"], /'0' is invalid. It must be a positive whole number/],
  ["no flag", ["--upstream", "http://x", "--emit-defaults", "yes"], /'yes' is invalid. It must be true or false/],
  ["an option that there is not", ["--upstream", "http://x", "--emit-default"], /unknown option '--emit-default'/],
])("%s", async (_, args, message) => {
  const command = dev(["--schema", "proto", "--port", "0", ...args]);
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(message);
  expect(command.output).not.toMatch(/^ +at /m);
});
