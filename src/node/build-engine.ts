/** `gen/codec.wasm`, for `wrangler dev` and `wrangler deploy` in a checkout. */
import { buildWasm } from "./wasm.ts";

await buildWasm();
