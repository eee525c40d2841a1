/** What REST streams look like on their way, to the caller and from it, over a schema of their own. */
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { compileSet } from "./proto.ts";

export const set = await compileSet(`
  syntax = "proto3";
  package feed.v1;
  import "google/api/annotations.proto";
  import "google/api/httpbody.proto";
  service Feed {
    rpc Watch(Line) returns (stream Line) { option (google.api.http) = {get: "/v1/watch"}; }
    rpc Collect(stream Line) returns (Line) { option (google.api.http) = {post: "/v1/lines" body: "*"}; }
    rpc Talk(stream Line) returns (stream Line) { option (google.api.http) = {post: "/v1/talk" body: "*"}; }
    rpc Pull(Line) returns (stream google.api.HttpBody) { option (google.api.http) = {get: "/v1/file"}; }
    rpc Push(stream google.api.HttpBody) returns (Line) { option (google.api.http) = {post: "/v1/file" body: "*"}; }
  }
  message Line { string text = 1; bytes data = 2; }
`);
export const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));

export function envelopeOf(type: string, json: JsonValue): Uint8Array {
  const desc = registry.getMessage(type) as DescMessage;
  return encodeEnvelope(0, toBinary(desc, fromJson(desc, json)));
}
export const lineOf = (text: string) => envelopeOf("feed.v1.Line", { text });
export const END = encodeEnvelope(2, Buffer.from("{}"));

/** A form that a stream has on its way to the caller. */
export interface Form {
  readonly name: string;
  readonly path: string;
  readonly accept: string;
  /** An envelope of the backend, and what the caller has once it has come. */
  message(text: string): Uint8Array;
  shown(text: string, index: number): string;
  /** Behind the messages when all went well. */
  readonly end: string;
  /** Behind them when the backend has died; undefined: the transfer is broken instead. */
  readonly died: RegExp | undefined;
}
export const FORMS: readonly Form[] = [
  {
    name: "array",
    path: "/v1/watch",
    accept: "application/json",
    message: lineOf,
    shown: (text, i) => `${i === 0 ? "[" : ","}{"text":"${text}"}`,
    end: "]",
    died: undefined,
  },
  {
    name: "NDJSON",
    path: "/v1/watch",
    accept: "application/x-ndjson",
    message: lineOf,
    shown: (text) => `{"result":{"text":"${text}"}}\n`,
    end: "",
    died: /^\{"error":\{"code":13,"message":"[^"]+"\}\}\n$/,
  },
  {
    name: "events",
    path: "/v1/watch",
    accept: "text/event-stream",
    message: lineOf,
    shown: (text) => `data: {"text":"${text}"}\n\n`,
    end: "event: end\ndata: {}\n\n",
    died: /^event: error\ndata: \{"code":13,"message":"[^"]+"\}\n\n$/,
  },
  {
    name: "HttpBody",
    path: "/v1/file",
    accept: "*/*",
    message: (text) =>
      envelopeOf("google.api.HttpBody", { contentType: "a/b", data: Buffer.from(text).toString("base64") }),
    shown: (text) => text,
    end: "",
    died: undefined,
  },
];

/** A form of uploads. */
export interface Upload {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  /** The n-th message, and what stands behind the last. */
  piece(index: number): string;
  readonly end: string;
}
export const UPLOADS: readonly Upload[] = [
  { name: "NDJSON", path: "/v1/lines", type: "application/x-ndjson", piece: (i) => `{"text":"${i}"}\n`, end: "" },
  {
    name: "array",
    path: "/v1/lines",
    type: "application/json",
    piece: (i) => `${i === 0 ? "[" : ""}{"text":"${i}"},`,
    end: "{}]",
  },
  { name: "HttpBody", path: "/v1/file", type: "text/plain", piece: (i) => `piece ${i}`, end: "" },
];
