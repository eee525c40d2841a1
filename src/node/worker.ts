/** The Worker (src/index.ts) as one module of JavaScript, its schema and the codec's engine apart. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** What the Worker calls its schema image: seen from src/index.ts, and from dist/worker.js alike. */
export const SCHEMA_IMAGE = "../gen/schema.bin";

/** The same of the codec's WebAssembly engine. */
export const ENGINE = "../gen/codec.wasm";

/** @returns the source text: bundled afresh in a checkout, as it was built in the package. */
export async function loadWorker(): Promise<string> {
  if (import.meta.url.endsWith(".ts")) return bundleWorker();
  return readFile(new URL("../worker.js", import.meta.url), "utf8");
}

/** @returns the compiled engine: of the sources in a checkout, as it was built in the package. */
export async function loadEngine(): Promise<Uint8Array<ArrayBuffer>> {
  if (!import.meta.url.endsWith(".ts")) return readFile(new URL("../codec.wasm", import.meta.url));
  const { buildWasm } = await import("./wasm.ts");
  return readFile(await buildWasm());
}

/** Bundles src/index.ts, minified; only in a checkout. */
export async function bundleWorker(): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../index.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["*.bin", "*.wasm"],
    // As in wrangler.toml.
    alias: { "@connectrpc/connect": fileURLToPath(new URL("../connect-error.ts", import.meta.url)) },
    logLevel: "silent",
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild wrote no file");
  return file.text;
}
