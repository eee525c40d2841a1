/** The codec's WebAssembly engine: compiled from `src/wasm`, which takes two seconds, and kept until that changes. */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { powersSource } from "./wasm-powers.ts";

const ROOM = new URL("../wasm/", import.meta.url);
const BUILT = new URL("../../gen/codec.wasm", import.meta.url);
/** What it was built of. */
const BUILT_OF = new URL("../../gen/codec.wasm.sha256", import.meta.url);

/**
 * Of 64 kB: 8 MB, enough for a message of a megabyte or two. Larger ones are left to the other engine, so that none
 * leaves a grown memory behind, which nothing would shrink again.
 */
const MAX_PAGES = "128";
/** Constants of the codec, of which the engine makes use as if they lay beside it. */
const SHARED = ["kind.ts", "shape.ts"];
const POWERS = "powers.ts";
const OPTIONS = [
  "-O3",
  "--runtime",
  "stub",
  "--noAssert",
  "--enable",
  "simd",
  "--maximumMemory",
  MAX_PAGES,
  "--use",
  "abort=",
];

/** Only in a checkout. @returns the path of the compiled engine, which is up to date. */
export async function buildWasm(): Promise<string> {
  const sources = await readSources();
  const hash = createHash("sha256")
    .update(JSON.stringify([OPTIONS, [...sources]]))
    .digest("hex");
  if ((await readFile(BUILT_OF, "utf8").catch(() => "")) !== hash) {
    const engine = await compile(sources);
    await mkdir(new URL(".", BUILT), { recursive: true });
    await replace(BUILT, engine);
    await replace(BUILT_OF, hash);
  }
  return fileURLToPath(BUILT);
}

/** Whole or not at all: tests side by side may build, and read, at the same time. */
async function replace(file: URL, contents: string | Uint8Array): Promise<void> {
  const draft = new URL(`${file.href}.${process.pid}`);
  await writeFile(draft, contents);
  await rename(draft, file);
}

/**
 * Decorators of functions, which are none in TypeScript: comments in the sources, so that these can be formatted and
 * checked with all others.
 */
const DECORATORS = /^\/\/ (@inline|@external\(.*\))$/gm;

/** By name of the file. */
async function readSources(): Promise<ReadonlyMap<string, string>> {
  const sources = new Map([[POWERS, powersSource()]]);
  for (const name of SHARED) sources.set(name, await readFile(new URL(`../codec/${name}`, ROOM), "utf8"));
  for (const name of (await readdir(ROOM)).toSorted()) {
    sources.set(name, (await readFile(new URL(name, ROOM), "utf8")).replaceAll(DECORATORS, "$1"));
  }
  return sources;
}

/** @throws Error with what the compiler says. */
async function compile(sources: ReadonlyMap<string, string>): Promise<Uint8Array> {
  const { default: compiler } = await import("assemblyscript/asc");
  let engine: Uint8Array | undefined;
  const { error, stderr } = await compiler.main(["engine.ts", "--outFile", "codec.wasm", ...OPTIONS], {
    // The compiler puts its own ending behind that of an import.
    readFile: (name) => sources.get(name.replace(/^\.\//, "").replace(/\.ts\.ts$/, ".ts")) ?? null,
    writeFile(_, contents) {
      engine = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error || engine === undefined) throw new Error(`src/wasm does not compile:\n${stderr.toString()}`);
  return engine;
}
