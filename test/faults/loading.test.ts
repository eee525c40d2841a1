/** Faults of what a gateway is started with: descriptors and options. */
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { encodeEnvelopes } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { failure } from "../failure.ts";
import { gatewayOf, librarySet, type Options, send } from "../library-backend.ts";
import { compileSet } from "../proto.ts";

/** An empty message, or of a Connect stream one message and its end. */
const EMPTY: typeof fetch = async (_, init) => {
  const type = new Headers(init?.headers).get("content-type") ?? "";
  const isStream = type.startsWith("application/connect+");
  const stream = encodeEnvelopes(
    { flags: 0, data: new Uint8Array(0) },
    { flags: 2, data: new TextEncoder().encode("{}") },
  );
  return new Response(isStream ? new Uint8Array(stream) : new Uint8Array(0), { headers: { "content-type": type } });
};
const start = (schema: Uint8Array, options: Options = {}) =>
  gatewayOf("", { schema, backends: { "*": { url: "http://backend.example", fetch: EMPTY } }, ...options });

describe("BUG-175: what covers strangers does not go with credentials", () => {
  it.each(["h*", "*", "http*://app.example", "https://*", "https://*.example", "https://app.*"])("%s", (pattern) => {
    const cors = { allowOrigins: ["https://app.example", pattern], allowCredentials: true };
    expect(() => gatewayOf("http://b.example", { cors })).toThrow(failure(Code.InvalidArgument, "cors."));
  });
  it.each(["allowHeaders", "exposeHeaders"])("a star in %s", (name) => {
    const cors = { allowOrigins: ["https://app.example"], allowCredentials: true, [name]: ["*"] };
    expect(() => gatewayOf("http://b.example", { cors })).toThrow(failure(Code.InvalidArgument, "allowCredentials"));
  });
});

describe("BUG-218: one method that streams keeps none from being served", async () => {
  const kinds = await compileSet(`
    syntax = "proto3";
    package kinds.v1;
    import "google/api/annotations.proto";
    service Kinds {
      rpc Unary(M) returns (M) { option (google.api.http) = {get: "/unary"}; }
      rpc Up(stream M) returns (M) { option (google.api.http) = {post: "/up" body: "*"}; }
      rpc UpByGet(stream M) returns (M) { option (google.api.http) = {get: "/up"}; }
      rpc Both(stream M) returns (stream M) { option (google.api.http) = {get: "/both"}; }
    }
    message M { string a = 1; }
  `);
  it.each([
    ["/unary", undefined],
    ["/up", "[]"],
  ])("%s is served", async (path, body) => {
    const warnings: string[] = [];
    const gateway = start(kinds, { onFault: "skip", warn: (message) => warnings.push(message) });
    const init = body === undefined ? {} : { method: "POST", body, headers: { "content-type": "application/json" } };
    expect((await send(gateway, path, init)).status).toBe(200);
  });
});

describe("BUG-220: a file may be given twice if it is the same", () => {
  const set = fromBinary(FileDescriptorSetSchema, librarySet);
  const bytesWith = (...more: readonly FileDescriptorProto[]): Uint8Array =>
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...set.file, ...more] }));
  const library = set.file.find(({ name }) => name === "library.proto") as FileDescriptorProto;

  it("every file twice", async () => {
    expect((await send(start(bytesWith(...set.file)), "/v1/books/a")).status).toBe(200);
  });
  it("two of one name", () => {
    const other = clone(FileDescriptorProtoSchema, library);
    other.messageType.pop();
    expect(() => start(bytesWith(other))).toThrow(failure(Code.InvalidArgument, "library.proto"));
  });
});

