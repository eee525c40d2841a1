/**
 * What stands in front of a Worker on Cloudflare takes the rest of a request that was answered early. Bare workerd does not:
 * it closes the connection with the answer, and a caller that is still writing may see a broken pipe instead. This relay is that
 * front, for one port, and does nothing else.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Relay {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): void;
}

/** @param to port on 127.0.0.1. */
export async function startRelay(to: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => {
    const worker = connect({ port: to, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    // The answer is complete: what the caller still writes goes nowhere.
    worker.once("end", () => caller.unpipe(worker).resume());
    worker.on("error", () => caller.unpipe(worker).resume());
    // A caller that leaves leaves the Worker in the same way: by an end, or by a reset.
    caller.on("error", () => worker.resetAndDestroy());
    caller.once("close", () => worker.destroy());
    worker.once("close", () => caller.end());
    for (const socket of [caller, worker]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
    caller.pipe(worker).pipe(caller);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
