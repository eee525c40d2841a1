/** The codec's WebAssembly engine for the package in Node, which lies beside what is built. */
import { readFileSync } from "node:fs";
import { useWasm } from "../codec/wasm-engine.ts";

const bytes = readFileSync(new URL("../codec.wasm", import.meta.url));
// False where the processor has no SIMD.
useWasm(WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : undefined);
