/** Both ends of the bridge by hand: an HTTP/2 server that answers as a test says, and a gRPC-Web call over HTTP/1.1. */
import { once } from "node:events";
import http from "node:http";
import http2, { type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { envelope } from "./notes.ts";

export type Serve = (stream: ServerHttp2Stream, header: http2.IncomingHttpHeaders) => void;

export interface H2Backend {
  readonly port: number;
  stop(): void;
}

/** HTTP/2 without TLS. */
export async function startH2(serve: Serve, options: http2.ServerOptions = {}): Promise<H2Backend> {
  const server = http2.createServer(options);
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    session.on("error", () => {});
    sessions.add(session);
  });
  server.on("stream", (stream, header) => {
    stream.on("error", () => {});
    serve(stream, header);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

export interface Answer {
  header: http.IncomingHttpHeaders;
  messages: string[];
  /** By name; undefined when none came. */
  trailers: Record<string, string> | undefined;
  /** The transfer did not end as HTTP says. */
  broken: boolean;
}

/** Makes a gRPC-Web call and takes the answer apart. */
export async function callWeb(url: string, header: http.OutgoingHttpHeaders = {}, body = envelope(Buffer.from("?"))) {
  const headers = { "content-type": "application/grpc-web", ...header };
  const request = http.request(`${url}/pkg.Service/Method`, { method: "POST", headers, agent: false });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const answer: Answer = { header: response.headers, messages: [], trailers: undefined, broken: false };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    answer.broken = true;
  }
  const bytes = Buffer.concat(chunks);
  for (let at = 0; at + 5 <= bytes.length; at += 5 + bytes.readUInt32BE(at + 1)) {
    const text = bytes.subarray(at + 5, at + 5 + bytes.readUInt32BE(at + 1)).toString();
    expect(answer.trailers, "trailers are the last").toBeUndefined();
    if (bytes[at] === 0x80) answer.trailers = parseTrailers(text);
    else answer.messages.push(text);
  }
  return answer;
}

function parseTrailers(text: string): Record<string, string> {
  expect(text).toMatch(/^(?:[a-z0-9_.-]+: .*\r\n)*$/);
  return Object.fromEntries(Array.from(text.matchAll(/(.*?): (.*)\r\n/g), ([, name, value]) => [name, value]));
}

export const OK = { ":status": 200, "content-type": "application/grpc" };
export const HELLO = envelope(Buffer.from("hello"));

/** Answers with these messages and then these trailers. */
export function answerWith(
  stream: ServerHttp2Stream,
  body: Buffer,
  trailers: http2.OutgoingHttpHeaders,
  header = {},
): void {
  stream.respond({ ...OK, ...header }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(body);
}
