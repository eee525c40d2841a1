/** What the matrix calls: a method of each kind, and a message that holds a field of every sort. */
import { createHash } from "node:crypto";
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodClientStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { compileSet } from "../proto.ts";

export const set = await compileSet(`
  syntax = "proto3";
  package matrix.v1;
  import "google/api/annotations.proto";
  import "google/protobuf/timestamp.proto";
  service Matrix {
    rpc Echo(Everything) returns (Everything) {
      option idempotency_level = NO_SIDE_EFFECTS;
      option (google.api.http) = {post: "/v1/echo" body: "*"};
    }
    rpc Watch(Everything) returns (stream Everything) { option (google.api.http) = {post: "/v1/watch" body: "*"}; }
    rpc Collect(stream Everything) returns (Everything) { option (google.api.http) = {post: "/v1/collect" body: "*"}; }
    rpc Chat(stream Everything) returns (stream Everything) {
      option (google.api.http) = {post: "/v1/chat" body: "*"};
    }
  }
  enum Colour { COLOUR_UNSPECIFIED = 0; RED = 1; }
  message Everything {
    string text = 1;
    int64 big = 2;
    double number = 3;
    bytes data = 4;
    Colour colour = 5;
    repeated Everything children = 6;
    map<string, int32> counts = 7;
    google.protobuf.Timestamp at = 8;
    optional bool flag = 9;
    oneof choice { string left = 10; uint64 right = 11; }
  }
  message Reason { string why = 1; uint64 limit = 2; }
`);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));

function methodOf(name: string) {
  const method = registry.getService("matrix.v1.Matrix")?.methods.find((one) => one.name === name);
  if (!method) throw new Error(`no method ${name}`);
  return method;
}
export const echo = methodOf("Echo") as DescMethodUnary;
export const watch = methodOf("Watch") as DescMethodServerStreaming;
export const collect = methodOf("Collect") as DescMethodClientStreaming;
export const chat = methodOf("Chat") as DescMethodBiDiStreaming;
export const Reason = registry.getMessage("matrix.v1.Reason") as DescMessage;
export const Everything = echo.input;

/** Messages here have no generated types. */
const init = (fields: object): MessageInitShape<DescMessage> => fields as MessageInitShape<DescMessage>;

export const everything = (fields: object): Message => create(Everything, init(fields));

export const FULL = everything({
  text: "café ☕ 😀 \u2028",
  big: -9007199254740993n,
  number: Number.NaN,
  data: new Uint8Array([0, 255, 254]),
  colour: 1,
  children: [everything({}), everything({ text: "child", choice: { case: "right", value: 2n ** 64n - 1n } })],
  counts: { "": 0, key: -1 },
  at: { seconds: 951782400n, nanos: 5 },
  flag: false,
  choice: { case: "left", value: "" },
});

/** A message as a short text that tells it from others: the difference of two large ones would take minutes to print. */
export function digest(message: Message): string {
  const bytes = toBinary(Everything, message);
  return `${bytes.length} bytes ${createHash("sha256").update(bytes).digest("hex")}`;
}

/** One that no single read holds. */
export const LARGE = everything({ text: "☕".repeat(10_000), data: new Uint8Array(50_000).fill(200) });

const REASON = { why: "quota ☕", limit: 2n ** 63n };
export const ERROR_DETAIL = create(Reason, init(REASON));

/** An error of a backend: its message needs escapes, it has a detail and metadata. */
export function richError(): ConnectError {
  const metadata = { "x-cost": "9", "x-cost-bin": "AP8K" };
  return new ConnectError("no more, 100% ☕", Code.ResourceExhausted, metadata, [
    { desc: Reason, value: init(REASON) },
  ]);
}
