/** The measurements in workerd, asked for from Node. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE } from "../../src/node/dev.ts";
import { buildWasm } from "../../src/node/wasm.ts";
import type { Core } from "./core.ts";
import type { Runtime } from "./runtime.ts";

export async function startWorkerd(set: Uint8Array): Promise<Runtime> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [
        { type: "ESModule", path: "worker.js", contents: await bundle() },
        { type: "Data", path: "bench.bin", contents: set },
        { type: "CompiledWasm", path: "codec.wasm", contents: await readFile(await buildWasm()) },
      ],
      compatibilityDate: COMPATIBILITY_DATE,
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  const url = await miniflare.ready;
  async function ask<What extends "payload" | "hostile">(
    what: What,
    ...args: Parameters<Core[What]>
  ): Promise<ReturnType<Core[What]>> {
    const response = await fetch(url, { method: "POST", body: JSON.stringify([what, ...args]) });
    if (!response.ok) throw new Error(`${args.join(" ")}: ${await response.text()}`);
    return response.json() as Promise<ReturnType<Core[What]>>;
  }
  return {
    name: "workerd",
    version: createRequire(import.meta.url)("workerd/package.json").version,
    payload: (...args) => ask("payload", ...args),
    hostile: (...args) => ask("hostile", ...args),
    stop: () => miniflare.dispose(),
  };
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["bench.bin", "codec.wasm"],
    logLevel: "silent",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
