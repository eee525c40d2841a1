/** One schema for the tests of the clients, its routes, and what protobuf-es reads of the wire that they make. */
import { createFileRegistry, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import type { Reply } from "../../src/call.ts";
import type { ClientOptions, Exchange, MethodCodecs } from "../../src/client/exchange.ts";
import { createRestExchange } from "../../src/client/rest.ts";
import type { RestErrorOptions } from "../../src/client/rest-error.ts";
import { splitTarget } from "../../src/client/target.ts";
import type { Codec, CodecContext, JsonOptions } from "../../src/codec/codec.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import type { Match } from "../../src/route/route.ts";
import { createRouter } from "../../src/route/router.ts";
import { compileRules } from "../../src/route/rule.ts";
import type { Method } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet } from "../proto.ts";

const set = await compileSet(`
  syntax = "proto3";
  package shop.v1;
  import "google/api/annotations.proto";
  import "google/api/httpbody.proto";
  import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/field_mask.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";
  service Shop {
    rpc Get(Request) returns (Item) { option (google.api.http) = { get: "/v1/get/{item.name}" }; }
    rpc Find(Request) returns (Item) {
      option (google.api.http) = {
        get: "/v1/find"
        additional_bindings { get: "/v1/find/{name=a/*/b/**}" }
        additional_bindings { get: "/v1/count/{count}" }
      };
      option idempotency_level = NO_SIDE_EFFECTS;
    }
    rpc Create(Request) returns (Item) {
      option (google.api.http) = {
        post: "/v1/items" body: "item"
        additional_bindings { post: "/v1/all/{item.name}" body: "*" }
        additional_bindings { post: "/v1/nested/{item.name}" body: "item" }
        additional_bindings { post: "/v1/tags" body: "tags" }
        additional_bindings { post: "/v1/text" body: "name" }
        additional_bindings { post: "/v1/labels" body: "labels" }
        additional_bindings { post: "/v1/struct" body: "struct" }
        additional_bindings { post: "/v1/touch" }
        additional_bindings { get: "/v1/part" response_body: "part" }
        additional_bindings { get: "/v1/labels" response_body: "labels" }
      };
    }
    rpc Update(UpdateRequest) returns (Item) { option (google.api.http) = { patch: "/v1/update/{item.name}" body: "item" }; }
    rpc Replace(UpdateRequest) returns (Item) { option (google.api.http) = { put: "/v1/update/{item.name}" body: "item" }; }
    rpc UpdateAll(UpdateRequest) returns (Item) { option (google.api.http) = { patch: "/v1/all" body: "*" }; }
    rpc TwoMasks(Two) returns (Item) { option (google.api.http) = { patch: "/v1/two" body: "item" }; }
    rpc Upload(google.api.HttpBody) returns (google.api.HttpBody) { option (google.api.http) = { post: "/v1/raw" body: "*" }; }
    rpc UploadPart(File) returns (File) {
      option (google.api.http) = { post: "/v1/files/{name}" body: "content" response_body: "content" };
    }
    rpc StoreFile(File) returns (File) { option (google.api.http) = { post: "/v1/store" body: "*" }; }
    rpc Push(stream File) returns (Item) {
      option (google.api.http) = {
        post: "/v1/push/{name}" body: "content"
        additional_bindings { post: "/v1/push" body: "*" }
      };
    }
    rpc PushRaw(stream google.api.HttpBody) returns (Item) { option (google.api.http) = { post: "/v1/push-raw" body: "*" }; }
    rpc Feed(stream Item) returns (Item) { option (google.api.http) = { post: "/v1/feed" body: "*" }; }
    rpc Ingest(stream Request) returns (Item) {
      option (google.api.http) = {
        post: "/v1/ingest/{name}" body: "item"
        additional_bindings { post: "/v1/ingest-all/{item.name}" body: "*" }
        additional_bindings { post: "/v1/ingest-none/{name}" }
      };
    }
    rpc Events(Request) returns (stream Item) {
      option (google.api.http) = {
        get: "/v1/events"
        additional_bindings { get: "/v1/parts" response_body: "part" }
        additional_bindings { get: "/v1/words" response_body: "words" }
      };
    }
    rpc Download(Request) returns (stream google.api.HttpBody) { option (google.api.http) = { get: "/v1/download" }; }
    rpc DownloadFile(Request) returns (stream File) {
      option (google.api.http) = { get: "/v1/download-file" response_body: "content" };
    }
  }
  service Stream {
    rpc Watch(Request) returns (stream Item);
    rpc Collect(stream Request) returns (Item);
    rpc Chat(stream Request) returns (stream Item);
  }
  message Request {
    string name = 1;
    int32 count = 2;
    Item item = 3;
    repeated string tags = 4;
    repeated int32 numbers = 5;
    map<string, string> labels = 6;
    Color color = 7;
    google.protobuf.Timestamp time = 8;
    google.protobuf.Int32Value wrapped = 9;
    google.protobuf.FieldMask mask = 10;
    google.protobuf.Any any = 11;
    google.protobuf.Struct struct = 12;
    google.protobuf.Value value = 13;
    google.protobuf.ListValue list = 14;
    repeated Item items = 15;
    bytes data = 16;
    oneof choice { string left = 17; string right = 18; }
    optional int32 maybe = 19;
    int32 page_size = 20;
    double ratio = 21;
    bool flag = 22;
    int64 big = 23;
  }
  message Item {
    string name = 1;
    int32 size = 2;
    Item part = 3;
    repeated Item parts = 4;
    map<string, Item> labels = 5;
    google.protobuf.Timestamp made_at = 6;
    google.protobuf.Struct extra = 7;
    repeated string words = 8;
    string renamed = 9 [json_name = "newName"];
  }
  message UpdateRequest { Item item = 1; google.protobuf.FieldMask update_mask = 2; }
  message Two { Item item = 1; google.protobuf.FieldMask a = 2; google.protobuf.FieldMask b = 3; }
  message File {
    string name = 1;
    google.api.HttpBody content = 2;
    string note = 3;
    bytes thumb = 4;
    repeated google.api.HttpBody more = 5;
    File inner = 6;
    google.protobuf.BytesValue digest = 7;
    repeated bytes chunks = 8;
  }
  enum Color { COLOR_NONE = 0; COLOR_RED = 1; }
`);

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
export const schema = readSchema(set);
const { routes, faults } = compileRules(schema, schema.named);
if (faults.length > 0) throw new Error(JSON.stringify(faults));
const router = createRouter(routes);

