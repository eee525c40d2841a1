import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readImage } from "../../src/schema/image-read.ts";
import type { Schema } from "../../src/schema/model.ts";
import { runCommand } from "../process.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function compile(schema: string, env?: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const out = join(folder, "gen/schema.bin");
  const command = runCommand(["bin/isthmus.js", "compile", "--schema", schema, "--out", out, ...flags], env);
  return { code: await command.ended, output: command.output };
}

async function read(): Promise<Schema> {
  return readImage(await readFile(join(folder, "gen/schema.bin")));
}

async function services(): Promise<readonly string[]> {
  return (await read()).services.map(({ name }) => name);
}

test("writes the image, and its folder, and nothing else", async () => {
  expect(await compile("proto")).toEqual({ code: 0, output: "" });
  expect(await services()).toEqual(["example.library.v1.LibraryService"]);
  expect(await readdir(join(folder, "gen"))).toEqual(["schema.bin"]);
});

const FAULTY = `syntax = "proto3";
package a;
import "google/api/annotations.proto";
message M { string s = 1; }
service S { rpc Get(M) returns (M) { option (google.api.http) = {get: "/v1/{s"}; } }
`;

test("a fault in a rule: 1, and the last image stays; with --on-fault skip a warning", async () => {
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

test("protos that do not compile: 1, and the last image stays; under wrangler dev, which would hang, 0", async () => {
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

test("an image is a source as well, and comes out as it was", async () => {
  await compile("proto");
  const image = await readFile(join(folder, "gen/schema.bin"));
  expect(await compile(join(folder, "gen/schema.bin"))).toEqual({ code: 0, output: "" });
  expect(await readFile(join(folder, "gen/schema.bin"))).toEqual(image);
});

describe("--service-config", () => {
  async function compileWith(rules: string, flags: readonly string[] = []) {
    const config = join(folder, "api.yaml");
    await writeFile(config, `http:\n  rules:\n${rules}`);
    return compile("proto", undefined, ["--service-config", config, ...flags]);
  }

  async function templates(): Promise<readonly string[] | undefined> {
    const methods = (await read()).services.flatMap((service) => service.methods);
    return methods.find(({ name }) => name === "GetShelf")?.rules.map(({ template }) => template);
  }

  const RULE = "    - { selector: example.library.v1.LibraryService.GetShelf, get: /v9/here }\n";

  test("its rules go into the image", async () => {
    expect(await compileWith(RULE)).toEqual({ code: 0, output: "" });
    expect(await templates()).toEqual(["/v9/here"]);
  });

  test("beside the annotations, when that is wanted", async () => {
    expect(await compileWith(RULE, ["--service-config-mode", "add"])).toEqual({ code: 0, output: "" });
    expect(await templates()).toEqual([expect.stringContaining("/v1/"), "/v9/here"]);
  });

  test("a fault in it ends with 1 and leaves no image; what never counts is a warning", async () => {
    const faulty = await compileWith("    - { selector: nowhere.Nobody.No, get: /v9 }\n");
    expect(faulty.code).toBe(1);
    expect(faulty.output).toMatch(/^error: api\.yaml, http\.rules\[0\].*nowhere\.Nobody\.No.*fits no method/);
    expect(await readdir(folder)).toEqual(["api.yaml"]);
    const overridden = await compileWith(RULE + RULE);
    expect(overridden.code).toBe(0);
    expect(overridden.output).toMatch(/^warning: api\.yaml, http\.rules\[0\].*never counts/);
  });
});
