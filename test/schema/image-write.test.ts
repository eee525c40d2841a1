/** An image says what its source says: our own schemas, the catalogue's, and those of strangers. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { compileProtos } from "../../src/node/protos.ts";
import { markChecked } from "../../src/route/mark-checked.ts";
import { readImage } from "../../src/schema/image-read.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import type { Field, Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { applyServiceConfig } from "../../src/schema/service-config.ts";
import { schema as kinds } from "../codec/kinds.ts";
import { compileProto } from "../proto.ts";
import { APIS, type ApiName, loadApi } from "../strangers/apis.ts";
import { plainSchema } from "./plain.ts";

const corners = await compileProto({
  "corners.proto": `syntax = "proto2";
    package corners;
    import "google/api/annotations.proto";
    import "google/protobuf/struct.proto";
    message Defaults {
      optional double a = 1 [default = -inf];
      optional float b = 2 [default = nan];
      optional int64 c = 3 [default = -9223372036854775808];
      optional uint64 d = 4 [default = 18446744073709551615];
      optional fixed64 e = 5 [default = 9223372036854775808];
      optional bool f = 6 [default = true];
      optional string g = 7 [default = "né\\u2028😀\\000"];
      optional bytes h = 8 [default = "\\000\\377"];
      optional Signed i = 9 [default = LEAST];
      optional int32 j = 10 [default = -2147483648];
      optional double k = 11 [default = -0];
      required group Nested = 12 { optional Defaults again = 1; }
    }
    enum Signed { ZERO = 0; LEAST = -2147483648; MOST = 2147483647; }
    // Declared against the order of the numbers.
    message Backwards {
      oneof second { string z = 9; google.protobuf.Value y = 3; }
      oneof first { int32 x = 2; string w = 1 [json_name = "W!"]; }
      map<int32, Signed> v = 536870911;
      extensions 100 to 200;
    }
    service Corners {
      rpc Stream(stream Defaults) returns (stream Backwards) {
        option (google.api.http) = { post: "/ünï/{b}" body: "*" additional_bindings { custom { kind: "*" path: "/c" } } };
        option idempotency_level = IDEMPOTENT;
      }
      rpc Up(stream Defaults) returns (Backwards) { option idempotency_level = NO_SIDE_EFFECTS; }
      rpc Down(Defaults) returns (stream Backwards) {
        option (google.api.http) = { get: "/a" additional_bindings { get: "/b" additional_bindings { get: "/c" } } };
      }
    }`,
  "empty.proto": 'syntax = "proto3"; package empty; service None {} message Nothing {} enum One { ONE = 0; }',
});

const catalogue = await compileProto({
  "catalog.proto": await readFile(new URL("../cases/catalog.proto", import.meta.url), "utf8"),
});

const SCHEMAS: Readonly<Record<string, Schema>> = {
  corners,
  catalogue,
  kinds,
  "the example": readSchema(await compileProtos("proto")),
  "nothing at all": readSchema(new Uint8Array()),
  "rules that were checked": markChecked(catalogue),
  "rules of a service config": applyServiceConfig(corners, {
    http: { rules: [{ selector: "corners.Corners.Up", get: "/v1/up", additional_bindings: [{ put: "/v1/up" }] }] },
  }).schema,
};

/** The premise of all that follows: what is compared is there. */
test("the corners are what they are meant to be", () => {
  expect(corners.message("corners.Defaults")?.fields.map((field) => field.defaultValue)).toEqual([
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    -(2n ** 63n),
    2n ** 64n - 1n,
    2n ** 63n,
    true,
    "né\u2028😀\0",
    new Uint8Array([0, 255]),
    -2147483648,
    -2147483648,
    -0,
    undefined,
  ]);
  expect(corners.message("corners.Backwards")?.oneofs[0]?.fields.map(({ name }) => name)).toEqual(["z", "y"]);
  expect(corners.named).toEqual(new Set(["corners.Corners", "empty.None"]));
});

test.each(Object.entries(SCHEMAS))("%s", (_, schema) => expectSame(schema));

test.each(Object.keys(APIS) as ApiName[])("%s", async (name) => expectSame(readSchema((await loadApi(name)).set)));

function expectSame(schema: Schema): void {
  const image = writeImage(schema);
  const read = readImage(image);
  expect(plainSchema(read)).toStrictEqual(plainSchema(schema));
  // What an image says it can be made of again: `isthmus compile` takes one too.
  expect(writeImage(read)).toEqual(image);
}

describe("identity, by which everything compiled is cached", () => {
  const read = readImage(writeImage(corners));

  test("a message is one object, however it is reached", () => {
    for (const message of read.messages()) {
      expect(read.message(message.name)).toBe(message);
      expect(message.fields).toBe(message.fields);
      for (const field of message.fields.flatMap(withEntry)) {
        if (field.message) expect(read.message(field.message.name)).toBe(field.message);
      }
    }
    for (const { methods } of read.services) {
      for (const { input, output } of methods) {
        expect([read.message(input.name), read.message(output.name)]).toEqual([input, output]);
        expect(read.message(input.name)).toBe(input);
      }
    }
  });

  test("so is an enum", () => {
    const signed = [...read.messages()]
      .flatMap(({ fields }) => fields.flatMap(withEntry))
      .flatMap((field) => field.enum ?? [])
      .filter(({ name }) => name === "corners.Signed");
    expect(signed).toHaveLength(2);
    expect(signed[0]).toBe(signed[1]);
  });

  test("two readings share nothing", () => {
    expect(readImage(writeImage(corners)).message("corners.Defaults")).not.toBe(read.message("corners.Defaults"));
  });

  function withEntry(field: Field): Field[] {
    return field.map ? [field, field.map.key, field.map.value] : [field];
  }
});

test("built-in messages are known though the source does not hold them", () => {
  const read = readImage(writeImage(corners));
  expect([...read.messages()].map(({ name }) => name)).not.toContain("google.rpc.BadRequest");
  expect(read.message("google.rpc.BadRequest")?.fields).toHaveLength(1);
  expect(read.message("corners.Nowhere")).toBeUndefined();
});

test("an image is far smaller than its descriptors", async () => {
  const { set } = await loadApi("Pub/Sub");
  expect(writeImage(readSchema(set)).length * 3).toBeLessThan(set.length);
});
