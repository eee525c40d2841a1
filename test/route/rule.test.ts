import { expect, test } from "vitest";
import { compileRules } from "../../src/route/rule.ts";
import type { HttpRule, Schema } from "../../src/schema/model.ts";
import { compileProto } from "../proto.ts";
import { catalogue, compileCatalogue } from "./catalogue.ts";

const catalog = await compileCatalogue();

/** google.api.HttpRule as ProtoJSON, without additional bindings. */
interface RuleJson {
  readonly custom?: { readonly kind: string; readonly path: string };
  readonly body?: string;
  readonly response_body?: string;
  readonly [verb: string]: unknown;
}

function ruleOf(json: RuleJson): HttpRule {
  const verb = ["get", "put", "post", "delete", "patch"].find((name) => name in json);
  return {
    method: json.custom?.kind ?? verb?.toUpperCase() ?? "",
    template: json.custom?.path ?? String(verb ? json[verb] : ""),
    body: json.body ?? "",
    responseBody: json.response_body ?? "",
    nested: false,
  };
}

function withRule(schema: Schema, path: string, rule: HttpRule): Schema {
  const services = schema.services.map((service) => ({
    ...service,
    methods: service.methods.map((method) => (method.path === path ? { ...method, rules: [rule] } : method)),
  }));
  return { ...schema, services };
}

test("the catalogue's schema has no fault", () => {
  const { routes, faults } = compileRules(catalog, undefined);
  expect(faults).toEqual([]);
  expect(routes.length).toBe(catalog.services.flatMap((service) => service.methods.flatMap((m) => m.rules)).length);
});

for (const { id, rule } of catalogue) {
  if (!rule) continue;
  test(id, () => {
    const schema = withRule(catalog, `/${rule.method}`, ruleOf(rule.http_rule as RuleJson));
    const { routes, faults } = compileRules(schema, undefined);
    expect(routes.some((route) => route.method.path === `/${rule.method}`)).toBe(rule.valid);
    expect(faults.length > 0).toBe(!rule.valid);
    for (const text of rule.message_mentions ?? []) expect(faults[0]?.message).toContain(text);
  });
}

const SHOP = (rules: readonly string[]) => `syntax = "proto3";
package shop;
import "google/api/annotations.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Kind { NONE = 0; }
message Item {
  string id = 1;
  Item sub = 2;
  repeated string tags = 3;
  repeated Item items = 4;
  map<string, Item> by_name = 5;
  Kind kind = 6;
  bytes raw = 7;
  google.protobuf.Timestamp time = 8;
  google.protobuf.Duration span = 9;
  google.protobuf.FieldMask mask = 10;
  google.protobuf.StringValue wrapped = 11;
  google.protobuf.Struct any_json = 12;
  google.protobuf.Value value = 13;
  oneof who { string user = 14; int64 number = 15; Item other = 16; }
  optional int32 maybe = 17;
  string two_words = 18;
}
service Shop {
${rules.map((rule, i) => `  rpc M${i}(Item) returns (Item) { option (google.api.http) = { ${rule} }; }`).join("\n")}
}`;

