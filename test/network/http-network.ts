/** A backend of connect-es over HTTP/1.1, which speaks Connect and gRPC-Web, behind the proxy. */
import { startMatrixBackend } from "../matrix/backend.ts";
import { everything } from "../matrix/schema.ts";
import { TEXTS } from "./callers.ts";
import type { HttpFault } from "./http-fault.ts";
import { HTTP_FAULTS } from "./http-faults.ts";
import { serveWhole, startFaultProxy } from "./http-proxy.ts";
import type { Network } from "./suite.ts";

export async function openHttpNetwork(): Promise<Network<HttpFault>> {
  const backend = await startMatrixBackend();
  backend.play({ messages: TEXTS.map((text) => everything({ text })) });
  const proxy = await startFaultProxy(backend.url);
  return {
    url: () => proxy.url,
    faults: HTTP_FAULTS,
    async inject({ answer, change, refuses }) {
      proxy.answer = answer;
      proxy.change = change;
      if (refuses) await proxy.refuse();
    },
    async heal({ refuses }) {
      proxy.answer = serveWhole;
      proxy.change = undefined;
      if (refuses) await proxy.accept();
    },
    down: proxy.refuse,
    up: proxy.accept,
    open: proxy.open,
    sent: proxy.sent,
    async stop() {
      await proxy.stop();
      backend.stop();
    },
  };
}
