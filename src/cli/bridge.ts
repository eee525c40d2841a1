/** `isthmus bridge`: gRPC-Web for the gateway, gRPC for one backend, where Cloudflare's edge does not convert. */
import { createBridge } from "../node/bridge.ts";
import { probeBackend } from "../node/probe.ts";
import { whenStopped } from "../node/signal.ts";
import { readCa } from "./ca.ts";

export interface BridgeArguments {
  readonly to: string;
  readonly port: number;
  /** Path of a PEM file. */
  readonly ca?: string;
}

/** Serves until it is stopped, whether or not the backend answers yet. */
export async function bridge({ to, port, ca: caFile }: BridgeArguments): Promise<void> {
  const stopped = whenStopped();
  const ca = await readCa(caFile);
  const bridge = await createBridge({ to, port, ...ca, log: (line) => console.error(line) });
  console.log(`listening on ${bridge.url}`);
  const { message } = await probeBackend({ url: to, protocol: "grpc", ...ca });
  console.error(`${to}: ${message}`);
  await stopped;
  await bridge.close();
}
