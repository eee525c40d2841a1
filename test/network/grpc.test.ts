/** A gRPC server of grpc-js behind the bridge, with the proxy between the two. */
import { createBridge } from "../../src/node/bridge.ts";
import { startGrpcMatrixBackend } from "../matrix/grpc-backend.ts";
import { everything } from "../matrix/schema.ts";
import { TEXTS } from "./callers.ts";
import { GRPC_FAULTS, type GrpcFault } from "./grpc-faults.ts";
import { type GrpcProxy, serveGrpc, startGrpcProxy } from "./grpc-proxy.ts";
import { type Network, testFaults } from "./suite.ts";

async function openGrpcNetwork(): Promise<Network<GrpcFault>> {
  const proxied = Promise.withResolvers<GrpcProxy>();
  const backend = await startGrpcMatrixBackend(async (url) => {
    const proxy = await startGrpcProxy(url);
    proxied.resolve(proxy);
    return proxy.url;
  });
  backend.play({ messages: TEXTS.map((text) => everything({ text })) });
  const proxy = await proxied.promise;
  // A bridge has one connection: each runtime has a bridge.
  const bridge = await createBridge({ to: proxy.url });
  return {
    url: (runtime) => (runtime === "workerd" ? bridge.url : backend.url),
    faults: GRPC_FAULTS,
    async inject({ answer, change, greet, refuses }) {
      proxy.answer = answer;
      proxy.change = change;
      proxy.greet = greet;
      if (refuses) await proxy.refuse();
      else if (greet) await proxy.drop();
    },
    async heal({ refuses }) {
      proxy.answer = serveGrpc;
      proxy.change = undefined;
      proxy.greet = undefined;
      await proxy.drop();
      if (refuses) await proxy.accept();
    },
    down: proxy.refuse,
    up: proxy.accept,
    open: proxy.open,
    sent: (method) => proxy.sent(method === "Echo" ? 1 : TEXTS.length),
    async stop() {
      await proxy.stop();
      await bridge.close();
      await backend.stop();
    },
  };
}

await testFaults("grpc", await openGrpcNetwork());
