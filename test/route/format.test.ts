import { expect, test } from "vitest";
import { formatRoutes } from "../../src/route/format.ts";
import { compileRules } from "../../src/route/rule.ts";
import { compileProto } from "../proto.ts";

const schema = await compileProto(`syntax = "proto3";
package shop;
import "google/api/annotations.proto";
message Item { string id = 1; Item sub = 2; }
service Shop {
  rpc Get(Item) returns (Item) { option (google.api.http) = { get: "/v1/{id}" }; }
  rpc Update(Item) returns (Item) {
    option (google.api.http) = {
      patch: "/v1/{sub.id=items/*}" body: "sub"
      additional_bindings { custom: { kind: "*" path: "/any" } body: "*" response_body: "sub" }
    };
  }
}`);

test("one binding a line, in columns", () => {
  expect(formatRoutes(compileRules(schema, undefined).routes)).toBe(
    [
      "GET    /v1/{id}              /shop.Shop/Get",
      "PATCH  /v1/{sub.id=items/*}  /shop.Shop/Update  body=sub",
      "*      /any                  /shop.Shop/Update  body=* response_body=sub",
      "",
    ].join("\n"),
  );
});

test("no routes, no lines", () => {
  expect(formatRoutes([])).toBe("");
});
