/** A fault of a backend that speaks Connect or gRPC-Web over HTTP/1.1, and how the proxy makes it. */
import { Code } from "@connectrpc/connect";
import { type Fault, fails, type Verdict } from "./fault.ts";
import type { Answer, Answering } from "./http-proxy.ts";

export interface HttpFault extends Fault {
  /** What becomes of the backend's answer before it is written. Default: nothing. */
  change?(answer: Answer): Answer;
  readonly answer: Answering;
  /** The connection is refused, whatever `answer` says. */
  readonly refuses?: true;
}

export const UNREACHABLE = fails(Code.Unavailable, "the backend cannot be reached");
export const BROKEN = fails(Code.Internal, "the answer of the backend cannot be read");

/** All alike, whichever the kind of call. */
export function headFault(name: string, verdict: Verdict, answer: Answering): HttpFault {
  return { name, answer, unary: verdict, stream: verdict };
}

export function isEnveloped(fields: Answer["fields"]): boolean {
  const type = fields.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return /^application\/(?:connect\+|grpc-web)/.test(type);
}

/** Where the last message begins, and the envelope that ends the stream. */
export function lastEnvelopes(body: Buffer): readonly [number, number] {
  const starts: number[] = [];
  for (let at = 0; at < body.length; at += 5 + body.readUInt32BE(at + 1)) starts.push(at);
  const [last = 0, end = 0] = starts.slice(-2);
  return [last, end];
}

export const never = () => new Promise<never>(() => undefined);