/** All in one schema, because the compiler is slow: each row is one method. */
const REFUSED: readonly (readonly [rule: string, message: string, column?: number])[] = [
  ['body: "*"', "pattern"],
  ['get: "r1/x"', '"/"', 1],
  ['get: "/r2/{id"', "the end", 8],
  ['get: "/r3/{nope}"', "nope: shop.Item has no field nope", 6],
  ['get: "/r4/{sub.sub.nope=x/*}"', "sub.sub.nope: ", 6],
  ['get: "/r5/{id.key}"', "id.key: id is no message", 6],
  ['get: "/r6/x/{sub}"', "sub: ", 8],
  ['get: "/r7/{tags}"', "tags: tags is repeated", 6],
  ['get: "/r8/{items.id}"', "items.id: items is repeated", 6],
  ['get: "/r9/{by_name.id}"', "by_name.id: by_name is a map", 6],
  ['get: "/r10/{by_name}"', "by_name is a map", 7],
  ['get: "/r11/{any_json}"', "any_json: ", 7],
  ['get: "/r12/{value}"', "value: ", 7],
  ['get: "/r13/{twoWords}"', "twoWords", 7],
  ['post: "/r14" body: "nope"', 'body: "nope"'],
  ['post: "/r15" body: "sub.id"', 'body: "sub.id"'],
  ['get: "/r16" body: "*"', "body"],
  ['get: "/r17" body: "sub"', "body"],
  ['custom: {kind: "HEAD" path: "/r18"} body: "*"', "body"],
  ['get: "/r19" response_body: "sub.id"', 'response_body: "sub.id"'],
  ['get: "/r20" response_body: "*"', "response_body"],
  ['custom: {kind: "TWO WORDS" path: "/r21"}', "TWO WORDS"],
  ['custom: {kind: "" path: "/r22"}', "pattern"],
  ['get: "/r23/{id}/{id}"', "id is bound twice", 12],
  ['get: "/r24/{sub.id}/{sub}"', "overlap", 16],
  ['put: "/r25/{id}" body: "id"', "id is bound by the path", 7],
  ['put: "/r26/{wrapped.value}" body: "wrapped"', "wrapped is the body", 7],
  ['get: "/r27/{user}/{number}"', "oneof who", 14],
  ['get: "/r28/{sub.user}/{sub.other.id}"', "oneof sub.who", 18],
  ['put: "/r29/{user}" body: "other"', "oneof who", 7],
];

const ACCEPTED: readonly string[] = [
  'get: "/a0/{id}/{sub.id}/{sub.sub.id}"',
  'get: "/a1/{kind}/{raw}/{maybe}"',
  'get: "/a2/{time}/{span}/{mask}/{wrapped}"',
  'get: "/a3/{sub.user}/{sub.sub.number}"',
  'get: "/a4/{other.id}/{other.kind}"',
  'put: "/a5/{sub.id=x/*}" body: "sub"',
  'post: "/a6" body: "tags" response_body: "by_name"',
  'delete: "/a7" body: "*"',
  'custom: {kind: "*" path: "/a8/{id}"} body: "*"',
  'custom: {kind: "PROPFIND" path: "/a9"}',
  'get: "/a10/{wrapped.value}"',
];

const shop = await compileProto(SHOP([...REFUSED.map(([rule]) => rule), ...ACCEPTED]));
const compiled = compileRules(shop, undefined);

test.each(REFUSED.map(([rule, message, column], i) => ({ rule, message, column, name: `shop.Shop.M${i}` })))(
  "refused: $rule",
  ({ message, column, name }) => {
    expect(compiled.faults.filter((fault) => fault.method === name)).toEqual([
      expect.objectContaining({ file: "test.proto", message: expect.stringContaining(message), severity: "error" }),
    ]);
    expect(compiled.faults.find((fault) => fault.method === name)?.column).toBe(column);
    expect(compiled.routes.some((route) => route.method.path === `/${name.replace(/\.(?=M)/, "/")}`)).toBe(false);
  },
);

test.each(ACCEPTED.map((rule, i) => ({ rule, name: `M${REFUSED.length + i}` })))("accepted: $rule", ({ name }) => {
  expect(compiled.faults.filter((fault) => fault.method.endsWith(`.${name}`))).toEqual([]);
  expect(compiled.routes.filter((route) => route.method.name === name)).toHaveLength(1);
});

