/** Opens an HTTP/2 connection as gRPC needs it: h2c with prior knowledge, or TLS with h2 chosen by ALPN. */
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { explainFailure, Unreachable } from "./unreachable.ts";

export interface H2Target {
  /** http: h2c; https: TLS. Path and query do not count. */
  readonly url: URL;
  /** Certificates in PEM that are trusted in place of Node's own. Default: Node's own. */
  readonly ca?: string | undefined;
}

/** For everything up to the peer's first SETTINGS frame. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** What may be on its way to us, for one stream and for all: with HTTP/2's own 64 KiB a far backend is slow. */
const WINDOW_BYTES = 1 << 20;

/** The most that the header fields of an answer may take, as HTTP/2 counts them; Workers have 128 KiB. */
const MAX_HEADER_LIST_BYTES = 1 << 16;

/**
 * @param signal gives up when it aborts.
 * @returns a session whose peer has shown by its SETTINGS that it speaks HTTP/2, so that a failure until then is never
 *   one of a call.
 * @throws Unreachable
 */
export async function openSession({ url, ca }: H2Target, timeoutMs = CONNECT_TIMEOUT_MS, signal?: AbortSignal) {
  const socket = openSocket(url, ca);
  const giveUp = () => socket.destroy(new Unreachable("closed", "nobody waits for it any more"));
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp);
  const timer = setTimeout(() => socket.destroy(lateness(timeoutMs)), timeoutMs);
  try {
    await connected(socket);
    return await greeted(url, socket);
  } catch (error) {
    socket.destroy();
    throw explainFailure(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

function lateness(timeoutMs: number): Unreachable {
  return new Unreachable("timeout", `it does not answer within ${timeoutMs / 1000} s`);
}

function openSocket(url: URL, ca: string | undefined): net.Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const secure = url.protocol === "https:";
  const port = Number(url.port || (secure ? 443 : 80));
  if (!secure) return net.connect({ host, port, noDelay: true });
  // TLS names hosts, never addresses (RFC 6066 §3).
  const servername = net.isIP(host) ? {} : { servername: host };
  const socket = tls.connect({ host, port, ...servername, ...(ca !== undefined && { ca }), ALPNProtocols: ["h2"] });
  return socket.setNoDelay(true);
}

function connected(socket: net.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(closedEarly()));
    if (!(socket instanceof tls.TLSSocket)) socket.once("connect", resolve);
    else {
      socket.once("secureConnect", () => {
        if (socket.alpnProtocol === "h2") resolve();
        else reject(new Unreachable("no-h2", "its TLS offers no HTTP/2 (ALPN)"));
      });
    }
  });
}

function greeted(url: URL, socket: net.Socket): Promise<http2.ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(url, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_LIST_BYTES },
      // Node would refuse streams above 10 MB; what is buffered is bounded by the windows and by back-pressure.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    session.once("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
    session.once("error", reject);
    session.once("close", () => reject(closedEarly()));
    // It follows the peer's own settings, and until then ours do not count: a header over our limit would depend on luck.
    session.once("localSettings", () => {
      // Whoever keeps the session listens for its end; an error without a listener would end the process.
      session.on("error", () => {});
      resolve(session);
    });
  });
}

function closedEarly(): Unreachable {
  return new Unreachable("closed", "it closes the connection");
}
