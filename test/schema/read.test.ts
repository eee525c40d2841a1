import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Method, Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileProto, compileSet } from "../proto.ts";

const SOURCE = `syntax = "proto3";
package acme.v1;
import "google/api/annotations.proto";
import "google/protobuf/empty.proto";
service Shop {
  rpc Get(Item) returns (Item) {
    option (google.api.http) = {
      get: "/v1/{id=items/*}"
      additional_bindings { post: "/v1/get" body: "*" }
      additional_bindings { custom { kind: "SEARCH" path: "/v1/find" } body: "part" response_body: "id" }
      additional_bindings { get: "/v1/outer" additional_bindings { get: "/v1/inner" } }
    };
    option idempotency_level = NO_SIDE_EFFECTS;
  }
  rpc Put(Item) returns (google.protobuf.Empty) {
    option (google.api.http) = { put: "/v1/items" body: "*" };
    option idempotency_level = IDEMPOTENT;
  }
  rpc Delete(Item) returns (Item) { option (google.api.http) = { delete: "/v1/items" }; }
  rpc Patch(Item) returns (Item) { option (google.api.http) = { patch: "/v1/items" body: "part" }; }
  rpc Any(Item) returns (Item) { option (google.api.http) = { custom { kind: "*" path: "/any" } }; }
  rpc Nothing(Item) returns (Item) { option (google.api.http) = {}; }
  rpc Plain(Item) returns (Item);
  rpc Watch(Item) returns (stream Item);
  rpc Send(stream Item) returns (Item);
  rpc Chat(stream Item) returns (stream Item);
}
message Item { string id = 1; Item part = 2; }
`;

const set = await compileSet(SOURCE);
const schema = readSchema(set);

function method(name: string, from: Schema = schema): Method {
  const found = from.services.flatMap(({ methods }) => methods).find((method) => method.name === name);
  if (!found) throw new Error(`no method ${name}`);
  return found;
}

test("a service, its file and its methods in order", () => {
  const [shop] = schema.services;
  expect(schema.services).toHaveLength(1);
  expect([shop?.name, shop?.file]).toEqual(["acme.v1.Shop", "test.proto"]);
  expect(shop?.methods.map(({ path }) => path)).toEqual(
    ["Get", "Put", "Delete", "Patch", "Any", "Nothing", "Plain", "Watch", "Send", "Chat"].map(
      (name) => `/acme.v1.Shop/${name}`,
    ),
  );
  for (const method of shop?.methods ?? []) expect(method.service).toBe(shop);
});

test("input and output are the registry's messages", () => {
  const { input, output } = method("Put");
  expect(input).toBe(schema.message("acme.v1.Item"));
  expect(output).toBe(schema.message("google.protobuf.Empty"));
});

test.each([
  ["Get", "unary"],
  ["Watch", "server-stream"],
  ["Send", "client-stream"],
  ["Chat", "bidi"],
])("%s is %s", (name, kind) => {
  expect(method(name).kind).toBe(kind);
});

test.each([
  ["Get", "no-side-effects"],
  ["Put", "idempotent"],
  ["Plain", "unknown"],
])("%s is %s", (name, idempotency) => {
  expect(method(name).idempotency).toBe(idempotency);
});

test.each([
  ["Get", 6],
  ["Put", 15],
  ["Chat", 26],
])("%s stands in line %i", (name, line) => {
  expect(method(name).line).toBe(line);
});

const rule = { body: "", responseBody: "", nested: false };
test.each([
  ["Plain", []],
  ["Nothing", [{ ...rule, method: "", template: "" }]],
  ["Put", [{ ...rule, method: "PUT", template: "/v1/items", body: "*" }]],
  ["Delete", [{ ...rule, method: "DELETE", template: "/v1/items" }]],
  ["Patch", [{ ...rule, method: "PATCH", template: "/v1/items", body: "part" }]],
  ["Any", [{ ...rule, method: "*", template: "/any" }]],
  [
    "Get",
    [
      { ...rule, method: "GET", template: "/v1/{id=items/*}" },
      { ...rule, method: "POST", template: "/v1/get", body: "*" },
      { ...rule, method: "SEARCH", template: "/v1/find", body: "part", responseBody: "id" },
      { ...rule, method: "GET", template: "/v1/outer", nested: true },
    ],
  ],
])("the rules of %s", (name, rules) => {
  expect(method(name).rules).toEqual(rules);
});

test("without source info there are no lines", () => {
  expect(method("Get", readSchema(rewrite(set, stripSourceInfo))).line).toBeUndefined();
});

