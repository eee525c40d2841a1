/** Callers of an RPC path: which protocol they speak is told by HTTP method and content type. */
import { Code, type ConnectError } from "@connectrpc/connect";
import { quote } from "../codec/error.ts";
import { VERSION_FIELD } from "../protocol/connect.ts";
import { parseMediaType } from "../protocol/media-type.ts";
import { httpOfError, methodNotAllowed, refuse } from "../protocol/status.ts";
import { createConnectExchange, formatConnectFailure, type RpcRequest } from "./connect.ts";
import { CONNECT_STREAM_TYPES, connectStreamDialect } from "./connect-stream.ts";
import { createEnvelopedExchange, type Dialect, failedEnd } from "./enveloped.ts";
import type { ClientOptions, Exchange, FormatFailure, MethodCodecs } from "./exchange.ts";
import { grpcWebDialect } from "./grpc-web.ts";

/** The protocol whose binary bodies may pass untouched: the backend speaks it, and nobody reads messages. */
export type Passthrough = "connect" | "grpc-web" | "none";

export function createRpcExchange(
  rpc: RpcRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
  passthrough: Passthrough,
): Exchange {
  const { request, method } = rpc;
  const essence = essenceOf(request);
  if (NATIVE_GRPC.test(essence)) throw nativeGrpc(essence);
  const web = grpcWebDialect(essence);
  if (web) return createEnvelopedExchange(rpc, codecs, options, web, passthrough === "grpc-web");
  if (method.kind === "unary") return createConnectExchange(rpc, codecs, options, passthrough === "connect");
  const stream = connectStreamDialect(essence);
  if (stream) return createEnvelopedExchange(rpc, codecs, options, stream, passthrough === "connect");
  if (request.method !== "POST") throw methodNotAllowed(request.method, ["OPTIONS", "POST"]);
  const types = CONNECT_STREAM_TYPES.join(", ");
  const message = `content type ${quote(request.headers.get("content-type") ?? "")} is not supported here; send ${types}`;
  throw refuse(415, Code.InvalidArgument, message, { "accept-post": types });
}

const NATIVE_GRPC = /^application\/grpc(?:\+|$)/;

function nativeGrpc(essence: string): ConnectError {
  const types = "application/grpc-web, application/proto, application/json";
  const message = `${essence} needs trailers of HTTP/2, which a Worker cannot send; call by gRPC-Web or Connect (${types})`;
  return refuse(415, Code.InvalidArgument, message, { "accept-post": types });
}

/** How failures look to this caller. */
export function formatRpcFailure(request: Request): FormatFailure {
  const essence = essenceOf(request);
  const dialect = grpcWebDialect(essence) ?? connectStreamDialect(essence);
  return (error) => {
    const { status, header } = httpOfError(error);
    if (status === 405 || status === 415) return formatRefusal(request, error.rawMessage, status, header);
    return dialect ? formatEnd(error, dialect) : formatConnectFailure(error);
  };
}

/**
 * A request that is none of the protocol's gets an answer of HTTP's, of which clients infer the code "unknown". One that says
 * that it is Connect's may be told so, and why.
 */
function formatRefusal(
  { headers }: Request,
  message: string,
  status: number,
  header: Readonly<Record<string, string>>,
): Response {
  if (headers.has(VERSION_FIELD)) {
    return formatConnectFailure(refuse(status, Code.Unknown, message, header));
  }
  return new Response(message, { status, headers: header });
}

function formatEnd(error: ConnectError, { contentType, formatEnd, encode }: Dialect): Response {
  const bytes = formatEnd(failedEnd(error));
  const body = (encode ? encode(bytes) : bytes) as Uint8Array<ArrayBuffer>;
  // As a stream: with a length, Cloudflare's edge would not turn the answer into gRPC.
  return new Response(new Blob([body]).stream(), { headers: { "content-type": contentType } });
}

/** GET is Connect's, whatever type it names. */
function essenceOf({ method, headers }: Request): string {
  return (method === "POST" && parseMediaType(headers.get("content-type") ?? "")?.essence) || "";
}
