/** A schema with fields of every kind, known to our codec and to protobuf-es, which is the peer to compare with. */
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { CodecContext, JsonOptions } from "../../src/codec/codec.ts";
import { compileEncoder, type Encoder } from "../../src/codec/encode.ts";
import type { Field, Message } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet, messageOf } from "../proto.ts";

const wellKnown = ["any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"]
  .map((file) => `import "google/protobuf/${file}.proto";`)
  .join("\n");

const set = await compileSet({
  "kinds.proto": `
    syntax = "proto3";
    package k;
    ${wellKnown}
    enum Color { NONE = 0; RED = 1; BLUE = 2; MINUS = -1; }
    message Kinds {
      double f_double = 1; float f_float = 2;
      int32 f_int32 = 3; int64 f_int64 = 4; uint32 f_uint32 = 5; uint64 f_uint64 = 6; sint32 f_sint32 = 7;
      sint64 f_sint64 = 8; fixed32 f_fixed32 = 9; fixed64 f_fixed64 = 10; sfixed32 f_sfixed32 = 11;
      sfixed64 f_sfixed64 = 12; bool f_bool = 13; string f_string = 14; bytes f_bytes = 15; Color f_color = 16;
      Kinds f_kinds = 17;
      optional int32 o_int32 = 21; optional string o_string = 22; optional bool o_bool = 23;
      optional double o_double = 24; optional Color o_color = 25; optional bytes o_bytes = 26;
      repeated int32 r_int32 = 31; repeated sint64 r_sint64 = 32; repeated string r_string = 33;
      repeated double r_double = 34; repeated Color r_color = 35; repeated Kinds r_kinds = 36;
      repeated int32 r_unpacked = 37 [packed = false]; repeated google.protobuf.Value r_value = 38;
      repeated google.protobuf.Int32Value r_wrapper = 39;
      map<string, string> m_string = 41; map<int32, string> m_int32 = 42; map<bool, string> m_bool = 43;
      map<string, Kinds> m_kinds = 44; map<fixed64, Color> m_color = 45; map<sint64, bytes> m_sint64 = 46;
      map<uint32, google.protobuf.Value> m_value = 47;
      google.protobuf.DoubleValue w_double = 51; google.protobuf.FloatValue w_float = 52;
      google.protobuf.Int64Value w_int64 = 53; google.protobuf.UInt64Value w_uint64 = 54;
      google.protobuf.Int32Value w_int32 = 55; google.protobuf.UInt32Value w_uint32 = 56;
      google.protobuf.BoolValue w_bool = 57; google.protobuf.StringValue w_string = 58;
      google.protobuf.BytesValue w_bytes = 59;
      google.protobuf.Timestamp t_time = 61; google.protobuf.Duration t_span = 62;
      google.protobuf.FieldMask t_mask = 63;
      google.protobuf.Struct s_struct = 71; google.protobuf.Value s_value = 72; google.protobuf.ListValue s_list = 73;
      google.protobuf.NullValue s_null = 74; google.protobuf.Any s_any = 75; google.protobuf.Empty s_empty = 76;
      oneof choice {
        string c_text = 81; int64 c_number = 82; Kinds c_kinds = 83; google.protobuf.NullValue c_null = 84;
        google.protobuf.Value c_value = 85;
      }
      int32 high = 536870911;
    }
    message Names { int32 left = 1 [json_name = "right"]; int32 right = 2 [json_name = "left"]; }`,
  "old.proto": `
    syntax = "proto2";
    package k;
    enum Closed { ONE = 1; TWO = 2; }
    message Old {
      required int32 must = 1; optional int32 number = 2 [default = 7]; optional Closed closed = 3;
      repeated int32 plain = 4; repeated int32 tight = 5 [packed = true];
      optional group Part = 6 { optional string text = 1; optional Old old = 2; }
      repeated group Item = 7 { optional int32 size = 1; }
      map<string, Closed> by_name = 8;
    }`,
  "new.proto": `
    edition = "2023";
    package k;
    import "google/protobuf/timestamp.proto";
    message New {
      int32 explicit = 1;
      int32 implicit = 2 [features.field_presence = IMPLICIT];
      New child = 3 [features.message_encoding = DELIMITED];
      repeated New children = 4 [features.message_encoding = DELIMITED];
      repeated int32 expanded = 5 [features.repeated_field_encoding = EXPANDED];
      google.protobuf.Timestamp time = 6 [features.message_encoding = DELIMITED];
    }`,
});

export const schema = readSchema(set);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));

export function contextWith(options: Partial<JsonOptions> = {}): CodecContext {
  const defaults: JsonOptions = {
    unknownFields: "error",
    emitDefaults: false,
    useProtoFieldName: false,
    enumAsInteger: false,
    int64AsNumber: false,
    maxDepth: 100,
  };
  return { registry: schema, options: { ...defaults, ...options } };
}

export function fieldOf(message: Message, name: string): Field {
  const field = message.fields.find((field) => field.name === name);
  if (!field) throw new Error(`no field ${name} in ${message.name}`);
  return field;
}

export function encoderOf(typeName: string, options: Partial<JsonOptions> = {}): Encoder {
  return compileEncoder(messageOf(schema, typeName), contextWith(options));
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What protobuf-es reads in the wire, as ProtoJSON. */
export function shown(typeName: string, wire: Uint8Array): JsonValue {
  const desc = descOf(typeName);
  return toJson(desc, fromBinary(desc, wire), { registry });
}

/** What protobuf-es reads in the JSON, as ProtoJSON. Sent over the wire first, which is where floats get their 32 bits. */
export function shownJson(typeName: string, json: string): JsonValue {
  const desc = descOf(typeName);
  return shown(typeName, toBinary(desc, fromJsonString(desc, json, { registry })));
}

export function errorOf(run: () => unknown): ConnectError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

export function descOf(typeName: string): DescMessage {
  const desc = registry.getMessage(typeName);
  if (!desc) throw new Error(`no message ${typeName}`);
  return desc;
}
