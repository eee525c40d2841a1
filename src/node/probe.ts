/** Looks whether a backend answers in its protocol, and if it does not, why. */
import { connect } from "node:tls";
import { failureOfHeader, resetName } from "./bridge-failure.ts";
import { isGrpcType, isWebType } from "./bridge-header.ts";
import { CONNECT_TIMEOUT_MS, type H2Target, openSession } from "./h2-connect.ts";
import { callGrpc, callHttp1, type GrpcAnswer, type Http1Answer } from "./probe-call.ts";
import { explainFailure, type Unreachable } from "./unreachable.ts";

export interface ProbeOptions {
  /** http or https. */
  readonly url: string;
  readonly protocol: "connect" | "grpc-web" | "grpc";
  /** Certificates in PEM that are trusted in place of Node's own. Default: Node's own. */
  readonly ca?: string | undefined;
  /** For each connection that it takes to find out. Default 10 s. */
  readonly timeoutMs?: number;
}

export interface Probed {
  readonly ok: boolean;
  /** One line, to follow the backend's URL and a colon. */
  readonly message: string;
}

/** Never rejects. It makes one call, of a health service that need not exist, and more connections if that fails. */
export async function probeBackend({
  url,
  protocol,
  ca,
  timeoutMs = CONNECT_TIMEOUT_MS,
}: ProbeOptions): Promise<Probed> {
  const target = { url: new URL(url), ca };
  return protocol === "grpc" ? probeGrpc(target, timeoutMs) : probeHttp1(target, protocol, timeoutMs);
}

async function probeGrpc(target: H2Target, timeoutMs: number): Promise<Probed> {
  try {
    const session = await openSession(target, timeoutMs);
    try {
      return judgeGrpc(await callGrpc(session, target.url, timeoutMs));
    } finally {
      session.destroy();
    }
  } catch (error) {
    const failure = explainFailure(error);
    if (!mayBeAnother(failure)) return bad(failure.message);
    if (await wantsTls(target, timeoutMs)) return bad("it speaks TLS: is it https:// instead of http://?");
    const answer = await callHttp1(target, "connect", timeoutMs).catch(() => undefined);
    if (!answer) return bad(failure.message);
    return bad("it speaks HTTP/1.1 only, and gRPC needs HTTP/2: is its protocol connect or grpc-web?");
  }
}

function judgeGrpc({ header, trailer, rstCode }: GrpcAnswer): Probed {
  if (rstCode !== 0) return bad(`it speaks HTTP/2, but resets the stream: ${resetName(rstCode)}`);
  if (failureOfHeader(header)) {
    if (header[":status"] === 404) return unknownYet(404, "gRPC");
    return bad(`it speaks HTTP/2, but not gRPC: ${formatAnswer(Number(header[":status"]), header)}`);
  }
  const status = trailer["grpc-status"] ?? header["grpc-status"];
  if (status === undefined) return bad("it answers in gRPC, but without trailers: does a proxy before it drop them?");
  return { ok: true, message: "speaks gRPC" };
}

async function probeHttp1(target: H2Target, protocol: "connect" | "grpc-web", timeoutMs: number): Promise<Probed> {
  try {
    const answer = await callHttp1(target, protocol, timeoutMs);
    return protocol === "connect" ? judgeConnect(answer) : judgeWeb(answer);
  } catch (error) {
    const failure = explainFailure(error);
    if (!mayBeAnother(failure)) return bad(failure.message);
    if (await wantsTls(target, timeoutMs)) return bad("it speaks TLS: is it https:// instead of http://?");
    const session = await openSession(target, timeoutMs).catch(() => undefined);
    if (!session) return bad(failure.message);
    session.destroy();
    return bad(`it speaks HTTP/2 only, and ${protocol} goes over HTTP/1.1: is its protocol grpc?`);
  }
}

function judgeConnect(answer: Http1Answer): Probed {
  const { status, header } = answer;
  const type = header["content-type"] ?? "";
  if (isGrpcType(type) || isWebType(type)) return bad(`it answers in ${type}: is its protocol grpc or grpc-web?`);
  if (status === 200 && type === "application/proto") return { ok: true, message: "speaks Connect" };
  if (isConnectError(answer)) return { ok: true, message: "speaks Connect" };
  return judgeOther(answer, "Connect");
}

/** Connect, "Error end-stream": JSON with a code by name. */
function isConnectError({ header, body }: Http1Answer): boolean {
  if (!/^application\/json(?:$|;)/.test(header["content-type"] ?? "")) return false;
  try {
    return typeof (JSON.parse(body.toString()) as { code?: unknown } | null)?.code === "string";
  } catch {
    return false;
  }
}

function judgeWeb(answer: Http1Answer): Probed {
  const { header, body } = answer;
  const type = header["content-type"] ?? "";
  if (isGrpcType(type)) return bad("it answers in gRPC instead of gRPC-Web: is its protocol grpc?");
  if (!isWebType(type)) return judgeOther(answer, "gRPC-Web");
  if (header["grpc-status"] === undefined && !hasTrailerFrame(body))
    return bad("it answers in gRPC-Web, but without trailers");
  return { ok: true, message: "speaks gRPC-Web" };
}

function hasTrailerFrame(body: Buffer): boolean {
  for (let at = 0; at + 5 <= body.length; at += 5 + body.readUInt32BE(at + 1)) {
    if (((body[at] as number) & 0x80) !== 0) return true;
  }
  return false;
}

function judgeOther({ status, header }: Http1Answer, protocol: string): Probed {
  if (status >= 500) return bad(`it does not answer in ${protocol}: ${formatAnswer(status, header)}`);
  return unknownYet(status, protocol);
}

/** Many servers leave to HTTP what they do not have: their 404 says nothing about the protocol of what they do have. */
function unknownYet(status: number, protocol: string): Probed {
  return { ok: true, message: `answers (HTTP ${status}); whether in ${protocol}, the first call will show` };
}

function formatAnswer(status: number, header: Http1Answer["header"]): string {
  return `HTTP ${status}, content type ${header["content-type"] ?? "none"}`;
}

/** Whether something answers there that was only not understood. */
function mayBeAnother({ obstacle }: Unreachable): boolean {
  return obstacle === "closed" || obstacle === "no-h2" || obstacle === "no-http1";
}

/** Only looks whether a TLS handshake succeeds: nothing is sent, so it does not matter whose certificate it is. */
function wantsTls({ url }: H2Target, timeoutMs: number): Promise<boolean> {
  if (url.protocol === "https:") return Promise.resolve(false);
  return new Promise((resolve) => {
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const socket = connect({ host, port: Number(url.port || 80), rejectUnauthorized: false });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => done(false));
    socket.once("secureConnect", () => done(true));
    socket.once("error", () => done(false));
    socket.once("close", () => done(false));
  });
}

function bad(message: string): Probed {
  return { ok: false, message };
}
