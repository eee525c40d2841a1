import { create, createRegistry, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  AnySchema,
  anyPack,
  DurationSchema,
  EnumValueDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
  SourceContextSchema,
} from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createCodec } from "../src/codec-api.ts";
import { failure } from "./failure.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (json: Uint8Array) => new TextDecoder().decode(json);

describe("createCodec", () => {
  const file = file_google_protobuf_descriptor.proto;

  it("agrees with protobuf-es on a proto2 message with nesting, enums and lists: descriptor.proto itself", () => {
    const codec = createCodec(FileDescriptorProtoSchema);
    const json = toJsonString(FileDescriptorProtoSchema, file);
    expect(JSON.parse(text(codec.decode(toBinary(FileDescriptorProtoSchema, file))))).toEqual(JSON.parse(json));
    expect(fromBinary(FileDescriptorProtoSchema, codec.encode(bytes(json)))).toEqual(file);
  });

  it.each([
    ["unknownField", "ignore", "no such option"],
    ["readMaxBytes", 1, "no such option"],
    ["toString", {}, "no such option"],
    ["unknownFields", "skip", "one of error, ignore"],
    ["emitDefaults", "true", "true or false"],
    ["useProtoFieldName", 1, "true or false"],
    ["enumAsInteger", null, "true or false"],
    ["int64AsNumber", "yes", "true or false"],
    ["maxDepth", 0, "a positive whole number"],
    ["maxDepth", "100", "a positive whole number"],
    ["registry", {}, "@bufbuild/protobuf"],
    ["registry", null, "@bufbuild/protobuf"],
  ])("refuses the option %s: %j", (name, value, mention) => {
    expect(() => createCodec(FileDescriptorProtoSchema, { [name]: value })).toThrow(
      failure(Code.InvalidArgument, `${name}: `, mention),
    );
  });

  it("takes every option of the codec, and undefined for the default", () => {
    const wire = toBinary(
      EnumValueDescriptorProtoSchema,
      create(EnumValueDescriptorProtoSchema, { options: { uninterpretedOption: [{ positiveIntValue: 7n }] } }),
    );
    const json = '{"options":{"uninterpretedOption":[{"positiveIntValue":"7"}]}}';
    const names = ["registry", "unknownFields", "emitDefaults", "useProtoFieldName", "enumAsInteger", "maxDepth"];
    const none = Object.fromEntries([...names, "int64AsNumber"].map((name) => [name, undefined]));
    expect(text(createCodec(EnumValueDescriptorProtoSchema, none).decode(wire))).toBe(json);
    const bare = createCodec(EnumValueDescriptorProtoSchema, { int64AsNumber: true, useProtoFieldName: true });
    expect(text(bare.decode(wire))).toBe('{"options":{"uninterpreted_option":[{"positive_int_value":7}]}}');
    const flat = createCodec(EnumValueDescriptorProtoSchema, { maxDepth: 2 });
    expect(() => flat.decode(wire)).toThrow(failure(Code.Internal, "depth"));
    expect(() => flat.encode(bytes(json))).toThrow(failure(Code.InvalidArgument, "2 levels"));
    const field = toBinary(FieldDescriptorProtoSchema, create(FieldDescriptorProtoSchema, { label: 3 }));
    expect(text(createCodec(FieldDescriptorProtoSchema, { enumAsInteger: true }).decode(field))).toBe('{"label":3}');
    const whole = createCodec(SourceContextSchema, { emitDefaults: true });
    expect(text(whole.decode(new Uint8Array()))).toBe('{"fileName":""}');
  });

  it("counts what it skips, both ways", () => {
    const skipped = { unknownFields: 0 };
    const codec = createCodec(FileDescriptorProtoSchema, { unknownFields: "ignore" });
    const wire = codec.encode(bytes('{"nope":[{}],"syntax":"proto2","nay":1}'), skipped);
    expect(skipped).toEqual({ unknownFields: 2 });
    expect(text(createCodec(DurationSchema).decode(wire, skipped))).toBe('"0s"');
    expect(skipped).toEqual({ unknownFields: 3 });
  });

  it("takes the options of ProtoJSON", () => {
    const wire = toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, { publicDependency: [1] }));
    const codec = createCodec(FileDescriptorProtoSchema, { useProtoFieldName: true, unknownFields: "ignore" });
    expect(text(codec.decode(wire))).toBe('{"public_dependency":[1]}');
    expect(codec.encode(bytes('{"nope":[{}],"publicDependency":[1]}'))).toEqual(wire);
  });

  it("resolves Any by the registry, and the well-known types without one", () => {
    const known = anyPack(DurationSchema, create(DurationSchema, { seconds: 3n }));
    expect(text(createCodec(AnySchema).decode(toBinary(AnySchema, known)))).toBe(
      '{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}',
    );
    const own = toBinary(
      AnySchema,
      anyPack(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, { name: "a" })),
    );
    expect(() => createCodec(AnySchema).decode(own)).toThrow("google.protobuf.FileDescriptorProto");
    const registry = createRegistry(FileDescriptorProtoSchema);
    expect(text(createCodec(AnySchema, { registry }).decode(own))).toBe(
      '{"@type":"type.googleapis.com/google.protobuf.FileDescriptorProto","name":"a"}',
    );
  });

  it("names the field and the place of what is wrong", () => {
    expect(() =>
      createCodec(FileDescriptorProtoSchema).encode(bytes('{"messageType":[{},\n{"field":[{"number":"x"}]}]}')),
    ).toThrow(/message_type\[1\]\.field\[0\]\.number: .*line 2, column 21/);
  });
});
