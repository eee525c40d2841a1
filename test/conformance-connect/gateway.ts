/** The gateway in workerd, before a server of the suite. */
import { fileURLToPath } from "node:url";
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
 * @param readMaxBytes bytes of one request message; undefined: the gateway's default.
 */
export async function startGateway(set: Uint8Array, backend: Backend, readMaxBytes?: number): Promise<RunningGateway> {
  const url = `http://127.0.0.1:${backend.port}`;
  const { ports, stop } = await startWorkerd(WORKER, set, [
    { backends: { "*": { url, protocol: backend.protocol } }, rpc: "all", ...(readMaxBytes && { readMaxBytes }) },
  ]);
  const [port = 0] = ports;
  return { port, stop };
}
