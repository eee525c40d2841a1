/** Header fields between gRPC-Web over HTTP/1.1 and gRPC over HTTP/2, and the trailers as a gRPC-Web frame. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { IncomingHttpHeaders as H2Headers } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";

/** The type without text encoding, and what follows it: `+proto`, parameters. */
const WEB_TYPE = /^application\/grpc-web(?!-)/i;
const GRPC_TYPE = /^application\/grpc(?=$|[+;\s])/i;

/** Of one connection, not of the call (RFC 9110 §7.6.1, RFC 9113 §8.2.2), or made anew on the other side. */
const CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Of gRPC-Web, of HTTP's own compression, and of workerd, which names the Worker that asks. */
const REQUEST_ONLY: ReadonlySet<string> = new Set(["accept", "accept-encoding", "cf-worker", "x-grpc-web"]);

/** Where a header block ends the call, these tell how; in any other they say nothing (Trailers-Only). */
const STATUS: ReadonlySet<string> = new Set(["grpc-status", "grpc-message", "grpc-status-details-bin"]);

export function isWebType(contentType: string | undefined): boolean {
  return contentType !== undefined && WEB_TYPE.test(contentType);
}

export function isGrpcType(contentType: string | undefined): boolean {
  return contentType !== undefined && GRPC_TYPE.test(contentType);
}

/** The header block of the gRPC request. `path` is the whole one, `url` names the backend. */
export function grpcRequestHeader(from: IncomingHttpHeaders, path: string, url: URL): OutgoingHttpHeaders {
  return {
    ":method": "POST",
    ":scheme": url.protocol.slice(0, -1),
    ":authority": url.host,
    ":path": path,
    te: "trailers",
    "content-type": (from["content-type"] ?? "").replace(WEB_TYPE, "application/grpc"),
    ...pick(from, (name) => !CONNECTION.has(name) && !REQUEST_ONLY.has(name)),
  };
}

/** The header fields of the gRPC-Web answer; how the call ended, its trailers say. */
export function webResponseHeader(from: H2Headers): OutgoingHttpHeaders {
  return {
    "content-type": (from["content-type"] ?? "").replace(GRPC_TYPE, "application/grpc-web"),
    ...pick(from, (name) => !CONNECTION.has(name) && !STATUS.has(name)),
  };
}

/** The trailers in a header block that is the whole answer (Trailers-Only). Its date is of HTTP: servers add it by themselves. */
export function trailersOnlyFields(from: H2Headers): H2Headers {
  return pick(from, (name) => !CONNECTION.has(name) && name !== "date");
}

/** Those fields of a header block that say how the call ended. */
export function statusFields(from: H2Headers): H2Headers {
  return pick(from, (name) => STATUS.has(name));
}

function pick(from: IncomingHttpHeaders, passes: (name: string) => boolean): IncomingHttpHeaders {
  const hops = new Set(from.connection?.split(",").map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(from).filter(([name]) => !name.startsWith(":") && passes(name) && !hops.has(name)),
  );
}

/** PROTOCOL-WEB: an envelope with the flag 0x80 that holds a block of HTTP/1 header fields. */
export function trailerFrame(trailers: H2Headers): Buffer {
  const lines = Object.entries(trailers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  // Node reads bytes of header fields as Latin-1.
  const block = Buffer.from(lines.join(""), "latin1");
  const frame = Buffer.alloc(5 + block.length);
  frame[0] = 0x80;
  frame.writeUInt32BE(block.length, 1);
  block.copy(frame, 5);
  return frame;
}

/** The trailers of a call that the bridge itself has to end. */
export function failureTrailers({ code, rawMessage }: ConnectError): H2Headers {
  return { "grpc-status": String(code), "grpc-message": percentEncode(rawMessage) };
}

/** PROTOCOL-HTTP2, Status-Message. */
function percentEncode(text: string): string {
  return text.replace(/[^ -$&-~]/gu, encodeURIComponent);
}
