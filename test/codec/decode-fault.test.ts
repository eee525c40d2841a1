import { createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { compileScriptCodec } from "../../src/codec/compile.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet, messageOf } from "../proto.ts";
import { bytes, concat, group, int64, len, text, varint } from "./wire.ts";

const set = await compileSet({
  "choice.proto": `
    syntax = "proto2";
    package choice;
    message Choice {
      oneof kind { google.protobuf.Timestamp time = 1; group Other = 2 { optional int32 id = 1; } }
      repeated Choice inner = 3;
    }
    import "google/protobuf/timestamp.proto";
  `,
});
const schema = readSchema(set);
const options = {
  unknownFields: "error",
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
} as const;
const codec = compileScriptCodec(messageOf(schema, "choice.Choice"), { registry: schema, options });
const desc = createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getMessage("choice.Choice");
if (!desc) throw new Error("no Choice");

/** After 9999. */
const outOfRange = len(1, int64(1, 253_402_300_800n));

test.each([
  ["by a group", concat(outOfRange, group(2, varint(1, 7)))],
  ["by a group, further inside", len(3, concat(outOfRange, group(2, varint(1, 7))))],
  ["by another record", concat(outOfRange, group(2), len(1, varint(1, 1)))],
])("what is wrong, but was replaced %s, is no fault", (_, wire) => {
  expect(JSON.parse(new TextDecoder().decode(codec.decode(wire)))).toEqual(toJson(desc, fromBinary(desc, wire)));
});

test("what was not replaced is one, and told by its place", () => {
  const wire = concat(len(3), len(3, concat(text(9, "unknown"), outOfRange)), len(3, bytes(0x13, 0x14)));
  expect(() => codec.decode(wire)).toThrow(/inner\[1\]\.time/);
});
