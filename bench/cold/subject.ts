/** What is started cold: a file of `gateway/` or `codec/`, with the schema of a fixture. */
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { buildWasm } from "../../src/node/wasm.ts";
import type { Fixture } from "./fixtures.ts";
import type { Round } from "./round.ts";

/** What a call is: a request and its answer, or JSON → wire → JSON of one message. */
export type Work = "gateway" | "codec";

/**
 * `wasm`: ours, from a schema image, with the WebAssembly engine. `image`: the same without it. `descriptors`: ours, from a descriptor set. `protobuf-es`: @bufbuild/protobuf's own
 * JSON and wire, from a descriptor set. `empty`: a Worker that does nothing, which is subtracted from the others.
 */
export const STARTS = ["wasm", "image", "descriptors", "protobuf-es", "empty"] as const;
export type Start = (typeof STARTS)[number];

export interface Subject {
  readonly work: Work;
  readonly start: Start;
  readonly fixture: Fixture;
  readonly schema: Uint8Array;
  /** Exports `open`. */
  readonly module: string;
  readonly rounds: Round[];
}

/** Of one kind of work: every start with every fixture. */
export async function createSubjects(work: Work, fixtures: readonly Fixture[]): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const start of STARTS) {
    const module = await bundle(`export * from "./${work}/${start}.ts";`, readsEngine(await buildWasm()));
    for (const fixture of fixtures) {
      subjects.push({ work, start, fixture, schema: schemaOf(start, fixture), module, rounds: [] });
    }
  }
  return subjects;
}

function schemaOf(start: Start, { schemas }: Fixture): Uint8Array {
  if (start === "empty") return new Uint8Array();
  return start === "image" || start === "wasm" ? schemas.image : schemas.descriptors;
}

/** For Node, which has no import of modules of WebAssembly as Workers have it. */
function readsEngine(path: string): Plugin {
  return {
    name: "reads the engine",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /codec\.wasm$/ }, () => ({ path, namespace: "engine" }));
      onLoad({ filter: /.*/, namespace: "engine" }, () => ({
        contents: `import { readFileSync } from "node:fs";
          export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`,
      }));
    },
  };
}

/** @param source of a module in this folder. @returns it and all that it imports but its schema and the engine, minified. */
export async function bundle(source: string, ...plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["./schema.bin", "./codec.wasm", "node:fs"],
    plugins,
    // As in our wrangler.toml.
    alias: { "@connectrpc/connect": fileURLToPath(new URL("../../src/connect-error.ts", import.meta.url)) },
    // As in that of `isthmus init`. Without it protobuf-es starts 5 ms later in workerd.
    define: { process: "undefined" },
    logLevel: "silent",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
