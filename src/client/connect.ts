/** Connect unary: POST with `application/json` or `application/proto`, GET for methods without side effects. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Body, Reply } from "../call.ts";
import { quote } from "../codec/error.ts";
import { parseBase64 } from "../protocol/base64.ts";
import { tooLarge } from "../protocol/bytes.ts";
import {
  ACCEPTED_ENCODINGS,
  ENCODED_BY_HAND,
  isIdentity,
  isKnownEncoding,
  readDecoded,
} from "../protocol/compression.ts";
import { CONNECT_VERSION, checkVersion, checkVersionField, formatError } from "../protocol/connect.ts";
import { isJson, parseMediaType } from "../protocol/media-type.ts";
import { appendMetadata, putTrailer, requestMetadata, responseMetadata } from "../protocol/metadata.ts";
import { httpOfError, methodNotAllowed, refuse } from "../protocol/status.ts";
import type { Method } from "../schema/model.ts";
import type { ClientOptions, Exchange, MethodCodecs, Opened } from "./exchange.ts";
import { decodeForm, decodeFormBytes, parseParameters } from "./query.ts";
import { readBody } from "./request-body.ts";
import { respondWhole } from "./whole-answer.ts";

type CodecName = "json" | "proto";

/** A call of an RPC path. */
export interface RpcRequest {
  readonly request: Request;
  readonly method: Method;
  /** Query of the request target, without "?". */
  readonly query: string;
}

/** Of a GET (Connect, "Unary-Get-Request"). */
const GET_PARAMETERS: readonly string[] = ["connect", "encoding", "compression", "base64", "message"];

/**
 * @param passthrough binary bodies may pass untouched: the upstream speaks Connect, and nobody reads messages.
 */
export function createConnectExchange(
  { request, method, query }: RpcRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
  passthrough: boolean,
): Exchange {
  let codec: CodecName = "json";

  function open(): Opened {
    checkMethod(request.method, method);
    return request.method === "GET" ? openGet() : openPost();
  }

  function openPost(): Opened {
    codec = postCodec(request.headers.get("content-type"));
    checkVersionField(request.headers);
    const encoding = request.headers.get("content-encoding");
    if (!isKnownEncoding(encoding)) throw unknownCompression(encoding);
    const header = requestMetadata(request.headers, options.metadata);
    if (codec === "proto" && passthrough) {
      keepCompression(header, request.headers);
      return { header, body: { kind: "raw", stream: request.body } };
    }
    return { header, body: lazy(() => readBody(request, options.readMaxBytes, options.maxCompressionRatio)) };
  }

  function openGet(): Opened {
    const parameters = parseParameters(query, GET_PARAMETERS);
    const parameter = (name: string): string | null => {
      const encoded = parameters.get(name);
      return encoded === undefined ? null : decodeForm(encoded, name);
    };
    codec = getCodec(parameter("encoding"));
    checkVersion(parameter("connect"), `v${CONNECT_VERSION}`, "connect");
    const compression = parameter("compression");
    if (!isKnownEncoding(compression)) throw unknownCompression(compression);
    const message = parameters.get("message");
    if (message === undefined) throw new ConnectError("parameter message is missing", Code.InvalidArgument);
    const isBase64 = parameter("base64") === "1";
    const header = requestMetadata(request.headers, options.metadata);
    const read = async () => {
      const bytes = isBase64 ? parseBase64(decodeForm(message, "message")) : decodeFormBytes(message, "message");
      if (!bytes) throw new ConnectError("parameter message is not base64", Code.InvalidArgument);
      if (bytes.length > options.readMaxBytes) throw tooLarge(options.readMaxBytes);
      if (isIdentity(compression)) return bytes;
      return readDecoded(new Blob([bytes]).stream(), compression, options.readMaxBytes, options.maxCompressionRatio);
    };
    return { header, body: lazy(read) };
  }

  /** Both codecs end in wire bytes. */
  function lazy(read: () => Promise<Uint8Array>): Body {
    return codec === "proto"
      ? { kind: "message", read }
      : { kind: "message", read: async () => codecs.input.encode(await read()) };
  }

  async function respond(reply: Reply): Promise<Response> {
    const header = new Headers(reply.header);
    header.set("content-type", `application/${codec}`);
    if (reply.trailer) putTrailer(header, reply.trailer);
    if (reply.body.kind === "raw") {
      return new Response(reply.body.stream, { headers: header, ...(reply.body.coded && ENCODED_BY_HAND) });
    }
    if (reply.body.kind === "stream") throw new ConnectError("unary call answered by a stream", Code.Internal);
    const wire = await reply.body.read();
    const body = codec === "proto" ? wire : codecs.output.decode(wire);
    return respondWhole(body, header, { request, minBytes: options.compressMinBytes });
  }

  return { method, open, respond };
}

/** The answer to a failed unary call: JSON whatever the codec. */
export function formatConnectFailure(error: ConnectError): Response {
  const { status, header } = httpOfError(error);
  const headers = new Headers(header);
  appendMetadata(headers, responseMetadata(error.metadata));
  headers.set("content-type", "application/json");
  return new Response(formatError(error), { status, headers });
}

/** Methods of HTTP that reach an RPC path. */
export function connectAllow(method: Method): readonly string[] {
  return method.idempotency === "no-side-effects" ? ["GET", "OPTIONS", "POST"] : ["OPTIONS", "POST"];
}

function checkMethod(httpMethod: string, method: Method): void {
  if (httpMethod === "POST" || (httpMethod === "GET" && method.idempotency === "no-side-effects")) return;
  throw methodNotAllowed(httpMethod, connectAllow(method));
}

/** No type on a body is JSON, as everywhere. */
function postCodec(contentType: string | null): CodecName {
  if (contentType === null) return "json";
  const type = parseMediaType(contentType);
  if (type?.essence === "application/proto") return "proto";
  if (type?.essence === "application/json" && isJson(type)) return "json";
  throw unsupported(`content type ${quote(contentType)}`);
}

function getCodec(encoding: string | null): CodecName {
  if (encoding === "json" || encoding === "proto") return encoding;
  throw unsupported(`encoding ${quote(encoding ?? "")}`);
}

function unsupported(what: string): ConnectError {
  const types = "application/json, application/proto";
  return refuse(415, Code.InvalidArgument, `${what} is not supported; send ${types}`, { "accept-post": types });
}

function unknownCompression(encoding: string | null): ConnectError {
  const message = `unknown compression ${quote(encoding ?? "")}: supported encodings are ${ACCEPTED_ENCODINGS}`;
  return new ConnectError(message, Code.Unimplemented);
}

/** An untouched body keeps its coding, and the caller says which it takes back. */
function keepCompression(header: Headers, from: Headers): void {
  const encoding = from.get("content-encoding");
  if (!isIdentity(encoding)) header.set("content-encoding", encoding?.trim().toLowerCase() ?? "");
  header.set("accept-encoding", from.get("accept-encoding") ?? "identity");
}
