import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Field, Message, Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import * as Type from "../../src/schema/type.ts";
import { compileProto, messageOf } from "../proto.ts";

const schema = await compileProto({
  "p3.proto": `
    syntax = "proto3";
    package p3;
    import "google/protobuf/wrappers.proto";
    message M {
      double a_double = 1;
      float a_float = 2;
      int64 a_int64 = 3;
      uint64 a_uint64 = 4;
      int32 a_int32 = 5;
      fixed64 a_fixed64 = 6;
      fixed32 a_fixed32 = 7;
      bool a_bool = 8;
      string a_string = 9;
      M a_message = 11;
      bytes a_bytes = 12;
      uint32 a_uint32 = 13;
      Color a_enum = 14;
      sfixed32 a_sfixed32 = 15;
      sfixed64 a_sfixed64 = 16;
      sint32 a_sint32 = 17;
      sint64 a_sint64 = 18;
      optional int32 maybe = 20;
      google.protobuf.StringValue wrapped = 21;
      repeated int32 numbers = 22;
      repeated int32 unpacked = 23 [packed = false];
      repeated string texts = 24;
      repeated M children = 25;
      repeated Color colors = 26;
      map<string, int32> counts = 27;
      map<int64, M> by_id = 28;
      map<bool, Color> by_flag = 29;
      oneof choice {
        string left = 31;
        M right = 30;
      }
      int32 renamed_field = 32 [json_name = "other-name"];
      int32 foo__bar_2baz = 33;
      message Inner { enum Deep { DEEP_ZERO = 0; } Deep deep = 1; }
      Inner inner = 34;
    }
    enum Color {
      option allow_alias = true;
      COLOR_ZERO = 0;
      COLOR_RED = 1;
      COLOR_ROT = 1;
      COLOR_MINUS = -1;
    }`,
  "p2.proto": `
    syntax = "proto2";
    package p2;
    message M {
      required int32 needed = 1;
      optional int32 maybe = 2;
      optional string text = 3;
      repeated int32 numbers = 4;
      repeated int32 packed = 5 [packed = true];
      optional group Bundle = 6 { optional int32 inside = 1; }
      repeated group Many = 7 { optional int32 inside = 1; }
      optional Closed closed = 8;
      optional int32 d_int = 10 [default = -7];
      optional int64 d_int64 = 11 [default = 9007199254740993];
      optional uint64 d_uint64 = 12 [default = 18446744073709551615];
      optional bool d_bool = 13 [default = true];
      optional string d_text = 14 [default = "a\\"b"];
      optional bytes d_bytes = 15 [default = "\\001\\xff"];
      optional Closed d_enum = 16 [default = TWO];
      optional double d_double = 17 [default = -inf];
      oneof choice { int32 one = 20; string two = 21; }
    }
    enum Closed { ONE = 1; TWO = 2; }`,
  "ed.proto": `
    edition = "2023";
    package ed;
    message M {
      int32 explicit = 1;
      int32 implicit = 2 [features.field_presence = IMPLICIT];
      int32 needed = 3 [features.field_presence = LEGACY_REQUIRED];
      repeated int32 packed = 4;
      repeated int32 expanded = 5 [features.repeated_field_encoding = EXPANDED];
      M delimited = 6 [features.message_encoding = DELIMITED];
      M prefixed = 7;
      string checked = 8;
      string unchecked = 9 [features.utf8_validation = NONE];
      Open open = 10;
      Closed closed = 11;
      int32 with_default = 12 [default = 5];
      map<string, string> texts = 13 [features.utf8_validation = NONE];
    }
    enum Open { OPEN_ZERO = 0; }
    enum Closed { option features.enum_type = CLOSED; CLOSED_ONE = 1; }`,
});

