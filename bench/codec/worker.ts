/** The measurements inside workerd: one for each request, so that no request is long. */
import set from "bench.bin";
import engine from "codec.wasm";
import { useWasm } from "../../src/codec/wasm-engine.ts";
import { Core } from "./core.ts";
import type { Operation } from "./subjects.ts";

useWasm(engine);

let core: Core | undefined;

export default {
  /** `POST /` with `["payload" | "hostile", operation, name]`; answers with the figures. */
  async fetch(request: Request): Promise<Response> {
    core ??= new Core(new Uint8Array(set), () => performance.now());
    const [what, operation, name] = (await request.json()) as ["payload" | "hostile", Operation, string];
    return Response.json(core[what](operation, name));
  },
};
