import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Match } from "../../src/route/route.ts";
import { createRouter } from "../../src/route/router.ts";
import { compileRules } from "../../src/route/rule.ts";
import { catalogue, compileCatalogue } from "./catalogue.ts";
import { naiveMatch } from "./naive.ts";
import { routeOf } from "./routes.ts";

/** What `match` found, in one form for all outcomes: `[template, ...values]`, `Allow: …` or "none". */
function look(router: ReturnType<typeof createRouter>, httpMethod: string, path: string): string | readonly string[] {
  const found = router.match(httpMethod, path);
  if (found === undefined) return "none";
  return "allow" in found ? `Allow: ${found.allow.join(", ")}` : [found.route.method.name, ...found.values];
}

describe("catalogue", async () => {
  const router = createRouter(compileRules(await compileCatalogue(), undefined).routes);
  /** Refused when the value is read, not by the router. */
  const ELSEWHERE = new Set(["match-not-utf8", "match-utf8-surrogate"]);

  for (const { id, area, request, expect_rpc, expect_http } of catalogue) {
    if (!request || request.path.startsWith("/catalog.v1.")) continue;
    const path = request.path.replace(/[?#].*$/s, "");
    const match = () => router.match(request.method, path);
    if (expect_rpc) {
      test(`${id} reaches ${expect_rpc.method}`, () => {
        expect((match() as Match).route.method.path).toBe(`/${expect_rpc.method}`);
      });
    } else if ((area === "match" || area === "method") && expect_http?.status === 404) {
      test(`${id} matches nothing`, () => expect(match()).toBeUndefined());
    } else if (expect_http?.allow_includes) {
      const { allow_includes, allow_excludes = [] } = expect_http;
      test(`${id} allows ${allow_includes}`, () => {
        const { allow } = match() as { allow: readonly string[] };
        expect(allow).toEqual(expect.arrayContaining([...allow_includes]));
        for (const method of allow_excludes) expect(allow).not.toContain(method);
      });
    } else if (area === "match" && expect_http?.status === 400 && !ELSEWHERE.has(id)) {
      test(`${id} is refused`, () => {
        expect(match).toThrow(expect.objectContaining({ code: Code.InvalidArgument }));
        for (const text of expect_http.message_mentions ?? []) expect(match).toThrow(text);
      });
    }
  }
});

interface Row {
  readonly routes: readonly string[];
  readonly request: string;
  readonly found: string | readonly string[];
}

const row = (routes: readonly string[], request: string, found: string | readonly string[]): Row => ({
  routes,
  request,
  found,
});

const files = [
  "GET /f/{p=**}",
  "GET /f/{p=**}:meta",
  "GET /f/public/{id}",
  "GET /f/{p=**}/tail",
  "GET /f/{p=**}/a/{b}",
];
const orders = ["GET /o/{id}", "POST /o/{id}:cancel", "POST /o:batch", "DELETE /o/{id=*}"];

test.each<Row>([
  // Order at one segment.
  row(files, "GET /f/public/x", ["GET /f/public/{id}", "x"]),
  row(files, "GET /f/public/x/y", ["GET /f/{p=**}", "public/x/y"]),
  row(files, "GET /f/x/tail", ["GET /f/{p=**}/tail", "x"]),
  row(files, "GET /f/tail", ["GET /f/{p=**}/tail", ""]),
  row(files, "GET /f/x/a/tail", ["GET /f/{p=**}/a/{b}", "x", "tail"]),
  row(files, "GET /f/a/b/c", ["GET /f/{p=**}", "a/b/c"]),
  row(["GET /{x=**}", "GET /{y}"], "GET /a", ["GET /{y}", "a"]),
  // Backtracking: the better branch dies later, or has another method only.
  row(["GET /a/b/c", "GET /a/{x}/d"], "GET /a/b/d", ["GET /a/{x}/d", "b"]),
  row(["GET /a/b/{y}/e", "GET /{x=**}/d"], "GET /a/b/c/d", ["GET /{x=**}/d", "a/b/c"]),
  row(["PUT /a/b", "GET /a/{x}"], "GET /a/b", ["GET /a/{x}", "b"]),
  row(["PUT /a/b", "GET /{x=**}"], "GET /a/b", ["GET /{x=**}", "a/b"]),
  row(["PUT /a/b", "GET /a/{x}"], "POST /a/b", "Allow: GET, HEAD, OPTIONS, PUT"),
  // ** takes nothing, or a trailing slash.
  row(files, "GET /f", ["GET /f/{p=**}", ""]),
  row(files, "GET /f/", ["GET /f/{p=**}", ""]),
  row(files, "GET /f/a/", ["GET /f/{p=**}", "a/"]),
  row(files, "GET /f/a//b", ["GET /f/{p=**}", "a//b"]),
  row(["GET /{p=x/**}"], "GET /x", ["GET /{p=x/**}", "x"]),
  row(["GET /{p=**/z}/{q}"], "GET /z/1", ["GET /{p=**/z}/{q}", "z", "1"]),
  row(["GET /{p=**/z}/{q}"], "GET /a/b/z/1", ["GET /{p=**/z}/{q}", "a/b/z", "1"]),
  row(["GET /{a}/{p=**}/{q=x/*}"], "GET /1/x/2", ["GET /{a}/{p=**}/{q=x/*}", "1", "", "x/2"]),
  row(["GET /**"], "GET /", ["GET /**"]),
  row(["GET /", "GET /{p=**}"], "GET /", ["GET /"]),
  // * takes text only; a slash more is another path.
  row(["GET /a/{x}"], "GET /a/", "none"),
  row(["GET /a/{x}"], "GET /a", "none"),
  row(["GET /a/{x}"], "GET /a/b/", "none"),
  row(["GET /a/{x}"], "GET //a/b", "none"),
  row(["GET /a"], "GET /A", "none"),
  row(["GET /"], "GET //", "none"),
  // Verbs.
  row(orders, "POST /o/1:cancel", ["POST /o/{id}:cancel", "1"]),
  row(orders, "POST /o/urn:1:cancel", ["POST /o/{id}:cancel", "urn:1"]),
  row(orders, "POST /o/1:c%61ncel", ["POST /o/{id}:cancel", "1"]),
  row(orders, "GET /o/1:cancel", ["GET /o/{id}", "1:cancel"]),
  row(orders, "GET /o/1:Cancel", ["GET /o/{id}", "1:Cancel"]),
  row(orders, "GET /o/1:", ["GET /o/{id}", "1:"]),
  row(orders, "GET /o/:cancel", ["GET /o/{id}", ":cancel"]),
  row(orders, "POST /o/1%3Acancel", "Allow: DELETE, GET, HEAD, OPTIONS"),
  row(orders, "PUT /o/1:cancel", "Allow: DELETE, GET, HEAD, OPTIONS, POST"),
  row(orders, "PUT /o/1:x", "Allow: DELETE, GET, HEAD, OPTIONS"),
  row(orders, "GET /o:batch", "Allow: OPTIONS, POST"),
  row(orders, "POST /o/1:cancel/", "none"),
  row(["GET /{x}:a%2Fb"], "GET /o:a%2fb", ["GET /{x}:a%2Fb", "o"]),
  row(["GET /{x}:a%2Fb"], "GET /o:a/b", "none"),
  row(files, "GET /f/a/b:meta", ["GET /f/{p=**}:meta", "a/b"]),
  row(files, "GET /f:meta", ["GET /f/{p=**}:meta", ""]),
  row(files, "GET /f/public/x:meta", ["GET /f/{p=**}:meta", "public/x"]),
  row(files, "GET /f/a%3Ameta", ["GET /f/{p=**}", "a%3Ameta"]),
  row(files, "GET /f/a:%FF", ["GET /f/{p=**}", "a:%FF"]),
  row(["GET /t/{time}"], "GET /t/2020-09-22T15:00:00Z", ["GET /t/{time}", "2020-09-22T15:00:00Z"]),
  // Escapes: literals are compared decoded, values come raw.
  row(["GET /caf%C3%A9"], "GET /caf%c3%a9", ["GET /caf%C3%A9"]),
  row(["GET /caf%C3%A9"], "GET /%63afé", ["GET /caf%C3%A9"]),
  row(["GET /a%2Fb"], "GET /a/b", "none"),
  row(["GET /a%2Fb"], "GET /a%2fb", ["GET /a%2Fb"]),
  row(["GET /%25FF", "GET /{x}"], "GET /%FF", ["GET /{x}", "%FF"]),
  row(["GET /{x}"], "GET /a%2Fb%20", ["GET /{x}", "a%2Fb%20"]),
  row(["GET /a", "GET /{x}"], "GET /%2A", ["GET /{x}", "%2A"]),
  row(["GET /a/{x}", "GET /{y}"], "GET /*", ["GET /{y}", "*"]),
  row(["GET /a/1"], "GET /a;x=y/1", "none"),
  row(["GET /{x}/1"], "GET /a;x=y/1", ["GET /{x}/1", "a;x=y"]),
  row(["GET /{x}"], "GET /__proto__", ["GET /{x}", "__proto__"]),
  row(["GET /a"], "GET /__proto__", "none"),
  // HTTP methods.
  row(["GET /a"], "HEAD /a", ["GET /a"]),
  row(["GET /a", "HEAD /a"], "HEAD /a", ["HEAD /a"]),
  row(["* /a", "GET /a"], "HEAD /a", ["GET /a"]),
  row(["* /a", "GET /a"], "GET /a", ["GET /a"]),
  row(["* /a", "GET /a"], "BREW /a", ["* /a"]),
  row(["* /a"], "OPTIONS /a", ["* /a"]),
  row(["* /a", "GET /{x}"], "GET /a", ["* /a"]),
  row(["GET /a"], "OPTIONS /a", "Allow: GET, HEAD, OPTIONS"),
  row(["GET /a", "OPTIONS /a"], "OPTIONS /a", ["OPTIONS /a"]),
  row(["POST /a"], "HEAD /a", "Allow: OPTIONS, POST"),
  row(["GET /a"], "get /a", "Allow: GET, HEAD, OPTIONS"),
  row(["GET /a"], "OPTIONS /b", "none"),
  // Of two equal ones the first.
  row(["GET /{a}", "GET /{b}"], "GET /x", ["GET /{a}", "x"]),
])("$request among $routes", ({ routes, request, found }) => {
  const [httpMethod = "", path = ""] = request.split(" ");
  expect(look(createRouter(routes.map(routeOf)), httpMethod, path)).toEqual(found);
});

test.each([
  ["/f/%zz", "%zz"],
  ["/f/%2", "%2"],
  ["/f/%", "%"],
  ["/nowhere/%g0", "%g0"],
  ["/f/a\\b", "\\"],
  ["/f/./a", "."],
  ["/f/..", ".."],
  ["/../f", ".."],
  ["/f/%2e/a", "."],
  ["/f/%2E%2e", ".."],
  ["/f/.%2E/a", ".."],
  ["/f/..:meta", ".."],
  ["/f/a/%2E:meta", "."],
])("%s is refused", (path, text) => {
  const router = createRouter(files.map(routeOf));
  expect(() => router.match("GET", path)).toThrow(expect.objectContaining({ code: Code.InvalidArgument }));
  expect(() => router.match("GET", path)).toThrow(text);
});

test.each(["/f/...", "/f/.a", "/f/a.", "/f/..:other", "/f/a%2F..%2Fb", "/f/%5C"])("%s is data", (path) => {
  expect(look(createRouter(files.map(routeOf)), "GET", path)).toEqual(["GET /f/{p=**}", path.slice(3)]);
});

test("a long path over overlapping templates ends soon", () => {
  const overlapping = ["/**/a/*/b", "/**/*/a/b", "/*/**/a/a/b", "/a/**/*/*/b", "/**/b"].map((path) =>
    routeOf(`GET ${path}`),
  );
  expect(createRouter(overlapping).match("GET", "/a".repeat(100_000))).toBeUndefined();
});

test("a look-up that dies in each of 4096 branches ends soon", () => {
  const bushy = Array.from({ length: 4096 }, (_, bits) =>
    routeOf(`GET ${Array.from({ length: 12 }, (_, i) => ((bits >> i) & 1 ? "/a" : "/*")).join("")}/end`),
  );
  expect(createRouter(bushy).match("GET", `${"/a".repeat(12)}/other`)).toBeUndefined();
});

describe("agrees with trying every route", () => {
  const literal = fc.constantFrom("a", "b", "c", "a%3Av", "%61b");
  const wildcards = fc.constantFrom("*", "*", "**");
  const plain = fc.oneof({ weight: 3, arbitrary: literal }, { weight: 2, arbitrary: wildcards });
  const group = fc.array(plain, { minLength: 1, maxLength: 3 }).map((inside) => `{VAR=${inside.join("/")}}`);
  const template = fc
    .tuple(
      fc.array(fc.oneof({ weight: 3, arbitrary: plain }, { weight: 2, arbitrary: group }), { maxLength: 4 }),
      fc.constantFrom("", "", "", ":v", ":w"),
    )
    .map(([parts, verb]) => {
      let count = 0;
      return `/${parts.join("/").replace(/VAR/g, () => `v${count++}`)}${parts.length > 0 ? verb : ""}`;
    })
    .filter((text) => text.split("**").length <= 2);
  const httpMethod = fc.constantFrom("GET", "GET", "POST", "HEAD", "OPTIONS", "*");
  const route = fc.tuple(httpMethod, template).map(([method, path]) => routeOf(`${method} ${path}`));
  const segment = fc.constantFrom("a", "b", "c", "ab", "", "%61", "a:v", "a%3Av", "b%2Fc", "x");
  const path = fc
    .tuple(fc.array(segment, { maxLength: 5 }), fc.constantFrom("", "", ":v", ":w", ":u", ":", ":%76"))
    .map(([segments, verb]) => `/${segments.join("/")}${verb}`);
  const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PURGE"];

  test("for any routes, method and path", () => {
    fc.assert(
      fc.property(fc.array(route, { minLength: 1, maxLength: 12 }), path, (routes, requestPath) => {
        const router = createRouter(routes);
        const found = new Map(METHODS.map((method) => [method, naiveMatch(routes, method, requestPath)]));
        const allow = METHODS.filter((method) => found.get(method));
        for (const method of METHODS) {
          const expected = found.get(method);
          const otherwise =
            allow.length > 0 ? `Allow: ${[...new Set([...allow, "OPTIONS"])].sort().join(", ")}` : "none";
          expect(look(router, method, requestPath)).toEqual(
            expected ? [expected.route.method.name, ...expected.values] : otherwise,
          );
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("and a path made from a template reaches a route", () => {
    const filled = fc.tuple(
      fc.array(route, { minLength: 1, maxLength: 12 }),
      fc.nat(),
      fc.array(segment.filter(Boolean), { minLength: 6, maxLength: 6 }),
    );
    fc.assert(
      fc.property(filled, ([routes, choice, texts]) => {
        const chosen = routes[choice % routes.length] as (typeof routes)[number];
        const segments = chosen.template.segments.flatMap((part, i) =>
          part === "**" ? texts.slice(i) : [part === "*" ? (texts[i] ?? "x") : encodeURIComponent(part)],
        );
        const verb = chosen.template.verb && `:${chosen.template.verb}`;
        const method = chosen.httpMethod === "*" ? "PURGE" : chosen.httpMethod;
        expect(createRouter(routes).match(method, `/${segments.join("/")}${verb}`)).toHaveProperty("route");
      }),
    );
  });
});
