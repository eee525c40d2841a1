import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSchema } from "../../src/schema/read.ts";
import { runCommand } from "../process.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function compile(schema: string, env?: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const out = join(folder, "gen/api.binpb");
  const command = runCommand(["bin/isthmus.js", "compile", "--schema", schema, "--out", out, ...flags], env);
  return { code: await command.ended, output: command.output };
}

async function services(): Promise<readonly string[]> {
  const set = await readFile(join(folder, "gen/api.binpb"));
  return readSchema(set).services.map(({ name }) => name);
}

test("writes the set, and its folder, and nothing else", async () => {
  expect(await compile("proto")).toEqual({ code: 0, output: "" });
  expect(await services()).toEqual(["example.library.v1.LibraryService"]);
  expect(await readdir(join(folder, "gen"))).toEqual(["api.binpb"]);
});

const FAULTY = `syntax = "proto3";
package a;
import "google/api/annotations.proto";
message M { string s = 1; }
service S { rpc Get(M) returns (M) { option (google.api.http) = {get: "/v1/{s"}; } }
`;

test("a fault in a rule: 1, and the last set stays; with --on-fault skip a warning", async () => {
  await compile("proto");
  await writeFile(join(folder, "a.proto"), FAULTY);
  const strict = await compile(folder);
  expect(strict.code).toBe(1);
  expect(strict.output).toMatch(/^error: a\.proto:5: a\.S\.Get "\/v1\/\{s"/);
  expect((await compile(folder, { WRANGLER_COMMAND: "dev" })).code).toBe(0);
  expect(await services()).toEqual(["example.library.v1.LibraryService"]);
  const lenient = await compile(folder, {}, ["--on-fault", "skip"]);
  expect(lenient.code).toBe(0);
  expect(lenient.output).toMatch(/^warning: a\.proto:5: a\.S\.Get/);
  expect(await services()).toEqual(["a.S"]);
});

test("protos that do not compile: 1, and the last set stays; under wrangler dev, which would hang, 0", async () => {
  await compile("proto");
  await writeFile(join(folder, "a.proto"), "no proto");
  const deploy = await compile(folder);
  expect(deploy.code).toBe(1);
  expect(deploy.output).toMatch(/^error: a\.proto:1:1:/);
  const dev = await compile(folder, { WRANGLER_COMMAND: "dev" });
  expect(dev.code).toBe(0);
  expect(dev.output).toMatch(/^a\.proto:1:1:/);
  expect(dev.output).toMatch(/^keeping the last API that compiled$/m);
  expect(await services()).toEqual(["example.library.v1.LibraryService"]);
  await rm(join(folder, "gen"), { recursive: true });
  expect((await compile(folder, { WRANGLER_COMMAND: "dev" })).code).toBe(1);
});
