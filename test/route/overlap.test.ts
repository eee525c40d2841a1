import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commonPath, compareTemplates, covers } from "../../src/route/overlap.ts";
import { createRouter } from "../../src/route/router.ts";
import { parseTemplate } from "../../src/route/template.ts";
import { naiveMatch } from "./naive.ts";
import { routeOf } from "./routes.ts";

const segment = fc.constantFrom("a", "b", "*", "*", "**");
const template = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .filter((segments) => segments.filter((text) => text === "**").length <= 1)
  .map((segments) => `/${segments.join("/")}`);

/** Every path of up to 5 segments, each `a`, `b` or another. With templates of 3 that tells any two apart. */
const PATHS = Array.from({ length: 5 }).reduce<string[][]>(
  (paths) => [[""], ...paths.map((shorter) => shorter.flatMap((path) => ["a", "b", "x"].map((s) => `${path}/${s}`)))],
  [[""]],
);
const paths = PATHS.flat().map((path) => path || "/");

function matches(template: string, path: string): boolean {
  return naiveMatch([routeOf(`GET ${template}`)], "GET", path) !== undefined;
}

describe("as trying every path says", () => {
  test("which holds the other", () => {
    fc.assert(
      fc.property(template, template, (general, special) => {
        const held = paths.every((path) => !matches(special, path) || matches(general, path));
        expect(covers(parseTemplate(general), parseTemplate(special))).toBe(held);
      }),
    );
  });

  test("what both match", () => {
    fc.assert(
      fc.property(template, template, (a, b) => {
        const path = commonPath(parseTemplate(a), parseTemplate(b));
        if (path) {
          const text = `/${path.join("/")}`;
          expect([matches(a, text), matches(b, text)], text).toEqual([true, true]);
        } else {
          expect(paths.filter((candidate) => matches(a, candidate) && matches(b, candidate))).toEqual([]);
        }
      }),
    );
  });

  test("which the router tries first", () => {
    fc.assert(
      fc.property(template, template, fc.constantFrom(...paths), (a, b, path) => {
        fc.pre(a !== b && matches(a, path) && matches(b, path));
        const found = createRouter([routeOf(`GET ${a}`), routeOf(`GET ${b}`)]).match("GET", path);
        const first = compareTemplates(parseTemplate(a), parseTemplate(b)) < 0 ? a : b;
        expect(found).toMatchObject({ route: { template: { text: first } } });
      }),
    );
  });
});

test("paths are decoded text", () => {
  expect(commonPath(parseTemplate("/%2F/*"), parseTemplate("/*/b"))).toEqual(["/", "b"]);
});
