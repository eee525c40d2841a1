/**
 * Calls a backend that speaks gRPC-Web, or gRPC behind something that converts: all kinds of call.
 * grpc/doc/PROTOCOL-WEB.md of grpc/grpc.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, CallFn, Messages } from "../call.ts";
import { openBase64 } from "../protocol/base64-stream.ts";
import { readEnvelopes } from "../protocol/envelope-stream.ts";
import { formatTimeout, parseTrailers, TRAILER } from "../protocol/grpc-web.ts";
import { parseMediaType } from "../protocol/media-type.ts";
import { responseMetadata } from "../protocol/metadata.ts";
import { codeOfStatus } from "../protocol/status.ts";
import { brokenAnswer, describeHead, type UpstreamOptions, unexpected, unexpectedType } from "./backend.ts";
import { callEnveloped, checkCoding, type EnvelopedProtocol } from "./enveloped.ts";
import { parseGrpcStatus } from "./grpc-status.ts";

export interface GrpcWebUpstreamOptions extends UpstreamOptions {
  /**
   * The backend speaks gRPC: Cloudflare's edge, or the bridge, turns gRPC-Web into it. The type then has no "+proto",
   * since it would be kept, and some servers refuse `application/grpc+proto`.
   */
  readonly convert: boolean;
}

const BINARY = new Set(["application/grpc-web", "application/grpc-web+proto"]);
const TEXT = new Set(["application/grpc-web-text", "application/grpc-web-text+proto"]);

/** Of a reply without a body, which has its trailers in the header. */
const STATUS_FIELDS = ["grpc-status", "grpc-message", "grpc-status-details-bin"];

export function createGrpcWebUpstream(options: GrpcWebUpstreamOptions): CallFn {
  const type = options.convert ? "application/grpc-web" : "application/grpc-web+proto";
  const protocol: EnvelopedProtocol = {
    check: checkHead,
    read: readMessages,
    acceptField: "grpc-accept-encoding",
    rawFields: ["grpc-encoding", ...STATUS_FIELDS],
    init: options.convert ? { cf: { grpcWeb: "convert" } } : {},
  };
  return (call) => {
    const { header, timeoutMs } = call;
    header.set("content-type", type);
    header.set("x-grpc-web", "1");
    if (timeoutMs !== undefined) header.set("grpc-timeout", formatTimeout(timeoutMs));
    return callEnveloped(call, options, protocol);
  };
}

/** A status in the header counts whatever HTTP says (gRPC, "HTTP to gRPC Status Code Mapping"). */
function checkHead({ status, headers }: Response, { body }: Call): void {
  if (status !== 200) {
    if (headers.has("grpc-status")) throw parseGrpcStatus(headers) ?? new ConnectError("", Code.Unknown);
    throw unexpected(`HTTP ${status}`, codeOfStatus(status));
  }
  const type = parseMediaType(headers.get("content-type") ?? "")?.essence;
  if (BINARY.has(type ?? "") || (TEXT.has(type ?? "") && body.kind !== "raw")) return;
  throw unexpectedType(type, /^application\/grpc-web/);
}

function readMessages(call: Call, response: Response, options: UpstreamOptions): Messages {
  const { headers, body } = response;
  const isText = TEXT.has(parseMediaType(headers.get("content-type") ?? "")?.essence ?? "");
  return readEnvelopes(body, {
    maxBytes: options.readMaxBytes,
    encoding: checkCoding(headers.get("grpc-encoding")),
    endFlag: TRAILER,
    faultCode: Code.Internal,
    origin: describeHead(response),
    ...(isText && { open: (stream) => openBase64(stream, Code.Internal) }),
    end(last, messages) {
      if (!last && messages > 0) {
        throw new ConnectError("the answer of the backend broke off before its trailers", Code.Internal);
      }
      // Without any frame the header holds the trailers; "Trailers-Only". It may hold what was meant as header too, and nobody
      // can tell them apart: all of it is both.
      const trailers = last ? parseTrailers(last) : headers;
      // A frame that says nothing adds nothing to a status that came in the header, but behind messages that one was early.
      const isSilent = messages === 0 && !trailers.has("grpc-status");
      const error = parseGrpcStatus(isSilent ? headers : trailers);
      const trailer = responseMetadata(trailers);
      // That one is HTTP's.
      if (!last) trailer.delete("date");
      return { ...(error && { error }), trailer };
    },
    describe: (error) => brokenAnswer(call, options, error),
  });
}
