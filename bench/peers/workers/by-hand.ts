/** A Worker for this one service, as a competent user would write it: connect-web's client, and the JSON of protobuf-es. */
import {
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { readShop, type Shop } from "../shop.ts";

interface Env {
  /** `set`: a FileDescriptorSet in base64. */
  readonly OPTIONS: { readonly backend: string; readonly set: string };
}

interface Clients {
  readonly shop: Shop;
  readonly transport: Transport;
}

let clients: Clients | undefined;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    clients ??= {
      shop: readShop(base64Decode(env.OPTIONS.set)),
      transport: createConnectTransport({
        baseUrl: env.OPTIONS.backend,
        useBinaryFormat: true,
        // The runtime knows no `redirect: "error"`.
        fetch: (input, init) => fetch(input, { ...init, redirect: "manual" }),
      }),
    };
    try {
      return await route(request, clients);
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      return Response.json({ code, message: rawMessage }, { status: code === Code.NotFound ? 404 : 500 });
    }
  },
};

async function route(request: Request, clients: Clients): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/v1/echo") return unary(request, clients, "echo", await request.json());
  if (pathname === "/v1/fail") return unary(request, clients, "fail", {});
  if (pathname === "/v1/watch") return watch(request, clients, { count: Number(searchParams.get("count")) });
  return unary(request, clients, "getItem", { id: decodeURIComponent(pathname.slice("/v1/items/".length)) });
}

function jsonOf(desc: DescMessage, message: Message): JsonObject {
  return toJson(desc, message) as JsonObject;
}

async function unary(
  request: Request,
  clients: Clients,
  name: "echo" | "fail" | "getItem",
  json: JsonObject,
): Promise<Response> {
  const method = clients.shop.service.method[name] as DescMethodUnary;
  const message = fromJson(method.input, json);
  const answer = await clients.transport.unary(method, request.signal, undefined, undefined, message);
  return Response.json(jsonOf(method.output, answer.message));
}

async function watch(request: Request, clients: Clients, json: JsonObject): Promise<Response> {
  const method = clients.shop.service.method.watch as DescMethodServerStreaming;
  const message = fromJson(method.input, json);
  const input = (async function* () {
    yield message;
  })();
  const answer = await clients.transport.stream(method, request.signal, undefined, undefined, input);
  const messages = answer.message[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await messages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify({ result: jsonOf(method.output, value) })}\n`));
    },
  });
  return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
}
