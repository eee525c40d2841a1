/** The gateway in workerd, before a server of the suite; before one that speaks gRPC, the bridge stands between. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createBridge } from "../../src/node/bridge.ts";
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

/** Whether the gateway hands on binary bodies of such callers as they are. gRPC-Web has the envelopes of gRPC. */
export function passesThrough(caller: ProtocolName, upstream: ProtocolName): boolean {
  return caller === upstream || (caller === "grpc-web" && upstream === "grpc");
}

export interface Parts {
  /** Bytes of the suite's FileDescriptorSet. */
  readonly set: Uint8Array;
  /** Path of the program that stands before the Worker. */
  readonly front: string;
}

/** @param options of the gateway, beside its backend. */
export async function startGateway(parts: Parts, backend: Backend, options: JsonObject): Promise<RunningGateway> {
  const { port, protocol } = backend;
  const to = `http://127.0.0.1:${port}`;
  const bridge = protocol === "grpc" ? await createBridge({ to }) : undefined;
  const backends = { "*": { url: bridge?.url ?? to, protocol } };
  // Whatever the caller takes compressed, it gets so.
  const whole = { backends, rpc: "all", compressMinBytes: 1, ...options };
  const workerd = await startWorkerd(WORKER, parts.set, [whole]);
  const front = spawn(parts.front, [`127.0.0.1:${workerd.ports[0]}`], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(front.stdout), "line");
  return {
    port: Number(line),
    async stop() {
      front.stdin.end();
      await workerd.stop();
      await bridge?.close();
    },
  };
}
