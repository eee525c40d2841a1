/** The service that the soak calls. */
import { createFileRegistry, type DescMessage, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { compileSet } from "../proto.ts";

export const soakSet = await compileSet(`
  syntax = "proto3";
  package soak.v1;
  import "google/api/annotations.proto";
  service Soak {
    rpc GetNote(GetNoteRequest) returns (Note) { option (google.api.http) = {get: "/v1/notes/{id}"}; }
    rpc PutNote(Note) returns (Note) { option (google.api.http) = {put: "/v1/notes/{id}" body: "*"}; }
    rpc Watch(WatchRequest) returns (stream Note) { option (google.api.http) = {get: "/v1/notes/{id}:watch"}; }
    rpc Gather(stream Note) returns (Gathered) { option (google.api.http) = {post: "/v1/notes:gather" body: "*"}; }
  }
  message GetNoteRequest { string id = 1; string text = 2; }
  message WatchRequest { string id = 1; int32 count = 2; }
  message Note { string id = 1; int64 at = 2; string text = 3; repeated string tags = 4; bytes data = 5; Note reply_to = 6; }
  message Gathered { repeated string ids = 1; }
`);

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, soakSet));

/** @throws when the schema has no such message. */
export function descOf(name: string): DescMessage {
  const desc = registry.getMessage(`soak.v1.${name}`);
  if (!desc) throw new Error(`no message ${name}`);
  return desc;
}

export function soakService(): DescService {
  const service = registry.getService("soak.v1.Soak");
  if (!service) throw new Error("no service");
  return service;
}
