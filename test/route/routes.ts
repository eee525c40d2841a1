/** Routes without a schema, for tests that look at paths only. */
import type { Route } from "../../src/route/route.ts";
import { parseTemplate } from "../../src/route/template.ts";
import type { Message, Method } from "../../src/schema/model.ts";

const EMPTY: Message = { name: "test.Empty", fields: [], oneofs: [] };

/** @param text `GET /v1/{id}`; it names the route's rpc as well. */
export function routeOf(text: string): Route {
  const [httpMethod = "", path = ""] = text.split(" ");
  const template = parseTemplate(path);
  const rule = { method: httpMethod, template: path, body: "", responseBody: "", nested: false };
  const method: Method = {
    name: text,
    service: { name: "test.Service", file: "test.proto", methods: [] },
    path: `/test.Service/${text}`,
    kind: "unary",
    idempotency: "unknown",
    input: EMPTY,
    output: EMPTY,
    rules: [rule],
  };
  const variables = template.variables.map((variable) => ({ ...variable, path: [] }));
  return { method, rule, httpMethod, template, variables };
}
