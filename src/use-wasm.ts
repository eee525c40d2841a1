/**
 * The codec's WebAssembly engine for the package in Workers, which are handed modules that have been compiled, and may
 * compile none. (In Node: `node/use-wasm.ts`.)
 */
import { useWasm } from "./codec/wasm-engine.ts";
import engine from "./codec.wasm";

useWasm(engine);
