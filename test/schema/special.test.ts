import { expect, test } from "vitest";
import { hasTextForm, specialOf } from "../../src/schema/special.ts";
import { compileProto, messageOf } from "../proto.ts";

const schema = await compileProto(`
  syntax = "proto2";
  package test;
  import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/empty.proto";
  import "google/protobuf/field_mask.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";
  message Yes {
    optional int32 number = 1;
    optional bool flag = 2;
    optional string text = 3;
    optional bytes data = 4;
    optional Enum choice = 5;
    repeated string texts = 6;
    optional google.protobuf.Timestamp time = 7;
    repeated google.protobuf.Duration durations = 8;
    optional google.protobuf.FieldMask mask = 9;
    optional google.protobuf.DoubleValue w1 = 11;
    optional google.protobuf.FloatValue w2 = 12;
    optional google.protobuf.Int64Value w3 = 13;
    optional google.protobuf.UInt64Value w4 = 14;
    optional google.protobuf.Int32Value w5 = 15;
    optional google.protobuf.UInt32Value w6 = 16;
    optional google.protobuf.BoolValue w7 = 17;
    optional google.protobuf.StringValue w8 = 18;
    optional google.protobuf.BytesValue w9 = 19;
    optional google.protobuf.NullValue null = 20;
  }
  message No {
    optional No message = 1;
    repeated No messages = 2;
    map<string, string> texts = 3;
    map<string, google.protobuf.Timestamp> times = 4;
    optional group Bundle = 5 {}
    optional google.protobuf.Any any = 6;
    optional google.protobuf.Struct struct = 7;
    optional google.protobuf.Value value = 8;
    optional google.protobuf.ListValue list = 9;
    optional google.protobuf.Empty empty = 10;
  }
  enum Enum { ONE = 1; }
`);

for (const [name, expected] of [
  ["test.Yes", true],
  ["test.No", false],
] as const) {
  for (const field of messageOf(schema, name).fields) {
    test(`${name}.${field.name}: ${expected}`, () => {
      expect(hasTextForm(field)).toBe(expected);
    });
  }
}

test.each([
  ["test.Yes", undefined],
  ["google.protobuf.Empty", undefined],
  ["google.protobuf.StringValue", "wrapper"],
  ["google.protobuf.Timestamp", "text"],
  ["google.protobuf.Struct", "struct"],
  ["google.protobuf.Value", "value"],
  ["google.protobuf.ListValue", "list"],
  ["google.protobuf.Any", "any"],
])("%s is special as %j", (name, special) => {
  expect(specialOf(messageOf(schema, name))).toBe(special);
});
