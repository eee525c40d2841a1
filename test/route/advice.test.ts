import { expect, test } from "vitest";
import { adviseRoutes } from "../../src/route/advice.ts";
import { createRouter } from "../../src/route/router.ts";
import { compileRules } from "../../src/route/rule.ts";
import { compileProto } from "../proto.ts";
import { routeOf } from "./routes.ts";

const NOTHING: ReadonlyMap<string, string> = new Map();

/** The warnings about routes that are written as `GET /v1/{id}`: template, then what is said. */
function advise(texts: readonly string[], taken = NOTHING): readonly (readonly [string, string])[] {
  return adviseRoutes(texts.map(routeOf), taken).map((fault) => {
    expect(fault).toMatchObject({ severity: "warning", file: "test.proto", fix: expect.any(String) });
    return [fault.template, fault.message];
  });
}

test.each([
  ["a literal within a wildcard", ["GET /v1/users/me", "GET /v1/users/{id}"]],
  ["a wildcard within a deep one", ["GET /v1/{name=users/*}", "GET /v1/{name=**}"]],
  ["other methods", ["GET /{a}/x", "POST /y/{b}"]],
  ["other verbs", ["GET /{a}/x:do", "GET /y/{b}:go"]],
  ["nothing in common", ["GET /a/{x}/b", "GET /{x}/c/d"]],
  ["one method beside any", ["GET /a", "* /a"]],
  ["HEAD beside GET", ["GET /a/{x}", "HEAD /a/{x}"]],
  ["a deep one that is reached with two segments", ["GET /a/{x}", "GET /a/{x=**}"]],
  ["registered methods", ["PROPFIND /a", "QUERY /b", "* /c"]],
])("nothing to say of %s", (_, routes) => {
  expect(advise(routes)).toEqual([]);
});

test.each([
  ["of the same method", ["GET /a/{x=**}/b", "GET /a/{x=*/**}"], "/a/{x=**}/b"],
  ["of any method", ["GET /a/{x=**}/b", "* /a/{x=*/**}"], "/a/{x=**}/b"],
  ["that is HEAD, by a GET", ["HEAD /a/{x=**}/b", "GET /a/{x=*/**}"], "/a/{x=**}/b"],
  ["with a verb", ["GET /a/{x=**}/b:v", "GET /a/{x=*/**}:v"], "/a/{x=**}/b"],
])("a route %s that another takes whole", (_, routes, template) => {
  const [[found, message] = []] = advise(routes);
  expect(found).toContain(template);
  expect(message).toMatch(/^never reached: test\.Service\.\S+ \/a\/\{x=\*\/\*\*\}\S* "\/a\/\{x=\*\/\*\*\}.*before/);
});

test("of another method it is not", () => {
  expect(advise(["POST /a/{x=**}/b", "GET /a/{x=*/**}"])).toEqual([]);
  expect(advise(["* /a/{x=**}/b", "GET /a/{x=*/**}"])).toEqual([]);
});

test.each([
  [["GET /{a}/x", "GET /y/{b}"], "/{a}/x", "/y/x"],
  [["GET /y/{b}", "GET /{a}/x"], "/{a}/x", "/y/x"],
  [["GET /{a}/x:do", "GET /y/{b}:do"], "/{a}/x:do", "/y/x:do"],
  [["GET /{a=**}/x", "GET /y/{b=**}"], "/{a=**}/x", "/y/x"],
  [["GET /{a}/x", "* /y/{b}"], "/{a}/x", "/y/x"],
  [["GET /{a}/x%2Fz", "GET /y/{b}"], "/{a}/x%2Fz", "/y/x%2Fz"],
])("%j are told apart by the router alone, and the warning's example shows it", (routes, loser, path) => {
  const [[template, message] = []] = advise(routes);
  expect(template).toBe(loser);
  expect(message).toContain(`${path} fits `);
  const winner = createRouter(routes.map(routeOf)).match("GET", path);
  expect(winner).not.toMatchObject({ route: { template: { text: loser } } });
  const alone = createRouter(routes.map(routeOf).filter((route) => route.template.text === loser));
  expect(alone.match("GET", path)).toMatchObject({ route: { template: { text: loser } } });
});

test.each([
  ["get /a", "write", "GET"],
  ["Propfind /a", "not PROPFIND", "Propfind"],
  ["TRACE /a", "TRACE", "Worker"],
  ["PURGE /a", "PURGE", "registered"],
])("an unusual method: %s", (route, ...mentions) => {
  const [fault] = adviseRoutes([routeOf(route)], NOTHING);
  for (const text of mentions) expect(`${fault?.message}; ${fault?.fix}`).toContain(text);
});

test("a path that is somebody else's", () => {
  const taken = new Map([["/a.B/C", "the RPC path of a.B.C"]]);
  expect(advise(["GET /a.B/C", "GET /a.B/D", "GET /a.B/{x}"], taken)).toEqual([
    ["/a.B/C", "never reached: the path is the RPC path of a.B.C"],
  ]);
});

test("a DELETE with a body, with the place of the rule", async () => {
  const schema = await compileProto(`syntax = "proto3";
package p;
import "google/api/annotations.proto";
message M { string id = 1; }
service S {
  rpc A(M) returns (M) { option (google.api.http) = { delete: "/a" body: "*" }; }
  rpc B(M) returns (M) { option (google.api.http) = { delete: "/b/{id}" }; }
}`);
  expect(adviseRoutes(compileRules(schema, undefined).routes, NOTHING)).toEqual([
    expect.objectContaining({ file: "test.proto", line: 6, method: "p.S.A", template: "/a", severity: "warning" }),
  ]);
});
