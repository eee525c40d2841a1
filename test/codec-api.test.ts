import { create, createRegistry, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  AnySchema,
  anyPack,
  DurationSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createCodec } from "../src/codec-api.ts";

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
