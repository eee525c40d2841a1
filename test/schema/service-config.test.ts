import { expect, test } from "vitest";
import type { Schema } from "../../src/schema/model.ts";
import { applyServiceConfig, type ServiceConfig, type ServiceConfigOptions } from "../../src/schema/service-config.ts";
import { compileProto } from "../proto.ts";

const schema = await compileProto(`syntax = "proto3";
package shop.v1;
import "google/api/annotations.proto";
message Item { string id = 1; }
service Items {
  rpc Get(Item) returns (Item) { option (google.api.http) = { get: "/annotated/{id}" }; }
  rpc GetAll(Item) returns (Item);
}
service ItemsAdmin {
  rpc Get(Item) returns (Item);
}`);

/** `Items.Get` and what its rules are: method, template, body, response body. */
function rulesOf({ services }: Schema): Readonly<Record<string, readonly string[]>> {
  const methods = services.flatMap((service) => service.methods);
  return Object.fromEntries(
    methods
      .filter(({ rules }) => rules.length > 0)
      .map(({ name, service, rules }) => [
        `${service.name.slice("shop.v1.".length)}.${name}`,
        rules.map((rule) => [rule.method, rule.template, rule.body, rule.responseBody].join(" ").trimEnd()),
      ]),
  );
}

/** @param rules as somebody without types may give them. */
function apply(rules: unknown, options?: ServiceConfigOptions) {
  const { schema: configured, faults } = applyServiceConfig(schema, { http: { rules } } as ServiceConfig, options);
  return { configured, rules: rulesOf(configured), faults };
}

const ANNOTATED = "GET /annotated/{id}";

test("a rule for a method replaces its annotation, and gives one to a method without", () => {
  const { rules, faults } = apply([
    { selector: "shop.v1.Items.Get", post: "/configured", body: "*", response_body: "id" },
    { selector: "shop.v1.ItemsAdmin.Get", custom: { kind: "PURGE", path: "/admin" } },
  ]);
  expect(faults).toEqual([]);
  expect(rules).toEqual({ "Items.Get": ["POST /configured * id"], "ItemsAdmin.Get": ["PURGE /admin"] });
});

test("mode add keeps the annotation, and every rule that fits", () => {
  const { rules, faults } = apply(
    [
      { selector: "shop.v1.Items.Get", get: "/a" },
      { selector: "shop.v1.*", put: "/b" },
    ],
    { mode: "add" },
  );
  expect(faults).toEqual([]);
  expect(rules).toEqual({
    "Items.Get": [ANNOTATED, "GET /a", "PUT /b"],
    "Items.GetAll": ["PUT /b"],
    "ItemsAdmin.Get": ["PUT /b"],
  });
});

test.each([
  ["*", ["Items.Get", "Items.GetAll", "ItemsAdmin.Get"]],
  ["shop.*", ["Items.Get", "Items.GetAll", "ItemsAdmin.Get"]],
  ["shop.v1.Items.*", ["Items.Get", "Items.GetAll"]],
  ["shop.v1.Items.Get", ["Items.Get"]],
])("%s fits whole names", (selector, methods) => {
  const { rules } = apply([{ selector, get: "/x" }]);
  expect(Object.keys(rules).filter((name) => rules[name]?.includes("GET /x"))).toEqual(methods);
});

test("the last rule that fits counts; one that never does is warned of", () => {
  const { rules, faults } = apply([
    { selector: "shop.v1.Items.GetAll", get: "/first" },
    { selector: "shop.v1.Items.*", get: "/second" },
    { selector: "shop.v1.Items.Get", get: "/third" },
  ]);
  expect(rules).toEqual({ "Items.Get": ["GET /third"], "Items.GetAll": ["GET /second"] });
  expect(faults).toEqual([
    expect.objectContaining({
      file: "service config, http.rules[0]",
      method: "shop.v1.Items.GetAll",
      severity: "warning",
      message: expect.stringContaining("later"),
    }),
  ]);
});