function field(message: Message, name: string): Field {
  const found = message.fields.find((field) => field.name === name);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

const p3 = messageOf(schema, "p3.M");
const p2 = messageOf(schema, "p2.M");
const ed = messageOf(schema, "ed.M");

// google.protobuf.FieldDescriptorProto.Type
test.each([
  ["a_double", 1],
  ["a_float", 2],
  ["a_int64", 3],
  ["a_uint64", 4],
  ["a_int32", 5],
  ["a_fixed64", 6],
  ["a_fixed32", 7],
  ["a_bool", 8],
  ["a_string", 9],
  ["a_message", 11],
  ["a_bytes", 12],
  ["a_uint32", 13],
  ["a_enum", 14],
  ["a_sfixed32", 15],
  ["a_sfixed64", 16],
  ["a_sint32", 17],
  ["a_sint64", 18],
])("%s has type %i", (name, type) => {
  expect(field(p3, name).type).toBe(type);
});

test("fields are in order of their numbers", () => {
  const numbers = p3.fields.map(({ number }) => number);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(numbers).toHaveLength(32);
});

/** Fields whose flags differ from a plain singular field's. */
const FLAGS: readonly [Message, string, Partial<Field>][] = [
  [p3, "a_int32", { presence: false, repeated: false, packed: false, required: false }],
  [p3, "a_enum", { presence: false }],
  [p3, "a_message", { presence: true, repeated: false }],
  [p3, "maybe", { presence: true }],
  [p3, "wrapped", { presence: true }],
  [p3, "numbers", { repeated: true, packed: true, presence: false }],
  [p3, "unpacked", { repeated: true, packed: false }],
  [p3, "texts", { repeated: true, packed: false, presence: false }],
  [p3, "children", { repeated: true, packed: false, presence: false }],
  [p3, "colors", { repeated: true, packed: true }],
  [p3, "left", { presence: true }],
  [p3, "right", { presence: true }],
  [p3, "a_string", { utf8: true }],
  [p2, "needed", { presence: true, required: true }],
  [p2, "maybe", { presence: true, required: false }],
  [p2, "text", { utf8: false }],
  [p2, "numbers", { repeated: true, packed: false }],
  [p2, "packed", { repeated: true, packed: true }],
  [p2, "bundle", { type: Type.GROUP, repeated: false, presence: true }],
  [p2, "many", { type: Type.GROUP, repeated: true, presence: false }],
  [ed, "explicit", { presence: true, required: false }],
  [ed, "implicit", { presence: false, required: false }],
  [ed, "needed", { presence: true, required: true }],
  [ed, "packed", { packed: true }],
  [ed, "expanded", { packed: false, repeated: true }],
  [ed, "delimited", { type: Type.GROUP }],
  [ed, "prefixed", { type: Type.MESSAGE }],
  [ed, "checked", { utf8: true }],
  [ed, "unchecked", { utf8: false }],
];
for (const [message, name, flags] of FLAGS) {
  test(`${message.name}.${name}: ${Object.entries(flags).join(" ")}`, () => {
    expect(field(message, name)).toMatchObject(flags);
  });
}

test.each([
  ["a_int64", "aInt64"],
  ["renamed_field", "other-name"],
  // protoc: letters after an underscore in upper case, underscores dropped.
  ["foo__bar_2baz", "fooBar2baz"],
])("%s is %s in JSON", (name, jsonName) => {
  expect(field(p3, name).jsonName).toBe(jsonName);
});

test.each([
  ["d_int", -7],
  ["d_int64", 9007199254740993n],
  ["d_uint64", 18446744073709551615n],
  ["d_bool", true],
  ["d_text", 'a"b'],
  ["d_bytes", new Uint8Array([1, 255])],
  ["d_enum", 2],
  ["d_double", Number.NEGATIVE_INFINITY],
  ["maybe", undefined],
])("%s has its default", (name, value) => {
  expect(field(p2, name).defaultValue).toEqual(value);
});

test("an edition's default", () => {
  expect(field(ed, "with_default").defaultValue).toBe(5);
});

test("only real oneofs are oneofs, and they share their fields with the message", () => {
  expect(p3.oneofs.map(({ name }) => name)).toEqual(["choice"]);
  expect(p2.oneofs.map(({ name }) => name)).toEqual(["choice"]);
  expect(ed.oneofs).toEqual([]);
  const [choice] = p3.oneofs;
  expect(choice?.fields.map(({ name }) => name).sort()).toEqual(["left", "right"]);
  for (const member of choice?.fields ?? []) {
    expect(member.oneof).toBe(choice);
    expect(p3.fields).toContain(member);
  }
  expect(field(p3, "maybe").oneof).toBeUndefined();
});

test("maps have an entry, and are neither lists nor messages", () => {
  const counts = field(p3, "counts");
  expect(counts).toMatchObject({ type: Type.MESSAGE, repeated: false, presence: false });
  expect(counts.message).toBeUndefined();
  expect(counts.map?.key).toMatchObject({ number: 1, type: Type.STRING });
  expect(counts.map?.value).toMatchObject({ number: 2, type: Type.INT32 });
  expect(field(p3, "by_id").map?.key.type).toBe(Type.INT64);
  expect(field(p3, "by_id").map?.value.message).toBe(p3);
  const flags = field(p3, "by_flag");
  expect(flags.map?.key.type).toBe(Type.BOOL);
  expect(flags.map?.value).toMatchObject({ type: Type.ENUM, enum: { name: "p3.Color" } });
  expect(flags.enum).toBeUndefined();
  expect(field(ed, "texts").map?.value.utf8).toBe(false);
});

test("enums: closed or open, aliases and negative numbers in order of declaration", () => {
  expect(field(p3, "a_enum").enum).toEqual({
    name: "p3.Color",
    closed: false,
    values: [
      { name: "COLOR_ZERO", number: 0 },
      { name: "COLOR_RED", number: 1 },
      { name: "COLOR_ROT", number: 1 },
      { name: "COLOR_MINUS", number: -1 },
    ],
  });
  expect(field(p2, "closed").enum).toMatchObject({ name: "p2.Closed", closed: true });
  expect(field(ed, "open").enum?.closed).toBe(false);
  expect(field(ed, "closed").enum?.closed).toBe(true);
});

test("types are one object each, nested and recursive ones too", () => {
  expect(field(p3, "a_message").message).toBe(p3);
  expect(field(p3, "colors").enum).toBe(field(p3, "a_enum").enum);
  const inner = field(p3, "inner").message;
  expect(inner?.name).toBe("p3.M.Inner");
  expect(inner).toBe(messageOf(schema, "p3.M.Inner"));
  expect(inner && field(inner, "deep").enum?.name).toBe("p3.M.Inner.Deep");
});

test("another schema shares nothing", async () => {
  const other: Schema = await compileProto('syntax = "proto3"; package p3; message M { int32 a = 1; }');
  expect(messageOf(other, "p3.M")).not.toBe(p3);
});

test("a default that is no value of its type is told when the message is first looked at", () => {
  const set = create(FileDescriptorSetSchema, {
    file: [
      {
        name: "wrong.proto",
        package: "wrong",
        syntax: "proto2",
        enumType: [{ name: "E", value: [{ name: "ONE", number: 1 }] }],
        messageType: [
          {
            name: "M",
            field: [
              { name: "e", number: 1, type: 14, label: 1, typeName: ".wrong.E", defaultValue: "TWO", jsonName: "e" },
            ],
          },
        ],
      },
    ],
  });
  const message = messageOf(readSchema(toBinary(FileDescriptorSetSchema, set)), "wrong.M");
  const failure = expect.objectContaining({ code: Code.Internal, rawMessage: expect.stringContaining("wrong.M") });
  expect(() => message.fields).toThrow(ConnectError);
  expect(() => message.fields).toThrow(failure);
});
