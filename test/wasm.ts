/** The compiled engine, for tests of it. */
import { readFile } from "node:fs/promises";
import { buildWasm } from "../src/node/wasm.ts";

export const wasmModule = new WebAssembly.Module(await readFile(await buildWasm()));