const JSON_OPTIONS: JsonOptions = {
  unknownFields: "error",
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
};

export function contextOf(options: Partial<JsonOptions> = {}): CodecContext {
  return { registry: schema, options: { ...JSON_OPTIONS, ...options } };
}

export function codecsOf(method: Method, context = contextOf()): MethodCodecs {
  return { input: compileCodec(method.input, context), output: compileCodec(method.output, context) };
}

export const OPTIONS: ClientOptions = {
  metadata: { allow: undefined, deny: new Set(), prefix: undefined, clientIpHeader: undefined, maxBytes: 1 << 17 },
  readMaxBytes: 1 << 20,
  maxCompressionRatio: undefined,
  maxParameters: 1000,
  forms: false,
  unknownFields: "error",
  unknownQuery: "error",
  skippedQuery: new Set(),
  updateMask: true,
  maxDepth: 100,
  compressMinBytes: undefined,
  framing: { ndjsonBare: false, sseIds: false, sseRetryMs: undefined },
  sseHeartbeatMs: undefined,
  socketOrigins: () => false,
};

export const ERRORS: RestErrorOptions = {
  challenge: "Bearer",
  any: builtinCodec("google.protobuf.Any"),
  retryInfo: builtinCodec("google.rpc.RetryInfo"),
};

function builtinCodec(name: string): Codec {
  const message = schema.message(name);
  if (!message) throw new Error(`no message ${name}`);
  return compileCodec(message, contextOf());
}

export function methodOf(name: string): Method {
  const method = schema.services.flatMap(({ methods }) => methods).find((method) => method.name === name);
  if (!method) throw new Error(`no method ${name}`);
  return method;
}

export function matchOf(httpMethod: string, path: string): Match {
  const match = router.match(httpMethod, path);
  if (!match || "allow" in match) throw new Error(`no route for ${httpMethod} ${path}`);
  return match;
}

/** @param target path and query. */
export function restExchange(target: string, init: RequestInit = {}, options: Partial<ClientOptions> = {}): Exchange {
  const request = new Request(`http://gateway.example${target}`, init);
  const { path, query } = splitTarget(`http://gateway.example${target}`);
  const match = matchOf(request.method, path);
  return createRestExchange(
    { request, match, query },
    codecsOf(match.route.method),
    { ...OPTIONS, ...options },
    ERRORS,
  );
}

/** The request message, as JSON that protobuf-es writes of the wire. */
export async function requestMessage(exchange: Exchange): Promise<JsonValue> {
  const { body } = exchange.open();
  if (body.kind !== "message") throw new Error(`the body is ${body.kind}`);
  return shown(exchange.method.input.name, await body.read());
}

/** The messages of a request that is a stream, likewise, and why it broke off. */
export async function requestMessages(exchange: Exchange): Promise<{ messages: JsonValue[]; error?: ConnectError }> {
  const { body } = exchange.open();
  if (body.kind !== "stream") throw new Error(`the body is ${body.kind}`);
  const messages: JsonValue[] = [];
  for (let batch = await body.messages.next(); batch; batch = await body.messages.next()) {
    for (const wire of batch) messages.push(shown(exchange.method.input.name, wire));
  }
  const { error } = await body.messages.end;
  return { messages, ...(error && { error }) };
}

export function shown(typeName: string, wire: Uint8Array): JsonValue {
  return toJson(descOf(typeName), fromBinary(descOf(typeName), wire), { registry });
}

/** Wire of a message, as protobuf-es writes it. */
export function wireOf(typeName: string, json: JsonValue): Uint8Array<ArrayBuffer> {
  return toBinary(descOf(typeName), fromJson(descOf(typeName), json, { registry }));
}

export function replyOf(typeName: string, json: JsonValue, rest: Partial<Reply> = {}): Reply {
  const wire = wireOf(typeName, json);
  return { header: new Headers(), body: { kind: "message", read: async () => wire }, ...rest };
}

function descOf(typeName: string) {
  const desc = registry.getMessage(typeName);
  if (!desc) throw new Error(`no message ${typeName}`);
  return desc;
}

export function jsonRequest(method: string, body: unknown): RequestInit {
  return {
    method,
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json" },
  };
}
