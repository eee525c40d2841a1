/** One schema with a field of every kind, for our codec and for protobuf-es, which the tests take as the peer. */
import { createFileRegistry, type DescMessage, type FileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { Codec, CodecContext, JsonOptions, Skipped } from "../../src/codec/codec.ts";
import { compileCarefulDecoder } from "../../src/codec/decode.ts";
import { compileDecoder } from "../../src/codec/decoder.ts";
import { compilePrinter, PrintedParts } from "../../src/codec/print.ts";
import type { Field } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { compileSet, messageOf } from "../proto.ts";
import { withNumbers } from "./int64-numbers.ts";

const modern = `
  syntax = "proto3";
  package kitchen;
  import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/empty.proto";
  import "google/protobuf/field_mask.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";

  enum Genre { GENRE_UNSPECIFIED = 0; NOVEL = 1; LOST = -1; }
  enum Shade { option allow_alias = true; SHADE_UNSPECIFIED = 0; GREY = 1; GRAY = 1; }

  message Kitchen {
    double f_double = 1;
    float f_float = 2;
    int32 f_int32 = 3;
    int64 f_int64 = 4;
    uint32 f_uint32 = 5;
    uint64 f_uint64 = 6;
    sint32 f_sint32 = 7;
    sint64 f_sint64 = 8;
    fixed32 f_fixed32 = 9;
    fixed64 f_fixed64 = 10;
    sfixed32 f_sfixed32 = 11;
    sfixed64 f_sfixed64 = 12;
    bool f_bool = 13;
    string f_string = 14;
    bytes f_bytes = 15;
    Genre f_genre = 16;
    Shade f_shade = 17;
    Child f_child = 18;

    optional int32 o_int32 = 21;
    optional int64 o_int64 = 22;
    optional string o_string = 23;
    optional bool o_bool = 24;
    optional double o_double = 25;
    optional Genre o_genre = 26;
    optional bytes o_bytes = 27;

    repeated int32 r_int32 = 31;
    repeated sint64 r_sint64 = 32;
    repeated string r_string = 33;
    repeated bool r_bool = 34 [packed = false];
    repeated float r_float = 35;
    repeated Genre r_genre = 36;
    repeated bytes r_bytes = 37;
    repeated Child r_child = 38;
    repeated google.protobuf.Timestamp r_time = 39;
    repeated google.protobuf.Value r_value = 40;

    map<string, string> m_string = 41;
    map<int32, bytes> m_int32 = 42;
    map<bool, double> m_bool = 43;
    map<string, Child> m_child = 44;
    map<sint64, Genre> m_genre = 45;
    map<fixed64, google.protobuf.Duration> m_span = 46;
    map<uint32, google.protobuf.Int64Value> m_wrapped = 47;

    google.protobuf.DoubleValue w_double = 51;
    google.protobuf.FloatValue w_float = 52;
    google.protobuf.Int64Value w_int64 = 53;
    google.protobuf.UInt64Value w_uint64 = 54;
    google.protobuf.Int32Value w_int32 = 55;
    google.protobuf.UInt32Value w_uint32 = 56;
    google.protobuf.BoolValue w_bool = 57;
    google.protobuf.StringValue w_string = 58;
    google.protobuf.BytesValue w_bytes = 59;

    google.protobuf.Timestamp t_time = 61;
    google.protobuf.Duration t_span = 62;
    google.protobuf.FieldMask t_mask = 63;

    google.protobuf.Struct s_struct = 71;
    google.protobuf.Value s_value = 72;
    google.protobuf.ListValue s_list = 73;
    google.protobuf.NullValue s_null = 74;
    google.protobuf.Any s_any = 75;
    google.protobuf.Empty s_empty = 76;

    oneof choice {
      string c_text = 81;
      int64 c_number = 82;
      Child c_child = 83;
      google.protobuf.NullValue c_null = 84;
      bool c_flag = 85;
    }
    string own_name = 91 [json_name = "@own"];
  }

  message Child {
    string text = 1;
    int32 count = 2;
    Child child = 3;
    optional string note = 4;
    repeated string words = 5;
  }
`;

const legacy = `
  syntax = "proto2";
  package kitchen;

  enum Closed { FIVE = 5; SIX = 6; }

  message Legacy {
    optional int32 number = 1 [default = 7];
    optional string text = 2 [default = "a\\"b"];
    optional bytes raw = 3 [default = "\\001\\002"];
    optional Closed closed = 4 [default = SIX];
    optional Closed plain = 5;
    optional group Part = 6 {
      optional string name = 1;
      optional Legacy inner = 2;
    }
    repeated group Item = 7 {
      optional int32 n = 1;
    }
    oneof pick {
      Closed one = 8;
      int32 two = 9;
    }
    optional uint64 big = 10 [default = 18446744073709551615];
  }

  message ClosedLists {
    repeated Closed list = 1;
    map<string, Closed> entries = 2;
  }
`;

const set = await compileSet({ "modern.proto": modern, "legacy.proto": legacy });

const schema = readSchema(set);
export const peer: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));

