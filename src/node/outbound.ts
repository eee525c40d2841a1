/** Stands in for Cloudflare's edge under `isthmus dev`: a Worker through which the gateway's fetches go, and bridges. */
import type { Backend } from "../options.ts";
import { type Bridge, createBridge } from "./bridge.ts";

export interface Outbound {
  /** Source of the Worker; its binding BRIDGES holds URLs of bridges by origin of their backends. */
  readonly script: string;
  readonly bindings: { readonly BRIDGES: Readonly<Record<string, string>> };
  close(): Promise<void>;
}

/** Inside workerd bodies stream, wait and are cancelled as they would be without it. */
const SCRIPT = `export default {
  fetch(request, { BRIDGES }) {
    if (request.cf?.grpcWeb !== "convert") return fetch(request);
    const path = request.url.indexOf("/", request.url.indexOf("://") + 3);
    const bridge = BRIDGES[request.url.slice(0, path)];
    return bridge
      ? fetch(new Request(bridge + request.url.slice(path), request))
      : new Response("no such gRPC backend", { status: 502 });
  },
};
`;

/** @returns undefined when no backend speaks gRPC: fetches need no detour then. */
export async function createOutbound(
  backends: readonly Backend[],
  log: (line: string) => void,
): Promise<Outbound | undefined> {
  const origins = new Set(backends.filter(({ protocol }) => protocol === "grpc").map(({ url }) => new URL(url).origin));
  if (origins.size === 0) return undefined;
  const bridges = new Map<string, Bridge>();
  for (const origin of origins) bridges.set(origin, await createBridge({ to: origin, log }));
  return {
    script: SCRIPT,
    bindings: { BRIDGES: Object.fromEntries([...bridges].map(([origin, { url }]) => [origin, url])) },
    async close() {
      await Promise.all([...bridges.values()].map((bridge) => bridge.close()));
    },
  };
}
