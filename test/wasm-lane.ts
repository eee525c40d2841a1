/** Before each file of the wasm lane: codecs that are compiled in it have the WebAssembly engine before the other one. */
import { useWasm } from "../src/codec/wasm-engine.ts";
import { wasmModule } from "./wasm.ts";

useWasm(wasmModule);
