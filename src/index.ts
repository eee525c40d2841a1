/** The Worker: one gateway per isolate, made on its first request. */
import { Router } from "itty-router";
import engine from "../gen/codec.wasm";
import schema from "../gen/schema.bin";
import { useWasm } from "./codec/wasm-engine.ts";
import { createGateway, type Gateway } from "./image-gateway.ts";
import { readVariables } from "./variables.ts";

useWasm(engine);

/** Paths of the Worker itself, beside the API. */
const OPERATIONS_PATH = /^https?:\/\/[^/]+\/healthz$/;

const operations = Router();
operations.all("/healthz", () => new Response("ok\n", { headers: { "content-type": "text/plain;charset=utf-8" } }));

let gateway: Gateway | undefined;

export default {
  async fetch(request: Request, env: Readonly<Record<string, unknown>>): Promise<Response> {
    if (OPERATIONS_PATH.test(request.url)) return operations.fetch(request);
    try {
      gateway ??= createGateway({ schema, ...readVariables(env) });
    } catch (error) {
      // What is wrong concerns the operator, not the caller.
      console.error(`Isthmus cannot start: ${error instanceof Error ? error.message : error}`);
      return Response.json({ code: 13, message: "the gateway is misconfigured; its log says how" }, { status: 500 });
    }
    return gateway.fetch(request);
  },
};
