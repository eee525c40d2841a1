/** A backend of connect-node for the tests of the gateway, the schema of its services, and gateways in front of it. */
import {
  createFileRegistry,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createGateway, type Gateway, type GatewayOptions } from "../src/gateway.ts";
import { compileSet } from "./proto.ts";
import { serve, type TestServer } from "./server.ts";

export const librarySet = await compileSet({
  "library.proto": `
    syntax = "proto3";
    package library.v1;
    import "google/api/annotations.proto";
    import "other.proto";
    service Library {
      rpc GetBook(Book) returns (Book) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/{name=books/*}"};
      }
      rpc CreateBook(Book) returns (Book) { option (google.api.http) = {post: "/v1/books" body: "*"}; }
      rpc Internal(Book) returns (Book);
    }
    message Book { string name = 1; int64 pages = 2; string note = 3; other.v1.Empty other = 4; }
  `,
  "other.proto": `
    syntax = "proto3";
    package other.v1;
    import "google/api/annotations.proto";
    service Other { rpc Ping(Empty) returns (Empty) { option (google.api.http) = {get: "/v1/ping"}; } }
    message Empty { string by = 1; }
  `,
});

interface Book {
  readonly name?: string;
  readonly pages?: bigint;
  readonly note?: string;
}
/** Messages here have no generated types. */
type Dynamic = MessageInitShape<DescMessage>;
type Handler = (request: Book, context: HandlerContext) => Book | Promise<Book>;

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, librarySet));

const book = registry.getMessage("library.v1.Book");
if (!book) throw new Error("no Book");
export const BookDesc: DescMessage = book;

function methodsOf(service: string): readonly DescMethodUnary[] {
  return (registry.getService(service)?.methods ?? []) as DescMethodUnary[];
}

export interface LibraryBackend extends TestServer {
  /** `Service.Method` of the calls so far. */
  readonly calls: readonly string[];
}

/** @param handle answers every call; default: the request itself. `ping` names the backend in Other's answer. */
export async function serveLibrary(
  handle: Handler = (request) => request,
  prefix = "",
  ping = "",
): Promise<LibraryBackend> {
  const calls: string[] = [];
  const adapter = connectNodeAdapter({
    requestPathPrefix: prefix,
    routes(router) {
      for (const method of methodsOf("library.v1.Library")) {
        router.rpc(method, async (request, context) => {
          calls.push(`Library.${method.name}`);
          return (await handle(request as Book, context)) as Dynamic;
        });
      }
      for (const method of methodsOf("other.v1.Other")) {
        router.rpc(method, () => {
          calls.push(`Other.${method.name}`);
          return { by: ping } as Dynamic;
        });
      }
    },
  });
  const server = await serve(adapter);
  return { ...server, calls };
}

export function notFound(name: string): ConnectError {
  return new ConnectError(`${name} is lent`, Code.NotFound, { "x-reason": "lent" });
}

export type Options = Partial<GatewayOptions>;

export function gatewayOf(url: string, options: Options = {}) {
  return createGateway({ schema: librarySet, backends: { "*": { url } }, warn: () => undefined, ...options });
}

export function send(gateway: Gateway, target: string, init: RequestInit = {}): Promise<Response> {
  return gateway.fetch(new Request(`http://gateway.example${target}`, init));
}

export function postJson(body: unknown, header: Record<string, string> = {}): RequestInit {
  return { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...header } };
}
