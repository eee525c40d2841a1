/** The API that every backend serves: each method answers with its request, decoded and encoded by the backend's library. */
import { compileSet } from "../proto.ts";

const source = `
  syntax = "proto3";
  package shop.v1;
  import "google/api/annotations.proto";
  import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/field_mask.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";

  service Shop {
    rpc UpdateBook(UpdateBookRequest) returns (UpdateBookRequest) {
      option (google.api.http) = {patch: "/v1/{book.name=shelves/*/books/*}" body: "book"
        additional_bindings {put: "/v1/{book.name=shelves/*/books/*}/by/{book.author.first_name}" body: "*"}
        additional_bindings {get: "/v1/{book.name=shelves/*/books/*}:update"}
      };
    }
    // No route: it is here for libraries that know the messages of methods only.
    rpc Explain(Reason) returns (Reason);
    rpc Echo(Everything) returns (Everything) {
      option (google.api.http) = {post: "/v1/everything" body: "*"
        additional_bindings {get: "/v1/everything"}
        additional_bindings {post: "/v1/everything/{choice}" body: "child" response_body: "child"}
      };
    }
  }
  message UpdateBookRequest {
    Book book = 1;
    google.protobuf.FieldMask update_mask = 2;
    bool allow_missing = 3;
  }
  message Book { string name = 1; string title = 2; Author author = 3; repeated string tags = 4; }
  message Author { string first_name = 1; string last_name = 2; Life life = 3; }
  message Life { int32 born = 1; int32 died = 2; }

  enum Colour { COLOUR_UNSPECIFIED = 0; RED = 1; }
  message Everything {
    double d = 1; float f = 2; int64 i64 = 3; uint64 u64 = 4; int32 i32 = 5; fixed64 f64 = 6; fixed32 f32 = 7;
    bool yes = 8; string text = 9; bytes data = 10; uint32 u32 = 11; Colour colour = 12;
    sfixed32 sf32 = 13; sfixed64 sf64 = 14; sint32 s32 = 15; sint64 s64 = 16;
    Everything child = 17;
    repeated sint32 numbers = 18; repeated string words = 19; repeated Author authors = 20; repeated Colour colours = 21;
    map<string, int32> counts = 22; map<int64, Author> by_id = 23; map<bool, bytes> by_flag = 24;
    optional bool maybe = 25; optional string word = 26; optional int64 count = 27; optional Colour hue = 28;
    oneof pick { string left = 29; uint64 right = 30; Author who = 31; }
    google.protobuf.Timestamp at = 32; google.protobuf.Duration lasts = 33; google.protobuf.Struct extra = 34;
    google.protobuf.Any any = 35; google.protobuf.StringValue title = 36; google.protobuf.Int64Value total = 37;
    string choice = 38;
  }
  message Reason { string why = 1; uint64 limit = 2; }
`;

export const shopSet = await compileSet(source);

/**
 * How a backend behaves besides: the request header `x-fail` makes it fail with this error and metadata `x-cost: 9`;
 * `x-ask` and `x-ask-bin` come back as `x-answer` and `x-answer-bin`, and as the trailing `x-end` comes "done".
 */
export const FAILURE = { code: "resource_exhausted", message: "no more, 100% ☕" };
/** The error's detail: a shop.v1.Reason. */
export const REASON = { why: "quota ☕", limit: 2n ** 63n };
