/** Extensions (proto2, editions) in JSON: `[pkg.name]`, as protobuf-es reads and writes them. */
import { createFileRegistry, type DescMessage, fromBinary, fromJsonString, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { compileCodec } from "../../src/codec/compile.ts";
import { createCodec } from "../../src/codec-api.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet, messageOf } from "../proto.ts";

const set = await compileSet({
  "base.proto": `
    syntax = "proto2";
    package base;
    message Base { optional int32 own = 1; optional Base inner = 2; extensions 100 to 200; }
  `,
  "more.proto": `
    edition = "2023";
    package more;
    import "base.proto";
    enum Mood { MOOD_UNSPECIFIED = 0; GLAD = 1; }
    message Part { int32 number = 1; extend base.Base { Part in_part = 110; } }
    extend base.Base {
      int64 whole = 100;
      repeated int32 packed_list = 101;
      repeated string texts = 102;
      Mood mood = 103;
      Part part = 104;
      Part cut = 105 [features.message_encoding = DELIMITED];
      repeated Part parts = 106;
    }
  `,
});
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
const peer = registry.getMessage("base.Base") as DescMessage;
const schema = readSchema(set);
const options = {
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
  unknownFields: "error",
} as const;
const bytes = (text: string) => new TextEncoder().encode(text);
const parsed = (json: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(json));

function codec(emitDefaults = false) {
  return compileCodec(messageOf(schema, "base.Base"), { registry: schema, options: { ...options, emitDefaults } });
}

describe("extensions", () => {
  it.each([
    '{"[more.whole]":"9007199254740993"}',
    '{"[more.whole]":0}',
    '{"[more.packed_list]":[1,-1,300]}',
    '{"[more.packed_list]":[]}',
    '{"[more.texts]":["a",""]}',
    '{"[more.mood]":"GLAD"}',
    '{"[more.part]":{"number":3}}',
    '{"[more.cut]":{"number":3},"own":1}',
    '{"[more.parts]":[{},{"number":3}]}',
    '{"[more.Part.in_part]":{"number":3},"inner":{"[more.cut]":{}}}',
  ])("%s: both ways as protobuf-es", (json) => {
    const message = fromJsonString(peer, json, { registry });
    const wire = codec().encode(bytes(json));
    expect(toJson(peer, fromBinary(peer, wire), { registry })).toEqual(toJson(peer, message, { registry }));
    expect(parsed(codec().decode(toBinary(peer, message)))).toEqual(toJson(peer, message, { registry }));
  });

  it("are left out where they are not set, whatever the options", () => {
    const expected = toJson(peer, fromJsonString(peer, "{}"), { registry, alwaysEmitImplicit: true });
    expect(parsed(codec(true).decode(new Uint8Array()))).toEqual(expected);
  });

  it("are named in errors, and known by full name only", () => {
    expect(() => codec().encode(bytes('{"inner":{"[more.part]":{"number":"x"}}}'))).toThrow(
      "inner.[more.part].number: ",
    );
    for (const key of ["[more.none]", "[whole]", "more.whole", "whole"]) {
      expect(() => codec().encode(bytes(`{"${key}":1}`))).toThrow(`${key}: no such field in base.Base`);
    }
    expect(() => codec().encode(bytes('{"[more.whole]":1,"[more.whole]":1}'))).toThrow("given more than once");
  });

  it("are those of the registry that createCodec is given", () => {
    const json = bytes('{"[more.whole]":"5"}');
    const wire = createCodec(peer, { registry }).encode(json);
    expect(wire).toEqual(toBinary(peer, fromJsonString(peer, '{"[more.whole]":"5"}', { registry })));
    expect(createCodec(peer, { registry }).decode(wire)).toEqual(json);
    expect(() => createCodec(peer).encode(json)).toThrow("no such field");
    expect(parsed(createCodec(peer).decode(wire))).toEqual({});
  });
});