const defaults: JsonOptions = {
  unknownFields: "error",
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
};

export const kitchenMessage = (fullName: string) => messageOf(schema, fullName);

export const field = (fullName: string, name: string) => {
  const found = messageOf(schema, fullName).fields.find((field) => field.name === name);
  if (!found) throw new Error(`no field ${name} in ${fullName}`);
  return found;
};

/** Codecs keep their tables by context: properties that draw options would compile them anew in every run. */
const contexts = new Map<string, CodecContext>();

export function contextOf(options: Partial<JsonOptions>): CodecContext {
  const key = JSON.stringify(options);
  let context = contexts.get(key);
  if (!context) {
    context = { registry: schema, options: { ...defaults, ...options } };
    contexts.set(key, context);
  }
  return context;
}

export function decoder(fullName: string, options: Partial<JsonOptions> = {}): Pick<Codec, "decode" | "decodeField"> {
  return compileDecoder(messageOf(schema, fullName), contextOf(options));
}

/** The printer alone, which may give up, and the decoder that it gives up to. */
export function bothDecoders(fullName: string, options: Partial<JsonOptions> = {}) {
  const context = contextOf(options);
  const message = messageOf(schema, fullName);
  const { decode: print, decodeField: printField, decodeAgain } = compilePrinter(message, context);
  const careful = compileCarefulDecoder(message, context);
  return {
    print,
    printField,
    careful,
    /** What is printed once it was put in order, whether or not it was. */
    printAgain(wire: Uint8Array, skipped?: Skipped, field?: Field): Uint8Array | undefined {
      if (field) printField(wire, field);
      else print(wire);
      return decodeAgain(wire, field, skipped);
    },
    /** The messages inside are printed where that can be, whether or not the whole could. */
    decodeInParts(wire: Uint8Array, skipped?: Skipped): Uint8Array {
      print(wire);
      return careful.decode(wire, skipped, new PrintedParts(context));
    },
  };
}

/** Our JSON text. */
export function decodeText(fullName: string, wire: Uint8Array, options?: Partial<JsonOptions>): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(decoder(fullName, options).decode(wire));
}

export function peerMessage(fullName: string): DescMessage {
  const desc = peer.getMessage(fullName);
  if (!desc) throw new Error(`no message ${fullName}`);
  return desc;
}

/** What protobuf-es makes of the wire. */
export function peerText(fullName: string, wire: Uint8Array, options: Partial<JsonOptions> = {}): string {
  const { emitDefaults = false, useProtoFieldName = false, enumAsInteger = false, int64AsNumber = false } = options;
  const desc = peerMessage(fullName);
  const json = toJson(desc, fromBinary(desc, wire), {
    registry: peer,
    alwaysEmitImplicit: emitDefaults,
    useProtoFieldName,
    enumAsInteger,
  });
  return JSON.stringify(int64AsNumber ? withNumbers(desc, json, peer) : json);
}
