/** The same answers, byte for byte, wherever the schema comes from. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, it } from "vitest";
import { loadSchema } from "../src/cli/schema.ts";
import { createGateway } from "../src/gateway.ts";
import { markChecked } from "../src/route/mark-checked.ts";
import { writeImage } from "../src/schema/image-write.ts";
import { readSchema, type SchemaSource } from "../src/schema/read.ts";
import { compileSet } from "./proto.ts";

const PROTO = `syntax = "proto3";
package store.v1;
import "google/api/annotations.proto";
import "google/protobuf/any.proto";
import "google/protobuf/field_mask.proto";
message Item { string name = 1; int64 stock = 2; google.protobuf.Any extra = 3; map<string, double> prices = 4; }
message UpdateItemRequest { Item item = 1; google.protobuf.FieldMask update_mask = 2; }
service Store {
  rpc UpdateItem(UpdateItemRequest) returns (UpdateItemRequest) {
    option (google.api.http) = {
      patch: "/v1/{item.name=items/*}" body: "item"
      additional_bindings {get: "/v1/{item.name=items/*}" response_body: "item"}
    };
  }
}
`;

const REQUESTS: readonly (readonly [path: string, init?: RequestInit])[] = [
  ["/v1/items/1?item.stock=9007199254740993"],
  ["/v1/items/1?nope=1"],
  ["/v1/items/1", { method: "PATCH", body: '{"stock":"x"}' }],
  [
    "/v1/items/1",
    {
      method: "PATCH",
      body: '{"prices":{"a":1.5},"extra":{"@type":"type.googleapis.com/store.v1.Item","name":"inner"}}',
    },
  ],
  ["/store.v1.Store/UpdateItem", { method: "POST", body: '{"item":{"stock":-1}}' }],
  ["/v1/items/1", { method: "PUT" }],
];

const folder = await mkdtemp(join(tmpdir(), "isthmus-sources-"));
await writeFile(join(folder, "store.proto"), PROTO);
const set = await compileSet({ "store.proto": PROTO });
await writeFile(join(folder, "set.binpb"), set);
const file = createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getFile("store.proto") as DescFile;

const SOURCES: Readonly<Record<string, SchemaSource>> = {
  "a descriptor set": set,
  "its buffer": new Uint8Array(set).buffer,
  "a file of a set": await loadSchema(join(folder, "set.binpb")),
  "a folder of protos": await loadSchema(folder),
  "a DescFile": file,
  "several DescFiles": [file],
  "an image": writeImage(readSchema(set)),
  "an image with checked rules": writeImage(markChecked(readSchema(set))),
  "the buffer of an image": writeImage(readSchema(file)).buffer,
};

/** Every request's answer, whole; the backend answers with the message it got. */
async function answers(schema: SchemaSource): Promise<readonly unknown[]> {
  const fetch = async (_input: RequestInfo | URL, init?: RequestInit) =>
    new Response(init?.body ?? null, { headers: { "content-type": "application/proto" } });
  const gateway = createGateway({ schema, backends: { "*": { url: "http://backend.example", fetch } } });
  return Promise.all(
    REQUESTS.map(async ([path, init]) => {
      const headers = { "content-type": "application/json" };
      const response = await gateway.fetch(new Request(`http://gateway${path}`, { ...init, headers }));
      return [response.status, [...response.headers], await response.text()];
    }),
  );
}

describe("sources of a schema", async () => {
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const expected = await answers(set);

  it("answer what the schema means", () => {
    expect(expected.map((answer) => (answer as [number])[0])).toEqual([200, 400, 400, 200, 200, 405]);
    expect((expected[0] as [number, unknown, string])[2]).toBe('{"name":"items/1","stock":"9007199254740993"}');
  });

  it.each(Object.entries(SOURCES))("%s", async (_, source) => {
    expect(await answers(source)).toEqual(expected);
    expect(readSchema(source).named).toEqual(new Set(["store.v1.Store"]));
  });
});
