/** Transports of connect-node, the independent peer, for each protocol that a caller may speak. */
import type { Transport } from "@connectrpc/connect";
import type { CommonTransportOptions, UniversalClientFn } from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-grpc-web";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcWebTransport,
  createNodeHttpClient,
} from "@connectrpc/connect-node";

export interface TransportOptions {
  readonly baseUrl: string;
  readonly codec: "proto" | "json";
  readonly compression: "identity" | "gzip";
}

export interface RpcClient {
  readonly name: string;
  /** The upstream protocol for which its bodies pass untouched, in the codec proto. */
  readonly passes?: "connect" | "grpc-web";
  /** Header field that tells how compressed the messages of a stream are. */
  readonly encodingField: string;
  transport(options: TransportOptions): Transport;
}

export const RPC_CLIENTS: readonly RpcClient[] = [
  {
    name: "Connect",
    passes: "connect",
    encodingField: "connect-content-encoding",
    transport: (options) => createConnectTransport({ ...nodeOptions(options), httpVersion: "1.1" }),
  },
  {
    name: "gRPC-Web",
    passes: "grpc-web",
    encodingField: "grpc-encoding",
    transport: (options) => createGrpcWebTransport({ ...nodeOptions(options), httpVersion: "1.1" }),
  },
  {
    name: "gRPC-Web text",
    encodingField: "grpc-encoding",
    transport: (options) => createTransport({ ...universalOptions(options), httpClient: textClient() }),
  },
];

function nodeOptions({ baseUrl, codec, compression }: TransportOptions) {
  return {
    baseUrl,
    useBinaryFormat: codec === "proto",
    compressMinBytes: 0,
    acceptCompression: compression === "gzip" ? [compressionGzip] : [],
    ...(compression === "gzip" && { sendCompression: compressionGzip }),
  };
}

function universalOptions(options: TransportOptions): Omit<CommonTransportOptions, "httpClient"> {
  const { sendCompression = null, ...rest } = nodeOptions(options);
  return { ...rest, sendCompression, interceptors: [], readMaxBytes: 1 << 22, writeMaxBytes: 1 << 22 };
}

/** gRPC-Web of connect-es in base64: each piece that it writes is padded by itself. */
function textClient(): UniversalClientFn {
  const http = createNodeHttpClient({ httpVersion: "1.1" });
  return async (request) => {
    const header = new Headers(request.header);
    header.set("content-type", asText(header.get("content-type") ?? ""));
    const response = await http({ ...request, header, ...(request.body && { body: encodePieces(request.body) }) });
    const type = response.header.get("content-type") ?? "";
    if (!type.startsWith("application/grpc-web-text")) return response;
    const binary = new Headers(response.header);
    binary.set("content-type", type.replace("grpc-web-text", "grpc-web"));
    return { ...response, header: binary, body: decodePieces(response.body) };
  };
}

function asText(type: string): string {
  return type.replace("grpc-web", "grpc-web-text");
}

async function* encodePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of chunks) yield new TextEncoder().encode(Buffer.from(chunk).toString("base64"));
}

async function* decodePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let rest = "";
  for await (const chunk of chunks) {
    rest += Buffer.from(chunk).toString("latin1");
    const groups = rest.match(/.{4}/g) ?? [];
    rest = rest.slice(4 * groups.length);
    yield new Uint8Array(Buffer.concat(groups.map((group) => Buffer.from(group, "base64"))));
  }
  if (rest !== "") throw new Error(`the body ends inside its base64: ${rest}`);
}
