/** One call in each of the languages that callers speak, and whether its answer is the right one. */
import { equals, type JsonObject, type Message } from "@bufbuild/protobuf";
import type { Ask } from "./load.ts";
import { SERVICE, type Shop } from "./shop.ts";

/** `rest-array` is REST where a stream of requests is one array; in `rest` it is lines. */
export type Dialect = "rest" | "rest-array" | "connect-json" | "connect-binary" | "grpc-web";

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

const JSON_TYPE = "application/json";
const NDJSON = "application/x-ndjson";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function formatCall(shop: Shop, dialect: Dialect, ask: Ask): HttpCall {
  const status = ask.answer.count === 0 ? NOT_FOUND : 200;
  const { type, json } = ask.request;
  if (isRest(dialect)) {
    const body = ask.rest.method === "POST" ? encoder.encode(formatTexts(dialect, ask)) : undefined;
    const accept = ask.method === "Watch" ? NDJSON : JSON_TYPE;
    const contentType = ask.method === "Upload" && dialect === "rest" ? NDJSON : JSON_TYPE;
    const header = { accept, ...(body ? { "content-type": contentType } : {}) };
    return { ...ask.rest, header, body, status };
  }
  const path = `/${SERVICE}/${ask.method}`;
  if (dialect === "grpc-web") {
    const header = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };
    return { method: "POST", path, header, body: envelope(shop.toWire(type, json), ask.request.count), status: 200 };
  }
  const message = dialect === "connect-json" ? encoder.encode(JSON.stringify(json)) : shop.toWire(type, json);
  const codec = dialect === "connect-json" ? "json" : "proto";
  const contentType = isStream(ask) ? `application/connect+${codec}` : `application/${codec}`;
  return {
    method: "POST",
    path,
    header: { "content-type": contentType, "connect-protocol-version": "1" },
    body: isStream(ask) ? envelope(message, ask.request.count) : message,
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
  if (isRest(dialect) ? ask.method !== "Watch" : !isStream(ask) && dialect !== "grpc-web") return [read(body)];
  if (!isRest(dialect)) return openEnvelopes(body).map(read);
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
  return ask.method === "Watch" || ask.method === "Upload";
}

function isRest(dialect: Dialect): boolean {
  return dialect === "rest" || dialect === "rest-array";
}

/** All that is sent, as JSON. */
function formatTexts(dialect: Dialect, { method, request: { json, count } }: Ask): string {
  const text = JSON.stringify(json);
  if (method !== "Upload") return text;
  return dialect === "rest-array" ? `[${Array(count).fill(text).join(",")}]` : `${text}\n`.repeat(count);
}

/** The message so often, each time in an envelope of its own. */
function envelope(message: Uint8Array, count: number): Uint8Array {
  const size = ENVELOPE_BYTES + message.length;
  const bytes = new Uint8Array(size * count);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += size) {
    view.setUint32(at + 1, message.length);
    bytes.set(message, at + ENVELOPE_BYTES);
  }
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