test("additional bindings, in both spellings of the keys; null is unset", () => {
  const selector = "shop.v1.Items.GetAll";
  const bindings = [{ put: "/b", body: "*", responseBody: "id" }, { delete: "/c", body: null }, { patch: "/d" }];
  for (const key of ["additional_bindings", "additionalBindings"]) {
    const { configured, rules, faults } = apply([{ selector, get: "/a", [key]: bindings }]);
    expect(faults).toEqual([]);
    expect(rules["Items.GetAll"]).toEqual(["GET /a", "PUT /b * id", "DELETE /c", "PATCH /d"]);
    expect(configured.services[0]?.methods[1]?.rules[1]).toMatchObject({
      nested: false,
      source: "service config, http.rules[0]",
    });
  }
  const deep = apply([{ selector, get: "/a", additional_bindings: [{ get: "/b", additional_bindings: [{}] }] }]);
  expect(deep.configured.services[0]?.methods[1]?.rules.map((rule) => rule.nested)).toEqual([false, true]);
});

test("what is no rule of a method stays as it was", () => {
  const { configured } = apply([{ selector: "shop.v1.Items.Get", get: "/x" }]);
  expect(configured.named).toBe(schema.named);
  expect(configured.message("shop.v1.Item")).toBe(schema.message("shop.v1.Item"));
  for (const service of configured.services) {
    for (const method of service.methods) expect(method.service).toBe(service);
  }
  expect(configured.services[0]?.methods[0]?.input).toBe(schema.services[0]?.methods[0]?.input);
});

test.each<[unknown, string]>([
  [{ selector: "shop.v1.Items.Nope", get: "/x" }, "fits no method"],
  [{ selector: "shop.v1.Item.*", get: "/x" }, "fits no method"],
  [{ selector: "shop.v1.Items.G*", get: "/x" }, "selector"],
  [{ selector: "shop.*.Get", get: "/x" }, "selector"],
  [{ selector: "", get: "/x" }, "selector"],
  [{ selector: 5, get: "/x" }, "selector"],
  [{ get: "/x" }, "selector"],
  [{ selector: "shop.v1.Items.Get", head: "/x" }, "head"],
  [{ selector: "shop.v1.Items.Get", get: "/x", Body: "*" }, "Body"],
  [{ selector: "shop.v1.Items.Get", get: "/x", constructor: "*" }, "constructor"],
  [{ selector: "shop.v1.Items.Get", get: "/x", put: "/y" }, "get and put"],
  [{ selector: "shop.v1.Items.Get", get: 5 }, "get"],
  [{ selector: "shop.v1.Items.Get", get: "/x", responseBody: "a", response_body: "b" }, "twice"],
  [{ selector: "shop.v1.Items.Get", custom: "PURGE" }, "PURGE"],
  [{ selector: "shop.v1.Items.Get", custom: { kind: "PURGE", template: "/x" } }, "template"],
  [{ selector: "shop.v1.Items.Get", get: "/x", additional_bindings: {} }, "additional_bindings"],
  [{ selector: "shop.v1.Items.Get", get: "/x", additional_bindings: [{ selector: "a.B.C", get: "/y" }] }, "selector"],
  ["shop.v1.Items.Get", "no object"],
  [null, "no object"],
])("left out, and told with its place: %j", (rule, mention) => {
  const { rules, faults } = apply([{ selector: "shop.v1.ItemsAdmin.Get", get: "/fine" }, rule], { name: "api.yaml" });
  expect(rules).toEqual({ "Items.Get": [ANNOTATED], "ItemsAdmin.Get": ["GET /fine"] });
  expect(faults[0]).toMatchObject({ file: "api.yaml, http.rules[1]", severity: "error", fix: expect.any(String) });
  expect(faults[0]?.message).toContain(mention);
});

test.each([{}, { http: {} }, { http: [] }, { http: { rules: {} } }, [], "text"])("no rules in %j", (config) => {
  const { schema: configured, faults } = applyServiceConfig(schema, config as ServiceConfig);
  expect(rulesOf(configured)).toEqual({ "Items.Get": [ANNOTATED] });
  expect(faults).toEqual([expect.objectContaining({ severity: "error", method: "http.rules" })]);
});

test("other parts of the service config are somebody else's, other parts of http are not", () => {
  const config = {
    type: "google.api.Service",
    config_version: 3,
    http: { rules: [], fully_decode_reserved_expansion: true },
  };
  const { faults } = applyServiceConfig(schema, config as ServiceConfig);
  expect(faults.map(({ method }) => method)).toEqual(["http.fully_decode_reserved_expansion"]);
});
