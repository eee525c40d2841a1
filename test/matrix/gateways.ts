/** Gateways in front of one backend: in raw workerd, and as a library in Node behind srvx. */
import { fileURLToPath } from "node:url";
import { serve } from "srvx";
import { createGateway, type GatewayOptions } from "../../src/gateway.ts";
import { startWorkerd } from "../cases/workerd.ts";

export type Runtime = "workerd" | "Node";
export const RUNTIMES: readonly Runtime[] = ["workerd", "Node"];

type Options = Omit<GatewayOptions, "schema">;

export interface Gateways {
  /** Base url of the n-th gateway. */
  url(runtime: Runtime, i: number): string;
  /** What workerd wrote to stderr so far. */
  log(): string;
  stop(): Promise<void>;
}

/** @param options one gateway in each runtime for each; plain values only. */
export async function startGateways(schema: Uint8Array, options: readonly Options[]): Promise<Gateways> {
  const worker = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
  const workerd = await startWorkerd(
    worker,
    schema,
    options.map((one) => JSON.parse(JSON.stringify(one))),
  );
  const servers = options.map((one) =>
    serve({ fetch: createGateway({ ...one, schema }).fetch, hostname: "127.0.0.1", port: 0, silent: true }),
  );
  await Promise.all(servers.map((server) => server.ready()));
  return {
    url: (runtime, i) =>
      runtime === "workerd" ? `http://127.0.0.1:${workerd.ports[i]}` : (servers[i]?.url ?? "").replace(/\/$/, ""),
    log: workerd.log,
    async stop() {
      await Promise.all([workerd.stop(), ...servers.map((server) => server.close(true))]);
    },
  };
}
