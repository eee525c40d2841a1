/**
 * The example's backend: a real one, written with connect-node. It speaks Connect, gRPC-Web and gRPC on an HTTP/1.1
 * port and on one for HTTP/2 without TLS (h2c). It has no generated code: messages are read as ProtoJSON by descriptor.
 */
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { explainPort } from "../../src/node/port.ts";
import { createErrors } from "./errors.ts";
import { Library } from "./library.ts";
import { seedLibrary } from "./seed.ts";

const SERVICE = "example.library.v1.LibraryService";

export interface BackendOptions {
  /** Bytes of a FileDescriptorSet that holds example.library.v1 and google.rpc. */
  readonly schema: Uint8Array;
  readonly host: string;
  /** HTTP/1.1; 0 takes a free one. */
  readonly port: number;
  /** HTTP/2 without TLS; 0 takes a free one. */
  readonly h2cPort: number;
}

export interface Backend {
  readonly port: number;
  readonly h2cPort: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** @throws PortTakenError */
export async function startBackend({ schema, host, port, h2cPort }: BackendOptions): Promise<Backend> {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, schema));
  const library = new Library(createErrors(registry));
  seedLibrary(library);
  const handler = connectNodeAdapter({ routes: (router) => addLibrary(router, registry, library) });

  const http1 = createServer(handler as RequestListener);
  const sessions = new Set<ServerHttp2Session>();
  const http2 = createHttp2Server(handler).on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const close = async () => {
    http1.closeAllConnections();
    for (const session of sessions) session.destroy();
    await Promise.all(
      [http1, http2].filter(({ listening }) => listening).map((server) => server[Symbol.asyncDispose]()),
    );
  };
  try {
    return { port: await listen(http1, host, port), h2cPort: await listen(http2, host, h2cPort), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explainPort(error, port)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** A handler over ProtoJSON. Its request has every field without presence, as `alwaysEmitImplicit` writes them. */
type Handler = (request: never, signal: AbortSignal) => object | AsyncIterable<object>;

function addLibrary(router: ConnectRouter, registry: FileRegistry, library: Library): void {
  const service = registry.getService(SERVICE);
  if (!service) throw new Error(`${SERVICE} is not in the schema`);
  const handlers: Readonly<Record<string, Handler>> = {
    listShelves: (request) => library.listShelves(request),
    getShelf: (request) => library.getShelf(request),
    createShelf: (request) => library.createShelf(request),
    deleteShelf: (request) => library.deleteShelf(request),
    listBooks: (request) => library.listBooks(request),
    getBook: (request) => library.getBook(request),
    createBook: (request) => library.createBook(request),
    updateBook: (request) => library.updateBook(request),
    deleteBook: (request) => library.deleteBook(request),
    moveBook: (request) => library.moveBook(request),
    watchBooks: (request, signal) => library.watchBooks(request, signal),
  };
  for (const method of service.methods) {
    const handle = handlers[method.localName];
    if (!handle) throw new Error(`${method.localName} has no handler`);
    router.rpc(method, implement(method, handle));
  }
}

/** `never`, because connect's types know only services that were generated. */
function implement({ input, output, methodKind }: DescMethod, handle: Handler): never {
  const unary = (request: Message, { signal }: HandlerContext) => write(output, handle(read(input, request), signal));
  const stream = async function* (request: Message, { signal }: HandlerContext) {
    const events = handle(read(input, request), signal) as AsyncIterable<object>;
    for await (const event of events) yield write(output, event);
  };
  return (methodKind === "unary" ? unary : stream) as never;
}

/** `never`, because what a handler wants is known to the handler alone. */
function read(desc: DescMessage, message: Message): never {
  return toJson(desc, message, { alwaysEmitImplicit: true }) as never;
}

function write(desc: DescMessage, answer: object): Message {
  return fromJson(desc, answer as JsonValue);
}
