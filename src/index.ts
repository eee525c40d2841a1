/** The Worker: one gateway per isolate, made on its first request. */
import { Router } from "itty-router";
import schema from "../gen/api.binpb";
import { createGateway, type Gateway } from "./gateway.ts";
import { readVariables } from "./variables.ts";

/** Paths of the Worker itself, beside the API. */
const OPERATIONS_PATH = /^https?:\/\/[^/]+\/healthz$/;

const operations = Router();
operations.all("/healthz", () => new Response("ok\n", { headers: { "content-type": "text/plain;charset=utf-8" } }));

let gateway: Gateway | undefined;

export default {
  fetch(request: Request, env: Readonly<Record<string, unknown>>): Promise<Response> {
    if (OPERATIONS_PATH.test(request.url)) return operations.fetch(request);
    gateway ??= createGateway({ schema, ...readVariables(env) });
    return gateway.fetch(request);
  },
};
