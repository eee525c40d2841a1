/** Raw workerd: one process, one service and one socket for each gateway. Nothing between the socket and the Worker. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { buildWasm } from "../../src/node/wasm.ts";
import { markChecked } from "../../src/route/mark-checked.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import { readSchema } from "../../src/schema/read.ts";
import type { JsonObject } from "./case.ts";

const COMPATIBILITY_DATE = "2026-10-01";
const START_TIMEOUT_MS = 20_000;

export interface Workerd {
  readonly pid: number;
  /** Port of the n-th gateway. */
  readonly ports: readonly number[];
  /** Folder of worker.js and of its source map, worker.js.map; it goes away with stop(). */
  readonly folder: string;
  /** What workerd wrote to stderr so far. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * @param entry the Worker's source; it is bundled. Its bindings are OPTIONS and SCHEMA.
 * @param schema bytes of a FileDescriptorSet, of which all gateways get the image.
 * @param options one gateway for each.
 * @param flags of compatibility.
 * @param inspectorPort where V8's inspector listens; without it, there is none.
 * @throws Error with workerd's own words when it does not start.
 */
export async function startWorkerd(
  entry: string,
  schema: Uint8Array,
  options: readonly JsonObject[],
  flags: readonly string[] = ["enable_request_signal"],
  inspectorPort?: number,
): Promise<Workerd> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-cases-"));
  await bundle(entry, join(folder, "worker.js"));
  await copyFile(await buildWasm(), join(folder, "codec.wasm"));
  await writeFile(join(folder, "schema.bin"), writeImage(markChecked(readSchema(schema))));
  for (const [i, one] of options.entries()) await writeFile(join(folder, `options${i}.json`), JSON.stringify(one));
  await writeFile(join(folder, "config.capnp"), formatConfig(options.length, flags));

  const inspector = inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`];
  const child = spawn(workerdPath(), ["serve", "--control-fd=3", ...inspector, "config.capnp"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  let log = "";
  child.stderr?.on("data", (text) => {
    log += text;
  });
  const stop = async (): Promise<void> => {
    // Not SIGTERM: workerd would wait for calls that hang, as those of some cases do.
    process.off("exit", kill);
    kill();
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const early = exited.then(() => Promise.reject(new Error(`workerd ended: ${log}`)));
  early.catch(() => undefined);
  try {
    const ports = await Promise.race([readPorts(child.stdio[3] as Readable, options.length), early]);
    return { pid: child.pid ?? 0, ports, folder, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    // A file beside it, of which worker.js itself says nothing.
    sourcemap: "external",
    external: ["codec.wasm"],
    logLevel: "silent",
  });
}

/** The package's main module exports the path of its binary. */
function workerdPath(): string {
  return (createRequire(import.meta.url)("workerd") as { default: string }).default;
}

/** workerd writes a line of JSON to the control descriptor for each socket that listens. */
async function readPorts(control: Readable, count: number): Promise<number[]> {
  const ports = new Map<string, number>();
  const timer = setTimeout(() => control.destroy(new Error("workerd did not listen in time")), START_TIMEOUT_MS);
  try {
    for await (const line of createInterface({ input: control })) {
      const event = JSON.parse(line) as { event: string; socket: string; port: number };
      if (event.event === "listen") ports.set(event.socket, event.port);
      if (ports.size === count) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return Array.from({ length: count }, (_, i) => ports.get(`gateway${i}`) ?? 0);
}

function formatConfig(count: number, flags: readonly string[]): string {
  const numbers = Array.from({ length: count }, (_, i) => i);
  const services = numbers.map(
    (i) => `    (name = "gateway${i}", worker = (
      modules = [
        (name = "worker.js", esModule = embed "worker.js"),
        (name = "codec.wasm", wasm = embed "codec.wasm"),
      ],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      compatibilityFlags = ${JSON.stringify(flags)},
      globalOutbound = "backends",
      bindings = [
        (name = "OPTIONS", json = embed "options${i}.json"),
        (name = "SCHEMA", data = embed "schema.bin"),
      ],
    )),`,
  );
  const sockets = numbers.map(
    (i) => `    (name = "gateway${i}", address = "127.0.0.1:0", http = (), service = "gateway${i}"),`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "backends", network = (allow = ["private"])),
${services.join("\n")}
  ],
  sockets = [
${sockets.join("\n")}
  ],
);
`;
}