test("resolves names to fields", () => {
  const [first] = compiled.routes.filter((route) => route.template.text.startsWith("/a0/"));
  expect(first?.variables.map((variable) => variable.path.map((field) => field.name))).toEqual([
    ["id"],
    ["sub", "id"],
    ["sub", "sub", "id"],
  ]);
  const [bodies] = compiled.routes.filter((route) => route.template.text === "/a6");
  expect(bodies?.body).toMatchObject({ name: "tags" });
  expect(bodies?.responseBody).toMatchObject({ name: "by_name" });
  const [star] = compiled.routes.filter((route) => route.template.text.startsWith("/a8/"));
  expect(star).toMatchObject({ httpMethod: "*", body: "*" });
});

const pair = await compileProto({
  "a.proto": `syntax = "proto3";
package pair;
import "google/api/annotations.proto";
message Item { string id = 1; Item sub = 2; }
service First {
  rpc A(Item) returns (Item) { option (google.api.http) = { get: "/v1/{id}" additional_bindings { get: "/w/**/x" } }; }
  rpc B(Item) returns (Item) { option (google.api.http) = { get: "/v1/{sub.id=*}" additional_bindings { post: "/v1/{id}" } }; }
  rpc C(Item) returns (Item) { option (google.api.http) = { get: "/v1/{id}:go" additional_bindings { get: "/n" additional_bindings { get: "/m" } } }; }
}
service Second {
  rpc D(stream Item) returns (stream Item) { option (google.api.http) = { post: "/d/{nope}/{nix}" body: "no" }; }
}`,
});

test("of two equal routes the first stays, both are named, with file, line and template", () => {
  const { routes, faults } = compileRules(pair, new Set(["pair.First"]));
  const [fault] = faults.filter((candidate) => candidate.method === "pair.First.B");
  expect(fault).toEqual({
    file: "a.proto",
    line: 7,
    method: "pair.First.B",
    template: "/v1/{sub.id=*}",
    message: expect.stringContaining('pair.First.A "/v1/{id}"'),
    fix: expect.any(String),
    severity: "error",
  });
  expect(routes.map((route) => `${route.method.name} ${route.httpMethod} ${route.template.text}`)).toEqual([
    "A GET /v1/{id}",
    "A GET /w/**/x",
    "B POST /v1/{id}",
    "C GET /v1/{id}:go",
  ]);
});

test("nested additional_bindings are refused", () => {
  const { faults } = compileRules(pair, new Set(["pair.First"]));
  expect(faults.filter((fault) => fault.method === "pair.First.C")).toEqual([
    expect.objectContaining({ template: "/n", message: expect.stringContaining("additional_bindings") }),
  ]);
});

test("** with a tail is a warning and a route", () => {
  const { faults } = compileRules(pair, new Set(["pair.First"]));
  expect(faults.filter((fault) => fault.severity === "warning")).toEqual([
    expect.objectContaining({ method: "pair.First.A", template: "/w/**/x", column: 4 }),
  ]);
});

test("every fault of a rule is told", () => {
  const { routes, faults } = compileRules(pair, new Set(["pair.Second"]));
  expect(routes).toEqual([]);
  expect(faults.map((fault) => fault.column)).toEqual([5, 12, undefined]);
});

test("without a choice the named services count", () => {
  expect(compileRules({ ...pair, named: new Set(["pair.Second"]) }, undefined).faults).toHaveLength(3);
});

test("a fault says what to do", () => {
  const fixOf = (name: string) => compiled.faults.find((fault) => fault.method === `shop.Shop.${name}`)?.fix;
  expect(fixOf("M13")).toContain("two_words");
  expect(fixOf("M6")).toContain("{sub.…}");
  expect(fixOf("M16")).toContain("post");
});

test("a rule that stands elsewhere is faulted there", () => {
  const rule: HttpRule = { method: "GET", template: "/{", body: "", responseBody: "", nested: false, source: "x.yaml" };
  const [fault] = compileRules(withRule(pair, "/pair.First/A", rule), new Set(["pair.First"])).faults;
  expect(fault).toMatchObject({ file: "x.yaml", method: "pair.First.A", template: "/{", column: 3 });
  expect(fault).not.toHaveProperty("line");
});
