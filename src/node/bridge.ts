/**
 * The gRPC bridge: what Cloudflare's edge does for a Worker's `cf: { grpcWeb: "convert" }`, on this machine. gRPC-Web
 * comes in over HTTP/1.1, gRPC goes out over HTTP/2, envelopes are handed on as they are.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { bridgeCall } from "./bridge-call.ts";
import { isWebType } from "./bridge-header.ts";
import { createSessions } from "./h2-sessions.ts";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.ts";
import { explainPort } from "./port.ts";
import { probeBackend } from "./probe.ts";

export interface BridgeOptions {
  /** The gRPC server: `http://host:port` is HTTP/2 without TLS, `https://host` is TLS. A path prefix is kept. */
  readonly to: string;
  /** Where to listen on 127.0.0.1. Default: a free one. */
  readonly port?: number;
  /** Certificates in PEM that are trusted in place of Node's own. Default: Node's own. */
  readonly ca?: string;
  /** Told, a line at a time, why the backend does not answer as it should. Default: nobody is. */
  readonly log?: (line: string) => void;
}

export interface Bridge {
  /** `http://127.0.0.1:port`: a backend that speaks gRPC-Web. */
  readonly url: string;
  /** Ends all that is going on. */
  close(): Promise<void>;
}

/** Of one request; Workers have 128 KiB for all, gRPC servers commonly 8 to 64. */
const MAX_HEADER_BYTES = 1 << 16;

/** Callers close first: one that takes a connection up as it is closed here would see its call fail. */
const KEEP_ALIVE_MS = 600_000;

/**
 * @returns when it listens, whether or not the backend answers.
 * @throws PortTakenError; TypeError when `to` is no URL.
 */
export async function createBridge({ to, port = 0, ca, log = () => {} }: BridgeOptions): Promise<Bridge> {
  const url = new URL(to);
  const prefix = url.pathname.replace(/\/$/, "");
  const sessions = createSessions({
    url,
    ca,
    // Looks once more, from all sides, and says what is there instead.
    onFailure: () =>
      void probeBackend({ url: to, protocol: "grpc", ca }).then(({ message }) => log(`${to}: ${message}`)),
  });
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    if (refuse(request, response)) return;
    const path = prefix + request.url;
    bridgeCall(request, response, path, sessions, (error) => log(`${to}${path}: ${error.rawMessage}`));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // A stream of requests may take as long as it likes.
  server.requestTimeout = 0;
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch (error) {
    throw explainPort(error, port);
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      sessions.close();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Whoever is not on this machine, and whatever is no call to this backend. */
function refuse(request: IncomingMessage, response: ServerResponse): boolean {
  const { method, url = "", headers, socket } = request;
  if (!isLoopbackAddress(socket.remoteAddress)) return answer(response, 403, "this bridge serves its own machine only");
  // By a name of its own a web page could reach us from a browser here (DNS rebinding).
  if (!isLoopbackHost(headers.host))
    return answer(response, 403, "this bridge is called by a name of its own machine only");
  if (!url.startsWith("/")) return answer(response, 421, "this bridge is no proxy: it has one backend");
  if (method !== "POST") return answer(response, 405, "gRPC-Web calls are POST", { allow: "POST" });
  if (isWebType(headers["content-type"])) return false;
  return answer(
    response,
    415,
    "the content type has to be application/grpc-web, or application/grpc-web+proto and the like",
  );
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  header: Readonly<Record<string, string>> = {},
): true {
  response.writeHead(status, { "content-type": "text/plain;charset=utf-8", ...header }).end(`${text}\n`);
  return true;
}
