/** One call in each of the languages that callers speak, and whether its answer is the right one. */
import { equals, type JsonObject, type Message } from "@bufbuild/protobuf";
import type { Ask } from "./load.ts";
import { SERVICE, type Shop } from "./shop.ts";

export type Dialect = "rest" | "connect-json" | "connect-binary" | "grpc-web";

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly header: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly status: number;
}

/** Flags and length before each message of a Connect stream. */
const ENVELOPE_BYTES = 5;
const END_OF_STREAM = 2;
/** Of gRPC-Web's last envelope, which holds the trailers (PROTOCOL-WEB.md). */
const TRAILERS = 0x80;
/** What a server of Connect or gRPC makes of NOT_FOUND. */
const NOT_FOUND = 404;
const ERROR_MESSAGE = "no such item";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function formatCall(shop: Shop, dialect: Dialect, ask: Ask): HttpCall {
  const status = ask.answer.count === 0 ? NOT_FOUND : 200;
  const { type, json } = ask.request;
  if (dialect === "rest") {
    const body = ask.rest.method === "POST" ? encoder.encode(JSON.stringify(json)) : undefined;
    const accept = isStream(ask) ? "application/x-ndjson" : "application/json";
    const header = { accept, ...(body ? { "content-type": "application/json" } : {}) };
    return { ...ask.rest, header, body, status };
  }
  const path = `/${SERVICE}/${ask.method}`;
  if (dialect === "grpc-web") {
    const header = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };
    return { method: "POST", path, header, body: envelope(shop.toWire(type, json)), status: 200 };
  }
  const message = dialect === "connect-json" ? encoder.encode(JSON.stringify(json)) : shop.toWire(type, json);
  const codec = dialect === "connect-json" ? "json" : "proto";
  const contentType = isStream(ask) ? `application/connect+${codec}` : `application/${codec}`;
  return {
    method: "POST",
    path,
    header: { "content-type": contentType, "connect-protocol-version": "1" },
    body: isStream(ask) ? envelope(message) : message,
    status,
  };
}

/** @throws Error when the answer is not the one that was asked for. */
export function checkAnswer(shop: Shop, dialect: Dialect, ask: Ask, body: Uint8Array): void {
  const { type, json, count } = ask.answer;
  if (count === 0) {
    if (!decoder.decode(body).includes(ERROR_MESSAGE)) throw new Error("the error has not the backend's message");
    return;
  }
  const messages = readMessages(shop, dialect, ask, body);
  const expected = shop.fromJson(type, json);
  const isRight = (message: Message): boolean => equals(shop.message(type), message, expected);
  if (messages.length !== count || !messages.every(isRight)) throw new Error("the answer holds something else");
}

function readMessages(shop: Shop, dialect: Dialect, ask: Ask, body: Uint8Array): Message[] {
  const read = (bytes: Uint8Array): Message =>
    dialect === "connect-binary" || dialect === "grpc-web"
      ? shop.fromWire(ask.answer.type, bytes)
      : shop.fromJson(ask.answer.type, JSON.parse(decoder.decode(bytes)));
  if (!isStream(ask) && dialect !== "grpc-web") return [read(body)];
  if (dialect !== "rest") return openEnvelopes(body).map(read);
  return readTexts(decoder.decode(body)).map((json) => shop.fromJson(ask.answer.type, json));
}

/** Envoy makes a stream one array; grpc-gateway and ours make it lines, with the message under `result`. */
function readTexts(text: string): JsonObject[] {
  if (text.startsWith("[")) return JSON.parse(text);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).result);
}

function isStream(ask: Ask): boolean {
  return ask.method === "Watch";
}

function envelope(message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(ENVELOPE_BYTES + message.length);
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, ENVELOPE_BYTES);
  return bytes;
}

function openEnvelopes(body: Uint8Array): Uint8Array[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const messages: Uint8Array[] = [];
  for (let at = 0; at < body.length; ) {
    const start = at + ENVELOPE_BYTES;
    const end = start + view.getUint32(at + 1);
    if ((view.getUint8(at) & (END_OF_STREAM | TRAILERS)) === 0) messages.push(body.subarray(start, end));
    at = end;
  }
  return messages;
}
