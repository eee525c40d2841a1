/** The asserting backend: connect-node over HTTP/1.1, which speaks Connect and gRPC-Web, and plays one script a test. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Message } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import { chat, collect, echo, watch } from "./schema.ts";

/** What the backend answers with, once it has the whole request. */
export interface Script {
  readonly header?: Readonly<Record<string, string>>;
  readonly trailer?: Readonly<Record<string, string>>;
  readonly messages: readonly Message[];
  /** Comes after the messages. */
  readonly error?: ConnectError;
}

/** What came. */
export interface Seen {
  readonly messages: readonly Message[];
  readonly header: Headers;
  readonly requestMethod: string;
  readonly timeoutMs: number | undefined;
}

export interface ScriptedBackend {
  readonly url: string;
  /** Calls since the last `play`. */
  readonly seen: readonly Seen[];
  /** Until the next: this is the answer. */
  play(script: Script): void;
  stop(): unknown;
}

export interface MatrixBackend extends ScriptedBackend {
  /** Until the next `play`: the answer to a unary call is this one's, and the script is not asked. */
  answer(handle: (request: Message, context: HandlerContext) => Promise<Message>): void;
}

export async function startMatrixBackend(): Promise<MatrixBackend> {
  let script: Script = { messages: [] };
  let handle: ((request: Message, context: HandlerContext) => Promise<Message>) | undefined;
  const seen: Seen[] = [];

  async function note(requests: AsyncIterable<Message>, context: HandlerContext): Promise<void> {
    const messages: Message[] = [];
    for await (const message of requests) messages.push(message);
    const { requestHeader: header, requestMethod } = context;
    seen.push({ messages, header, requestMethod, timeoutMs: context.timeoutMs() });
    for (const [name, value] of Object.entries(script.header ?? {})) context.responseHeader.set(name, value);
    for (const [name, value] of Object.entries(script.trailer ?? {})) context.responseTrailer.set(name, value);
  }
  function single(): Message {
    if (script.error) throw script.error;
    const [message] = script.messages;
    if (!message) throw new Error("the script has no message");
    return message;
  }
  function* all(): Generator<Message> {
    yield* script.messages;
    if (script.error) throw script.error;
  }

  const adapter = connectNodeAdapter({
    grpc: false,
    acceptCompression: [compressionGzip],
    compressMinBytes: 0,
    routes: (router) => {
      router.rpc(echo, async (request, context) => {
        await note(only(request), context);
        return handle ? handle(request, context) : single();
      });
      router.rpc(watch, async function* (request, context) {
        await note(only(request), context);
        yield* all();
      });
      router.rpc(collect, async (requests, context) => {
        await note(requests, context);
        return single();
      });
      router.rpc(chat, async function* (requests, context) {
        await note(requests, context);
        yield* all();
      });
    },
  });
  const server = http.createServer((request, response) => {
    // Half-duplex two-way streams work over HTTP/1.1, but connect-node answers them with 505.
    if (request.url?.endsWith(`/${chat.name}`)) Object.defineProperty(request, "httpVersion", { value: "2.0" });
    adapter(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    play(next) {
      script = next;
      handle = undefined;
      seen.length = 0;
    },
    answer(next) {
      handle = next;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function* only(message: Message): AsyncGenerator<Message> {
  yield message;
}
