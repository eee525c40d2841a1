/**
 * A process of its own: the backend, of connect-node. Prints its port. `GET /open` tells how many calls are open, by
 * connect-node's own signal.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  DescMessage,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { soakService } from "./schema.ts";

/** Messages here have no generated types. */
type Dynamic = MessageInitShape<DescMessage>;
interface Note {
  readonly id: string;
  readonly text: string;
}

let open = 0;

/** Of a stream, so that callers have something to leave. */
const PAUSE_MS = 25;

function counted({ signal }: HandlerContext): void {
  open++;
  signal.addEventListener("abort", () => open--, { once: true });
}

const adapter = connectNodeAdapter({
  routes(router) {
    const { getNote, putNote, watch, gather } = soakService().method;
    router.rpc(getNote as DescMethodUnary, (request: unknown, context) => {
      counted(context);
      const { id, text } = request as Note;
      return { id, text } as Dynamic;
    });
    router.rpc(putNote as DescMethodUnary, (request, context) => {
      counted(context);
      return request;
    });
    router.rpc(watch as DescMethodServerStreaming, async function* (request: unknown, context) {
      counted(context);
      const { id, count } = request as Note & { readonly count: number };
      for (let at = 1; at <= count && !context.signal.aborted; at++) {
        yield { id, at: BigInt(at) } as Dynamic;
        await sleep(PAUSE_MS);
      }
    });
    router.rpc(gather as DescMethodClientStreaming, async (requests: unknown, context) => {
      counted(context);
      const ids: string[] = [];
      for await (const { id } of requests as AsyncIterable<Note>) ids.push(id);
      return { ids } as Dynamic;
    });
  },
});

const server = createServer((request, response) => {
  if (request.url === "/open") response.end(String(open));
  else adapter(request, response);
});
// A connection that the backend closes while a request is on its way to it would be an error that no caller caused.
server.keepAliveTimeout = 600_000;
// Callers who leave take their connections with them: a thousand new ones at once must not wait to be tried again.
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log((server.address() as AddressInfo).port));