const TWO_FILES = {
  "a.proto": 'syntax = "proto3"; package a; import "b.proto"; service A { rpc Do(b.M) returns (b.M); }',
  "b.proto": 'syntax = "proto3"; package b; service B { rpc Do(M) returns (M); } message M {}',
};

test("buf's marks say which services are named, though one file imports the other", async () => {
  const both = await compileSet(TWO_FILES);
  expect([...readSchema(both).named].sort()).toEqual(["a.A", "b.B"]);
});

test("in a set without marks, the files that no other imports are named", async () => {
  const plain = rewrite(await compileSet(TWO_FILES), stripMarks);
  const read = readSchema(plain);
  expect([...read.named]).toEqual(["a.A"]);
  expect(read.services.map(({ name }) => name).sort()).toEqual(["a.A", "b.B"]);
});

test.each([
  ["short", [0x08, 0x01]],
  // is_import, then an unused_dependency list (4) that makes the mark longer than 127 bytes.
  ["long", [0x08, 0x01, ...Array.from({ length: 80 }, () => [0x20, 0x00]).flat()]],
])("a %s mark of an import counts", async (_, mark) => {
  const marked = rewrite(await compileSet(TWO_FILES), (file) => {
    file.$unknown = file.$unknown?.filter(({ no }) => no !== 8042) ?? [];
    if (file.name === "b.proto") file.$unknown.push({ no: 8042, wireType: 2, data: lengthFirst(mark) });
  });
  expect([...readSchema(marked).named]).toEqual(["a.A"]);
});

test.each([
  ["google.protobuf.Timestamp", true],
  ["google.rpc.BadRequest", true],
  ["acme.v1.Item", true],
  ["acme.v1.Shop", false],
  ["acme.v1.Missing", false],
  ["constructor", false],
  ["__proto__", false],
  ["", false],
])("message(%j) is there: %j", (name, there) => {
  expect(schema.message(name) !== undefined).toBe(there);
});

test("a set's own message comes before the built-in one", async () => {
  const own = await compileProto('syntax = "proto3"; package google.rpc; message BadRequest { int32 mine = 1; }');
  expect(own.message("google.rpc.BadRequest")?.fields.map(({ name }) => name)).toEqual(["mine"]);
});

test("an ArrayBuffer is as good as its bytes", () => {
  expect([...readSchema(new Uint8Array(set).buffer).named]).toEqual(["acme.v1.Shop"]);
});

test("the empty set has no services", () => {
  expect(readSchema(new Uint8Array(0)).services).toEqual([]);
});

test.each<[string, Uint8Array]>([
  ["text", new TextEncoder().encode('syntax = "proto3";')],
  ["a cut set", set.subarray(0, set.length - 5)],
  ["a set without its imports", rewriteFiles(set, (files) => files.filter(({ name }) => name === "test.proto"))],
  ["a broken http option", rewrite(set, breakHttpOption)],
])("%s is refused clearly", (_, bytes) => {
  expect(() => readSchema(bytes)).toThrow(
    expect.toSatisfy(
      (error) =>
        error instanceof ConnectError &&
        error.code === Code.InvalidArgument &&
        /FileDescriptorSet: ./.test(error.message),
    ),
  );
});

test("no cut of a set fails otherwise than with a ConnectError", () => {
  for (let length = 0; length < set.length; length += 97) {
    try {
      readSchema(set.subarray(0, length));
    } catch (error) {
      expect(error).toBeInstanceOf(ConnectError);
    }
  }
});

function rewrite(bytes: Uint8Array, change: (file: FileDescriptorProto) => void): Uint8Array {
  return rewriteFiles(bytes, (files) => {
    files.forEach(change);
    return files;
  });
}

function rewriteFiles(bytes: Uint8Array, change: (files: FileDescriptorProto[]) => FileDescriptorProto[]): Uint8Array {
  const { file } = fromBinary(FileDescriptorSetSchema, bytes);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: change(file) }));
}

function stripSourceInfo(file: FileDescriptorProto): void {
  delete file.sourceCodeInfo;
}

/** What protoc writes: the same without buf's extension of FileDescriptorProto. */
function stripMarks(file: FileDescriptorProto): void {
  delete file.$unknown;
}

/** google.api.http = 72295728, with bytes that are no HttpRule. */
function breakHttpOption(file: FileDescriptorProto): void {
  for (const { options } of file.service.flatMap(({ method }) => method)) {
    if (!options?.$unknown) continue;
    options.$unknown = options.$unknown.map((field) =>
      field.no === 72295728 ? { ...field, data: lengthFirst([0x12, 0x7f, 0x61]) } : field,
    );
  }
}

function lengthFirst(bytes: readonly number[]): Uint8Array {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return new Uint8Array([...length, ...bytes]);
}
