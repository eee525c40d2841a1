/** connect-go. Skipped where there is no Go, or where its modules cannot be had. */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, it } from "vitest";
import { type Backend, battery } from "./battery.ts";
import { shopSet } from "./shop.ts";

const SOURCE = fileURLToPath(new URL("go", import.meta.url));

function go(...args: readonly string[]): Promise<unknown> {
  return promisify(execFile)("go", args, { cwd: SOURCE, env: { ...process.env, GOTOOLCHAIN: "local" } });
}

/** @returns why there can be no such backend; undefined when there can. */
async function obstacle(): Promise<string | undefined> {
  const hasGo = await go("version").then(
    () => true,
    () => false,
  );
  if (!hasGo) return "there is no go on this machine";
  return go("mod", "download").then(
    () => undefined,
    (error) => `the Go modules cannot be had: ${error instanceof Error ? error.message : error}`,
  );
}

const scratch = await mkdtemp(join(tmpdir(), "isthmus-connect-go-"));
afterAll(() => rm(scratch, { recursive: true, force: true }));

async function start(): Promise<Backend> {
  const binary = join(scratch, "backend");
  const set = join(scratch, "set.binpb");
  await writeFile(set, shopSet);
  // The first time it compiles the standard library, which takes half a minute.
  await go("build", "-buildvcs=false", "-o", binary, ".");
  const child = spawn(binary, [set], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const address of createInterface(child.stdout)) {
    return { url: `http://${address}`, stop: () => child.stdin.end() };
  }
  throw new Error("the Go backend ended before it listened");
}

const reason = await obstacle();
if (reason === undefined) battery(await start());
else it("answers the battery", (context) => context.skip(reason));
