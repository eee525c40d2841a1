/** What the backend saw of one request, down to its bytes, and its reading by protobuf-es. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type DescMessage, type DescMethod, fromBinary, fromJsonString, type Message } from "@bufbuild/protobuf";
import type { Protocol } from "./case.ts";
import type { Descriptors } from "./descriptors.ts";
import { type Frame, splitFrames } from "./envelope.ts";
import { splitRecords } from "./split-records.ts";

export interface Recorded {
  /** HTTP method and target as they stood on the request line. */
  readonly method: string;
  readonly url: string;
  /** Name (lower case) and value of each header line, in order. */
  readonly headers: readonly (readonly [string, string])[];
  /** The bytes of the body so far. */
  readonly chunks: readonly Buffer[];
  /** The request ended cleanly. */
  complete(): boolean;
  /** Settles true when the exchange was broken off before the answer had ended, false when it ended. */
  readonly cancelled: Promise<boolean>;
}

export interface Reading {
  readonly method: DescMethod | undefined;
  readonly protocol: Protocol;
  readonly messages: readonly Message[];
  readonly frames: readonly Frame[];
  /** What was wrong with the request itself. */
  readonly faults: readonly string[];
}

/** @returns the value of a header; lines are joined with a comma. */
export function headerOf(recorded: Pick<Recorded, "headers">, name: string): string | undefined {
  const values = headerLines(recorded, name);
  return values.length === 0 ? undefined : values.join(", ");
}

export function headerLines(recorded: Pick<Recorded, "headers">, name: string): string[] {
  return recorded.headers.filter(([key]) => key === name.toLowerCase()).map(([, value]) => value);
}

/** @param prefix path of the backend's url, without a slash at the end. */
export function readRecorded(recorded: Recorded, prefix: string, descriptors: Descriptors): Reading {
  const faults: string[] = [];
  const [path = "", query = ""] = recorded.url.split("?", 2);
  const method = path.startsWith(`${prefix}/`) ? descriptors.method(path.slice(prefix.length + 1)) : undefined;
  const body = Buffer.concat(recorded.chunks);
  const type = headerOf(recorded, "content-type") ?? "";
  const frames: Frame[] = [];
  const payloads: { readonly data: Buffer; readonly json: boolean }[] = [];
  if (recorded.method === "GET") {
    payloads.push(readQuery(new URLSearchParams(query)));
  } else if (type === "application/proto" || type === "application/json") {
    const data = decompress(body, headerOf(recorded, "content-encoding"));
    payloads.push({ data, json: type === "application/json" });
  } else if (ENVELOPED.test(type)) {
    const split = splitFrames(body);
    frames.push(...split.frames);
    if (recorded.complete() && split.rest.length > 0) faults.push("the request ended inside an envelope");
    const encoding = headerOf(recorded, type.includes("connect") ? "connect-content-encoding" : "grpc-encoding");
    for (const frame of split.frames) {
      if (frame.flags > 1) faults.push(`a request envelope with flags ${frame.flags}`);
      const data = frame.flags & 1 ? decompress(frame.data, encoding) : frame.data;
      payloads.push({ data, json: type.endsWith("+json") });
    }
  } else {
    faults.push(`a request of content-type ${JSON.stringify(type)}`);
  }
  const messages: Message[] = [];
  if (method) {
    for (const { data, json } of payloads) {
      try {
        messages.push(readMessage(method.input, data, json, descriptors));
      } catch (error) {
        faults.push(`the backend could not read the message: ${error}`);
        continue;
      }
      if (!json) faults.push(...splitRecords(method.input, data));
    }
  }
  return { method, protocol: protocolOf(type), messages, frames, faults };
}

const ENVELOPED = /^application\/(connect|grpc|grpc-web)(\+proto|\+json)?$/;

function protocolOf(type: string): Protocol {
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}

function readQuery(query: URLSearchParams): { data: Buffer; json: boolean } {
  const text = query.get("message") ?? "";
  const data = query.get("base64") === "1" ? Buffer.from(text, "base64url") : Buffer.from(text);
  return { data: decompress(data, query.get("compression") ?? undefined), json: query.get("encoding") === "json" };
}

function readMessage(desc: DescMessage, data: Buffer, json: boolean, descriptors: Descriptors): Message {
  if (json) return fromJsonString(desc, data.toString(), { registry: descriptors.registry });
  // A Buffer would give Buffers for bytes fields, which are never deeply equal to plain arrays.
  return fromBinary(desc, new Uint8Array(data));
}

function decompress(data: Buffer, encoding: string | undefined): Buffer {
  if (data.length === 0) return data;
  if (encoding === "gzip") return gunzipSync(data);
  return encoding === "br" ? brotliDecompressSync(data) : data;
}
