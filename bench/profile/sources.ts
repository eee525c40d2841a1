/** From places in the bundle back to the files of the repository. */
import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallFrame } from "./inspector.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Path of a frame's file, from the root of the repository; undefined for what is no script. */
export type FindFile = (frame: CallFrame) => string | undefined;

/** @param folder of worker.js.map. */
export async function readSources(folder: string): Promise<FindFile> {
  const map = new SourceMap(JSON.parse(await readFile(join(folder, "worker.js.map"), "utf8")));
  return ({ url, lineNumber, columnNumber }) => {
    if (url === "") return undefined;
    // The codec's engine: its places are of its own bytes.
    if (url.startsWith("wasm:")) return "src/wasm/engine.ts";
    const entry = map.findEntry(lineNumber, columnNumber);
    return "originalSource" in entry ? relative(ROOT, resolve(folder, entry.originalSource)) : undefined;
  };
}
