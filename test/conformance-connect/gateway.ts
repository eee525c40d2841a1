/** The gateway in workerd, before a server of the suite. */
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../cases/case.ts";
import { startWorkerd } from "../cases/workerd.ts";
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

/**
 * @param set bytes of the suite's FileDescriptorSet.
 * @param options of the gateway, beside its backend.
 */
export async function startGateway(set: Uint8Array, backend: Backend, options: JsonObject): Promise<RunningGateway> {
  const backends = { "*": { url: `http://127.0.0.1:${backend.port}`, protocol: backend.protocol } };
  const { ports, stop } = await startWorkerd(WORKER, set, [{ backends, rpc: "all", ...options }]);
  const [port = 0] = ports;
  return { port, stop };
}
