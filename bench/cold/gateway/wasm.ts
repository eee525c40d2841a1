/** As image.ts, with the WebAssembly engine. */

import { useWasm } from "../../../src/codec/wasm-engine.ts";
import engine from "./codec.wasm";

useWasm(engine);

export { open } from "./image.ts";
