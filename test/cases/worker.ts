/** The Worker under test: a gateway whose options and schema are bindings. */
import engine from "codec.wasm";
import { useWasm } from "../../src/codec/wasm-engine.ts";
import { createGateway, type Gateway, type ImageGatewayOptions } from "../../src/image-gateway.ts";

interface Env {
  readonly OPTIONS: Omit<ImageGatewayOptions, "schema">;
  readonly SCHEMA: ArrayBuffer;
}

useWasm(engine);

let gateway: Gateway | undefined;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    try {
      gateway ??= createGateway({ ...env.OPTIONS, schema: env.SCHEMA });
    } catch (error) {
      return new Response(String(error), { status: 500, headers: { "x-cases-refused": "1" } });
    }
    return gateway.fetch(request);
  },
};
