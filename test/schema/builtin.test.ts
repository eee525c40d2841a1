import type { DescMessage } from "@bufbuild/protobuf";
import { createRegistry } from "@bufbuild/protobuf";
import * as wkt from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { builtinMessage } from "../../src/schema/builtin.ts";
import type { Field, Message } from "../../src/schema/model.ts";
import { createMessageReader } from "../../src/schema/read-message.ts";
import { compileProto, messageOf } from "../proto.ts";

/** google.rpc as its .proto files have it. */
const rpc = await compileProto(`
  syntax = "proto3";
  package test;
  import "google/rpc/error_details.proto";
  import "google/rpc/status.proto";
  message Uses { google.rpc.Status status = 1; google.rpc.ErrorInfo info = 2; }
`);
const wellKnown = createRegistry(...wktFiles());
const reader = createMessageReader();

function wktFiles() {
  const { file_google_protobuf_any: any, file_google_protobuf_struct: struct } = wkt;
  const { file_google_protobuf_duration: duration, file_google_protobuf_timestamp: timestamp } = wkt;
  const { file_google_protobuf_empty: empty, file_google_protobuf_field_mask: mask } = wkt;
  return [any, struct, duration, timestamp, empty, mask, wkt.file_google_protobuf_wrappers];
}

/** What the codec sees of a message, types by name so that cycles end. */
function outline(message: Message): unknown {
  return {
    name: message.name,
    fields: message.fields.map(outlineField),
    oneofs: message.oneofs.map(({ name, fields }) => [name, fields.map((field) => field.name)]),
  };
}

function outlineField({ message, oneof, enum: enumeration, map, ...flags }: Field): unknown {
  return {
    ...flags,
    message: message?.name,
    oneof: oneof?.name,
    enum: enumeration,
    map: map && { key: outlineField(map.key), value: outlineField(map.value) },
  };
}

const WELL_KNOWN = [...wellKnown].filter((type): type is DescMessage => type.kind === "message");

test.each(WELL_KNOWN.map((desc) => [desc.typeName, desc] as const))("%s is as in protobuf-es", (name, desc) => {
  const builtin = builtinMessage(name);
  expect(builtin && outline(builtin)).toEqual(outline(reader.read(desc)));
});

test("the list of well-known types is whole", () => {
  expect(WELL_KNOWN.map(({ typeName }) => typeName).sort()).toHaveLength(17);
});

const RPC_NAMES = [
  "Status",
  "ErrorInfo",
  "RetryInfo",
  "DebugInfo",
  "QuotaFailure",
  "QuotaFailure.Violation",
  "PreconditionFailure",
  "PreconditionFailure.Violation",
  "BadRequest",
  "BadRequest.FieldViolation",
  "RequestInfo",
  "ResourceInfo",
  "Help",
  "Help.Link",
  "LocalizedMessage",
];

test.each(RPC_NAMES)("google.rpc.%s is as compiled", (name) => {
  const builtin = builtinMessage(`google.rpc.${name}`);
  expect(builtin && outline(builtin)).toEqual(outline(messageOf(rpc, `google.rpc.${name}`)));
});

test("types are one object each", () => {
  const value = builtinMessage("google.protobuf.Value");
  const struct = value?.fields.find(({ name }) => name === "struct_value")?.message;
  expect(struct).toBe(builtinMessage("google.protobuf.Struct"));
  expect(struct?.fields[0]?.map?.value.message).toBe(value);
});

test.each(["", "constructor", "__proto__", "google.protobuf.Missing", "google.protobuf.Value "])(
  "%j is none",
  (name) => {
    expect(builtinMessage(name)).toBeUndefined();
  },
);