describe("BUG-221: a name in a descriptor is a name, or refused", async () => {
  const names = await compileSet(`
    syntax = "proto3";
    package names.v1;
    import "google/api/annotations.proto";
    service Names { rpc Get(Name) returns (Name) { option (google.api.http) = {get: "/names"}; } }
    message Name { string text = 1; Kind kind = 2; oneof one { string a = 3; } }
    enum Kind { NONE = 0; }
  `);
  /** The set with another name in one place, and all that refers to it. */
  const renamed = (place: Place, name: string): Uint8Array => {
    const set = fromBinary(FileDescriptorSetSchema, names);
    const file = set.file.find((one) => one.name === "test.proto");
    const [message, service, kind] = [file?.messageType[0], file?.service[0], file?.enumType[0]];
    const [method, value, field, oneof] = [
      service?.method[0],
      kind?.value[0],
      message?.field[0],
      message?.oneofDecl[0],
    ];
    const kindField = message?.field[1];
    if (!file || !message || !service || !kind || !method || !value || !field || !oneof || !kindField)
      throw new Error("incomplete");
    const targets = { package: file, message, service, method, enum: kind, value, field, oneof };
    if (place === "package") file.package = name;
    else targets[place].name = name;
    const typeName = (own: string): string => `.${file.package}.${own}`;
    method.inputType = typeName(message.name);
    method.outputType = typeName(message.name);
    kindField.typeName = typeName(kind.name);
    return toBinary(FileDescriptorSetSchema, set);
  };
  const PLACES = ["package", "message", "service", "method", "enum", "value", "field", "oneof"] as const;
  type Place = (typeof PLACES)[number];
  const HOSTILE = ["A(){};globalThis.p=1;//", "a b", "1a", "a/b", "a\nb", 'a"b', "a-b", "é"];

  it.each(PLACES.flatMap((place) => HOSTILE.map((name) => [place, name] as const)))("%s %j", (place, name) => {
    expect(() => start(renamed(place, name))).toThrow(failure(Code.InvalidArgument, JSON.stringify(name)));
    expect(globalThis).not.toHaveProperty("p");
  });
  it.each(PLACES)("another %s that is a name", async (place) => {
    expect((await send(start(renamed(place, "_Other9")), "/names")).status).toBe(200);
  });
});

describe("BUG-222: names of the prototype are names like others, wherever a schema has them", async () => {
  const proto = await compileSet(`
    syntax = "proto3";
    package constructor.v1;
    import "google/api/annotations.proto";
    import "google/protobuf/descriptor.proto";
    message Opt { Opt __proto__ = 1; string polluted = 2; Opt constructor = 3; Opt prototype = 4; }
    extend google.protobuf.MethodOptions { Opt a = 50001; }
    service toString {
      rpc valueOf(hasOwnProperty) returns (hasOwnProperty) {
        option (a).__proto__.polluted = "1";
        option (a).constructor.prototype.polluted = "1";
        option (google.api.http) = {get: "/{__proto__}/{constructor.prototype}"};
      }
    }
    message hasOwnProperty { string __proto__ = 1; Deep constructor = 2; map<string, string> toString = 3; __lookupGetter__ e = 4; }
    message Deep { string prototype = 1; }
    enum __lookupGetter__ { isPrototypeOf = 0; propertyIsEnumerable = 1; }
  `);
  it("nothing gets into Object.prototype, and the method is served", async () => {
    const gateway = start(proto);
    expect((await send(gateway, "/a/b?e=propertyIsEnumerable")).status).toBe(200);
    expect((await send(gateway, "/a/b?__proto__=c")).status).toBe(400);
    expect((await send(gateway, "/constructor.v1.toString/valueOf?connect=v1", { method: "GET" })).status).toBe(405);
    expect({}).not.toHaveProperty("polluted");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("BUG-166: a policy sees what is forwarded, all of it", () => {
  it("of several header lines every value", async () => {
    const seen: (string | null)[] = [];
    const forwarded: (string | null)[] = [];
    const gateway = gatewayOf("", {
      backends: {
        "*": {
          url: "http://backend.example",
          fetch(input, init) {
            forwarded.push(new Headers(init?.headers).get("x-role"));
            return EMPTY(input, init);
          },
        },
      },
      policies: [
        {
          wrap: (next) => (call) => {
            seen.push(call.header.get("x-role"));
            return next(call);
          },
        },
      ],
    });
    const headers = new Headers([
      ["x-role", "user"],
      ["X-Role", "admin"],
    ]);
    expect((await send(gateway, "/v1/books/a", { headers })).status).toBe(200);
    expect(seen).toEqual(["user, admin"]);
    expect(forwarded).toEqual(seen);
  });
});
