/** The call that a probe makes: grpc.health.v1.Health/Check. Its answer may be any, UNIMPLEMENTED as well. */
import { once } from "node:events";
import http, { type IncomingHttpHeaders } from "node:http";
import type { ClientHttp2Session, IncomingHttpHeaders as H2Headers, IncomingHttpStatusHeader } from "node:http2";
import https from "node:https";
import { grpcRequestHeader } from "./bridge-header.ts";
import type { H2Target } from "./h2-connect.ts";
import { Unreachable } from "./unreachable.ts";

const PATH = "/grpc.health.v1.Health/Check";

/** An envelope around the empty message. */
const EMPTY_ENVELOPE = Buffer.alloc(5);

/** As much as is read of an answer. */
const MAX_BODY_BYTES = 1 << 16;

export interface GrpcAnswer {
  readonly header: H2Headers & IncomingHttpStatusHeader;
  readonly trailer: H2Headers;
  /** RFC 9113 §7; 0 for a stream that ended. */
  readonly rstCode: number;
}

export interface Http1Answer {
  readonly status: number;
  readonly header: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** @throws Unreachable when there is no answer in time, or when the connection is closed. */
export function callGrpc(session: ClientHttp2Session, url: URL, timeoutMs: number): Promise<GrpcAnswer> {
  return new Promise((resolve, reject) => {
    const from = { "content-type": "application/grpc-web" };
    const stream = session.request(grpcRequestHeader(from, pathAt(url), url));
    stream.setTimeout(timeoutMs, () => stream.destroy(tooLate()));
    let header: GrpcAnswer["header"] = {};
    let trailer: H2Headers = {};
    stream.on("response", (fields) => {
      header = fields;
    });
    stream.on("trailers", (fields) => {
      trailer = fields;
    });
    stream.on("error", (error) => {
      // Any other is told by the code.
      if (error instanceof Unreachable) reject(error);
    });
    stream.on("close", () => {
      if (session.destroyed) reject(new Unreachable("closed", "it closes the connection"));
      else resolve({ header, trailer, rstCode: stream.rstCode });
    });
    stream.resume();
    stream.end(EMPTY_ENVELOPE);
  });
}

/** @throws Error of http, https or tls; Unreachable when there is no answer in time. */
export async function callHttp1(
  { url, ca }: H2Target,
  protocol: "connect" | "grpc-web",
  timeoutMs: number,
): Promise<Http1Answer> {
  const connect = protocol === "connect";
  const headers = connect
    ? { "content-type": "application/proto", "connect-protocol-version": "1" }
    : { "content-type": "application/grpc-web+proto", accept: "application/grpc-web+proto", "x-grpc-web": "1" };
  const secure = url.protocol === "https:";
  const request = (secure ? https : http).request(url, {
    method: "POST",
    path: pathAt(url),
    headers,
    agent: secure && new https.Agent({ ALPNProtocols: ["http/1.1"], ...(ca !== undefined && { ca }) }),
  });
  const timer = setTimeout(() => request.destroy(tooLate()), timeoutMs);
  try {
    request.end(connect ? undefined : EMPTY_ENVELOPE);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) break;
    }
    return { status: response.statusCode ?? 0, header: response.headers, body: Buffer.concat(chunks) };
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

/** Under the path prefix of the backend. */
function pathAt(url: URL): string {
  return url.pathname.replace(/\/$/, "") + PATH;
}

function tooLate(): Unreachable {
  return new Unreachable("timeout", "it takes the call and does not answer in time");
}
