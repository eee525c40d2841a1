/** Before the workerd lane: nothing compiles protos inside the runtime, so its tests get their schema from here. */
import type { TestProject } from "vitest/node";
import { compileSet } from "./proto.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Base64 of the FileDescriptorSet of `lane.v1`. */
    readonly laneSet: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const set = await compileSet(`
    syntax = "proto3";
    package lane.v1;
    import "google/api/annotations.proto";
    service Shelves {
      rpc GetShelf(GetShelfRequest) returns (Shelf) {
        option (google.api.http) = {get: "/v1/{name=shelves/*}"};
      }
    }
    message GetShelfRequest { string name = 1; }
    message Shelf { string name = 1; int64 size = 2; }
  `);
  project.provide("laneSet", Buffer.from(set).toString("base64"));
}
