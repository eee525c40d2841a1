/** `isthmus init` out of the package, as it is packed, to a Worker that serves. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packPackage } from "../packed.ts";
import { runCommand, runShell } from "../process.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const QUIET = { CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };

/** What npm would have installed: this checkout's packages, and beside them the package itself. */
async function installPacked(folder: string): Promise<string> {
  const { tarball } = await packPackage(folder);
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, ".bin"), { recursive: true });
  const link = async (name: string) => symlink(join(ROOT, "node_modules", name), join(modules, name));
  for (const name of await readdir(join(ROOT, "node_modules"))) if (name !== ".bin") await link(name);
  for (const name of await readdir(join(ROOT, "node_modules/.bin"))) await link(join(".bin", name));
  await run("tar", ["-xzf", tarball, "-C", folder]);
  await run("mv", [join(folder, "package"), join(modules, "isthmus")]);
  await symlink(join(modules, "isthmus/bin/isthmus.js"), join(modules, ".bin/isthmus"));
  return modules;
}

/** Answers every call with the message that it was given. */
async function startEcho(): Promise<Server> {
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "application/proto" });
    request.pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

describe("a new project", () => {
  let folder = "";
  let app = "";
  let echo: Server;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "isthmus-init-")));
    const modules = await installPacked(folder);
    app = join(folder, "My App");
    const command = runCommand([join(modules, "isthmus/bin/isthmus.js"), "init", app]);
    expect(await command.ended, command.output).toBe(0);
    await symlink(modules, join(app, "node_modules"));
    echo = await startEcho();
  }, 120_000);

  afterAll(async () => {
    echo?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("depends on the package that made it", async () => {
    const manifest = JSON.parse(await readFile(join(app, "package.json"), "utf8"));
    expect(manifest.name).toBe("my-app");
    const [, path] = manifest.dependencies.isthmus.match(/^file:(.*)$/);
    expect(resolve(app, path)).toBe(join(folder, "node_modules/isthmus"));
  });

  test("has rules and types without a fault", { timeout: 60_000 }, async () => {
    // The bundle's module is declared, so that this needs no build.
    const { stdout } = await run("npm", ["run", "check"], { cwd: app });
    expect(stdout).toContain("0 errors, 0 warnings, 2 bindings served");
  });

  test("can be deployed", { timeout: 60_000 }, async () => {
    const { stdout } = await run("npm", ["run", "deploy", "--", "--dry-run", "--outdir", "out"], {
      cwd: app,
      env: { ...process.env, ...QUIET },
    });
    expect(stdout).toContain("--dry-run: exiting now");
    // The codec's engine comes along.
    expect((await readdir(join(app, "out"))).some((name) => name.endsWith("codec.wasm"))).toBe(true);
  });

  test("serves its API in front of a backend", { timeout: 60_000 }, async () => {
    const upstream = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    const flags = `--port 0 --ip 127.0.0.1 --inspector-port 0 --var ISTHMUS_UPSTREAM:${upstream}`;
    const command = runShell(`cd '${app}' && exec npm start -- ${flags}`, QUIET);
    try {
      const [, url] = await command.waitFor(/Ready on (http:\S+)/);
      // GetGreetingRequest and Greeting have `name` as their field 1, so the echo of the one is the other.
      const answer = await fetch(`${url}/v1/greetings/ada`);
      expect(await answer.json()).toEqual({ name: "ada" });
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    } finally {
      command.signal("SIGTERM");
      command.kill();
    }
  });
});

test.each([
  ["a folder that is not empty", "full", /^error: .*full: is not empty; /],
  ["a file", "full/file", /^error: .*file: is a file; /],
])("refuses %s, and writes nothing", async (_, name, message) => {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
  await mkdir(join(folder, "full"));
  await writeFile(join(folder, "full/file"), "");
  const command = runCommand(["bin/isthmus.js", "init", join(folder, name)]);
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(message);
  expect(await readdir(folder, { recursive: true })).toEqual(["full", join("full", "file")]);
  await rm(folder, { recursive: true });
});
