/** How an answer of Connect's streams or of gRPC-Web ended, as a caller who trusts nothing sees it. */
import type { IncomingMessage } from "node:http";
import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { codeFromString, codeToString, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { parseTrailerLines, splitFrames } from "../cases/envelope.ts";
import { readBody } from "../server.ts";

export type Protocol = "connect" | "grpc-web";

export type Codec = "proto" | "json";

export function typeOf(protocol: Protocol, codec: Codec = "proto"): string {
  return protocol === "connect" ? `application/connect+${codec}` : `application/grpc-web+${codec}`;
}

/** The envelope that ends a stream well. */
export function endOf(protocol: Protocol): Uint8Array {
  return protocol === "connect"
    ? encodeEnvelope(endStreamFlag, Buffer.from("{}"))
    : encodeEnvelope(trailerFlag, Buffer.from("grpc-status: 0\r\n"));
}

/** How a transfer ended: as `outcomeOf` says, or "broken" when it was cut. */
export async function readOutcome(response: IncomingMessage, protocol: Protocol): Promise<string> {
  try {
    return outcomeOf(response, await readBody(response), protocol);
  } catch {
    return "broken";
  }
}

/** "ok", the name of a code, or what is wrong. */
export function outcomeOf({ statusCode }: IncomingMessage, body: Buffer, protocol: Protocol): string {
  if (statusCode !== 200) return `HTTP ${statusCode}`;
  const { frames, rest } = splitFrames(body);
  const last = frames.at(-1);
  if (rest.length > 0) return "ends inside an envelope";
  if (!last || !(last.flags & flagOf(protocol))) return "ends without an end";
  return protocol === "connect" ? connectOutcome(last.data) : grpcOutcome(last.data);
}

/** Of REST with lines: a failure before the first is one of HTTP; after it the last line tells it. */
export async function readRestOutcome(response: IncomingMessage): Promise<string> {
  let body: string;
  try {
    body = (await readBody(response)).toString();
  } catch {
    return "broken";
  }
  return restOutcomeOf(response, body).outcome;
}

export function restOutcomeOf({ statusCode, headers }: IncomingMessage, body: string) {
  if (statusCode !== 200) return { outcome: codeToString(JSON.parse(body).code), messages: 0 };
  if (headers["content-type"] === "application/json") return { outcome: "ok", messages: 1 };
  if (!/(?:^|\n)$/.test(body)) return { outcome: "ends inside a line", messages: 0 };
  const lines = body
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const error = lines.at(-1)?.error;
  return {
    outcome: error ? codeToString(error.code) : "ok",
    messages: lines.filter((line) => "result" in line).length,
  };
}

export function countMessages(body: Buffer, protocol: Protocol): number {
  return splitFrames(body).frames.filter(({ flags }) => !(flags & flagOf(protocol))).length;
}

function flagOf(protocol: Protocol): number {
  return protocol === "connect" ? endStreamFlag : trailerFlag;
}

function connectOutcome(data: Buffer): string {
  const { error } = JSON.parse(data.toString()) as { error?: { code: string } };
  if (!error) return "ok";
  return codeFromString(error.code) === undefined ? `no code: ${error.code}` : error.code;
}

function grpcOutcome(data: Buffer): string {
  const status = parseTrailerLines(data.toString())["grpc-status"];
  if (status === "0") return "ok";
  return status && Number(status) in Code ? codeToString(Number(status)) : `no status: ${status}`;
}
