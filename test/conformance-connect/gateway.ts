/** The gateway in workerd, before a server of the suite; before one that speaks gRPC, the bridge stands between. */
import { fileURLToPath } from "node:url";
import { createBridge } from "../../src/node/bridge.ts";
import type { JsonObject } from "../cases/case.ts";
import { startWorkerd } from "../cases/workerd.ts";
import { startRelay } from "./linger.ts";
import type { ProtocolName } from "./messages.ts";

const WORKER = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));

export interface Backend {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly protocol: ProtocolName;
}

export interface RunningGateway {
  /** On 127.0.0.1. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Whether the gateway hands on binary bodies of such callers as they are. gRPC-Web has the envelopes of gRPC. */
export function passesThrough(caller: ProtocolName, upstream: ProtocolName): boolean {
  return caller === upstream || (caller === "grpc-web" && upstream === "grpc");
}

/**
 * @param set bytes of the suite's FileDescriptorSet.
 * @param options of the gateway, beside its backend.
 */
export async function startGateway(set: Uint8Array, backend: Backend, options: JsonObject): Promise<RunningGateway> {
  const { port, protocol } = backend;
  const to = `http://127.0.0.1:${port}`;
  const bridge = protocol === "grpc" ? await createBridge({ to }) : undefined;
  const backends = { "*": { url: bridge?.url ?? to, protocol } };
  const workerd = await startWorkerd(WORKER, set, [{ backends, rpc: "all", ...options }]);
  const relay = await startRelay(workerd.ports[0] ?? 0);
  return {
    port: relay.port,
    async stop() {
      relay.close();
      await workerd.stop();
      await bridge?.close();
    },
  };
}
