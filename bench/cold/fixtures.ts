/** What the cold starts begin with: two schemas, and one call for each. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { markChecked } from "../../src/route/mark-checked.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet } from "../../test/proto.ts";
import { buildSet } from "../../test/strangers/apis.ts";

export interface Fixture {
  readonly name: string;
  /** Bytes of the same schema, by what reads them. Descriptors without comments and lines, as generated code has them. */
  readonly schemas: { readonly image: Uint8Array; readonly descriptors: Uint8Array };
  readonly call: Call;
}

export interface Call {
  /** Of the body; the answer is one too. */
  readonly message: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const SMALL = `syntax = "proto3";
package bench.v1;
import "google/api/annotations.proto";
service Users {
  rpc Put(User) returns (User) { option (google.api.http) = { put: "/v1/users/{id}" body: "*" }; }
  rpc List(ListRequest) returns (UserList) { option (google.api.http) = { get: "/v1/users" }; }
}
enum Status { STATUS_UNSPECIFIED = 0; STATUS_ACTIVE = 1; STATUS_SUSPENDED = 2; }
message Address { string street = 1; string city = 2; string country = 3; int32 zip = 4; double lat = 5; double lng = 6; }
message User {
  int64 id = 1; string name = 2; string email = 3; bool verified = 4; Status status = 5; int32 age = 6; double score = 7;
  repeated Address addresses = 8; repeated string tags = 9; map<string, string> attributes = 10; bytes hash = 11;
  uint64 created_at_ms = 12; repeated int32 scores = 13;
}
message UserList { repeated User users = 1; string next_page_token = 2; }
message ListRequest { int32 page_size = 1; string page_token = 2; }
`;

const ADDRESS = {
  street: "12 St James's Square",
  city: "London",
  country: "GB",
  zip: 12345,
  lat: 51.5072,
  lng: -0.1276,
};
const USER = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  verified: true,
  status: "STATUS_ACTIVE",
  age: 36,
  score: 98.6,
  addresses: [ADDRESS, ADDRESS, ADDRESS],
  tags: ["mathematics", "computing", "poetry"],
  attributes: { theme: "dark", locale: "en-GB" },
  hash: "3q2+7wECAwQFBgcICQoLDA==",
  createdAtMs: "1700000000000",
  scores: [1, 2, 3, 500, 70000],
};
const TOPIC = {
  labels: { team: "edge", stage: "test" },
  messageStoragePolicy: { allowedPersistenceRegions: ["europe-west1", "europe-west4"] },
  kmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k",
  schemaSettings: { schema: "projects/p/schemas/s", encoding: "JSON" },
  messageRetentionDuration: "86400s",
};

export async function loadFixtures(): Promise<readonly Fixture[]> {
  return [
    {
      name: "4 messages",
      schemas: schemasOf(await compileSet(SMALL)),
      call: {
        message: "bench.v1.User",
        method: "PUT",
        path: "/v1/users/1234567890123",
        body: JSON.stringify(USER),
      },
    },
    {
      name: "Pub/Sub + Spanner",
      schemas: schemasOf(await buildSet("google/pubsub", "google/spanner")),
      call: {
        message: "google.pubsub.v1.Topic",
        method: "PUT",
        path: "/v1/projects/p/topics/t",
        body: JSON.stringify(TOPIC),
      },
    },
  ];
}

function schemasOf(set: Uint8Array): Fixture["schemas"] {
  const read = fromBinary(FileDescriptorSetSchema, set);
  for (const file of read.file) delete file.sourceCodeInfo;
  return { image: writeImage(markChecked(readSchema(set))), descriptors: toBinary(FileDescriptorSetSchema, read) };
}
