/** Rules that were checked at build time give the same routes as rules that are checked at start. */
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { CheckedRoute } from "../../src/route/checked-route.ts";
import { markChecked } from "../../src/route/mark-checked.ts";
import type { Route } from "../../src/route/route.ts";
import { compileRules } from "../../src/route/rule.ts";
import { readImage } from "../../src/schema/image-read.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import type { Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { failure } from "../failure.ts";
import { compileProto } from "../proto.ts";
import { APIS, type ApiName, loadApi } from "../strangers/apis.ts";
import { compileCatalogue } from "./catalogue.ts";

function marked(schema: Schema): Schema {
  return readImage(writeImage(markChecked(schema)));
}

/** All that a route says, by names. */
function plainRoute({ method, rule, httpMethod, template, variables, body, responseBody }: Route): unknown {
  return {
    path: method.path,
    rule: { ...rule, checked: undefined },
    httpMethod,
    template,
    variables: variables.map(({ path, ...variable }) => ({ ...variable, path: path.map(({ name }) => name) })),
    body: body === "*" ? body : body?.name,
    responseBody: responseBody?.name,
  };
}

function expectSameRoutes(schema: Schema): void {
  const { routes, faults } = compileRules(marked(schema), undefined);
  const expected = compileRules(schema, undefined);
  expect(routes.map(plainRoute)).toEqual(expected.routes.map(plainRoute));
  expect(faults).toEqual(expected.faults);
}

test("the catalogue", async () => expectSameRoutes(await compileCatalogue()));

test.each(Object.keys(APIS) as ApiName[])("%s, where nothing without fault is checked again", async (name) => {
  const schema = readSchema((await loadApi(name)).set);
  expectSameRoutes(schema);
  const { routes, faults } = compileRules(marked(schema), undefined);
  const again = routes.filter((route) => !(route instanceof CheckedRoute)).map(({ template }) => template.text);
  expect(again.length).toBeLessThan(routes.length);
  expect(faults.map(({ template }) => template)).toEqual(expect.arrayContaining(again));
});

const source = await compileProto({
  "named.proto": `syntax = "proto3";
    package named;
    import "google/api/annotations.proto";
    import "other.proto";
    service Good {
      rpc Get(other.Item) returns (other.Item) { option (google.api.http) = { get: "/v1/{id=items/*}:verb" }; }
    }
    service Bad {
      rpc Tail(other.Item) returns (other.Item) { option (google.api.http) = { get: "/v1/**/tail" }; }
      rpc None(other.Item) returns (other.Item) { option (google.api.http) = { get: "/v1/{none}" }; }
      rpc Same(other.Item) returns (other.Item) { option (google.api.http) = { get: "/v1/items/*:verb" }; }
    }`,
  "other.proto": `syntax = "proto3";
    package other;
    import "google/api/annotations.proto";
    message Item { string id = 1; }
    service Imported {
      rpc Get(Item) returns (Item) { option (google.api.http) = { get: "/v1/{id=items/*}:verb" }; }
    }`,
});

const mixed: Schema = { ...source, named: new Set(["named.Good", "named.Bad"]) };

function rulesOf(schema: Schema) {
  return schema.services.flatMap(({ methods }) => methods.flatMap(({ rules }) => rules));
}

test("what has a fault, a warning even, is checked at start again, and so is what is served only when asked for", () => {
  expectSameRoutes(mixed);
  const checked = rulesOf(marked(mixed)).filter((rule) => rule.checked);
  expect(checked.map((rule) => rule.checked?.segments)).toEqual([["v1", "items", "*"]]);
});

describe("which services are served", () => {
  test.each([
    ["fewer than were checked", ["named.Good"], true, 0],
    ["more: their routes may be equal", ["named.Good", "other.Imported"], false, 1],
  ])("%s", (_, services, isChecked, faults) => {
    const compiled = compileRules(marked(mixed), new Set(services));
    expect(compiled.routes).toHaveLength(1);
    expect(compiled.routes[0] instanceof CheckedRoute).toBe(isChecked);
    expect(compiled.faults).toHaveLength(faults);
  });
});

test("an image that names a field that there is not fails the request, not the start", () => {
  const [rule] = rulesOf(mixed);
  const method = mixed.services.find(({ name }) => name === "named.Good")?.methods[0];
  if (!rule || !method) throw new Error("the schema is not as this test wants it");
  const variables = [{ field: "id.nope", start: 0, end: 1, multi: false }];
  const checked = { text: "/{id.nope}", segments: ["*"], verb: "", variables };
  const route = new CheckedRoute(method, { ...rule, checked });
  expect(() => route.variables).toThrow(failure(Code.Internal, "nope"));
});
