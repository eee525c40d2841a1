/** Gzip offered to a real backend: connect-node compresses messages of 1 KiB and more for who takes it. */
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, expect, test } from "vitest";
import { createGateway } from "../../src/gateway.ts";
import { compileSet } from "../proto.ts";
import { serve } from "../server.ts";

const set = await compileSet(`
  syntax = "proto3";
  package zip.v1;
  import "google/api/annotations.proto";
  service Zip {
    rpc One(Text) returns (Text) { option (google.api.http) = {get: "/v1/one"}; }
    rpc Many(Text) returns (stream Text) { option (google.api.http) = {get: "/v1/many"}; }
  }
  message Text { string text = 1; }
`);
const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getService("zip.v1.Zip");
if (!service) throw new Error("no service");

const text = "z".repeat(5000);
const adapter = connectNodeAdapter({
  routes: (router) => {
    router.service(service, {
      one: () => ({ text }),
      async *many() {
        yield { text };
        yield { text: "short" };
      },
    } as object);
  },
});
const backend = await serve(adapter);
afterAll(() => backend[Symbol.asyncDispose]());

const FIELDS = { connect: "connect-content-encoding", "grpc-web": "grpc-encoding" } as const;

test.each([
  ["connect", true],
  ["connect", false],
  ["grpc-web", true],
  ["grpc-web", false],
] as const)("%s, upstreamGzip: %j", async (protocol, upstreamGzip) => {
  const encodings: (string | null)[] = [];
  const gateway = createGateway({
    schema: set,
    upstreamGzip,
    warn: () => undefined,
    backends: {
      "*": {
        url: backend.url,
        protocol,
        async fetch(input, init) {
          const response = await fetch(input, init);
          encodings.push(response.headers.get(FIELDS[protocol]));
          return response;
        },
      },
    },
  });
  const get = async (path: string) => (await gateway.fetch(new Request(`http://gateway.example${path}`))).json();
  expect(await get("/v1/many")).toEqual([{ text }, { text: "short" }]);
  expect(await get("/v1/one")).toEqual({ text });
  const isUnaryEnveloped = protocol === "grpc-web";
  expect(encodings).toEqual([upstreamGzip ? "gzip" : null, upstreamGzip && isUnaryEnveloped ? "gzip" : null]);
});
