/** Look-up cost of the router by number of routes. It should not grow: a look-up walks its path, not the table. */
import type { Route, Router } from "../src/route/route.ts";
import { createRouter } from "../src/route/router.ts";
import { parseTemplate } from "../src/route/template.ts";
import type { Message, Method } from "../src/schema/model.ts";

const SIZES = [10, 1_000, 10_000];
const ROUNDS = 9;
const LOOKUPS = 100_000;

/** One resource's five routes, as an API has them. */
const TEMPLATES: readonly (readonly [httpMethod: string, template: (name: string) => string])[] = [
  ["GET", (name) => `/v1/{name=${name}/*}`],
  ["GET", (name) => `/v1/${name}`],
  ["POST", (name) => `/v1/{name=${name}/*}:archive`],
  ["GET", (name) => `/v1/{parent=${name}/*}/books/{book}`],
  ["GET", (name) => `/v1/${name}/files/{path=**}`],
];

/** The request that reaches the template of the same place. */
const REQUESTS: readonly (readonly [httpMethod: string, path: (name: string) => string])[] = [
  ["GET", (name) => `/v1/${name}/42`],
  ["GET", (name) => `/v1/${name}`],
  ["POST", (name) => `/v1/${name}/42:archive`],
  ["GET", (name) => `/v1/${name}/42/books/caf%C3%A9`],
  ["GET", (name) => `/v1/${name}/files/a/b/c`],
];

const EMPTY: Message = { name: "bench.Empty", fields: [], oneofs: [] };
const METHOD: Method = {
  name: "Get",
  service: { name: "bench.Service", file: "bench.proto", methods: [] },
  path: "/bench.Service/Get",
  kind: "unary",
  idempotency: "unknown",
  input: EMPTY,
  output: EMPTY,
  rules: [],
};

interface Subject {
  readonly size: number;
  readonly router: Router;
  readonly requests: readonly (readonly [httpMethod: string, path: string])[];
  bestNs: number;
}

export function run(): void {
  const subjects = SIZES.map(createSubject);
  // The sizes take turns, so that what else the machine does falls on all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of subjects) subject.bestNs = Math.min(subject.bestNs, lookupNs(subject));
  }
  const base = subjects[0]?.bestNs ?? Number.NaN;
  console.log("route: look-up, best of rounds\n  routes     ns   ratio");
  for (const { size, bestNs } of subjects) {
    console.log(
      `${String(size).padStart(8)} ${bestNs.toFixed(0).padStart(6)} ${(bestNs / base).toFixed(2).padStart(7)}`,
    );
  }
}

function createSubject(size: number): Subject {
  const names = Array.from({ length: size / TEMPLATES.length }, (_, i) => `shelves${i}`);
  const routes = names.flatMap((name) =>
    TEMPLATES.map(([httpMethod, template]) => createRoute(httpMethod, template(name))),
  );
  // As many different requests at every size: the router is measured, not the caches of the processor.
  const requests = [...names.slice(0, 1), ...names.slice(-1)].flatMap((name) =>
    REQUESTS.map(([httpMethod, path]) => [httpMethod, path(name)] as const),
  );
  return { size, router: createRouter(routes), requests, bestNs: Number.POSITIVE_INFINITY };
}

function createRoute(httpMethod: string, text: string): Route {
  const template = parseTemplate(text);
  const variables = template.variables.map((variable) => ({ ...variable, path: [] }));
  const rule = { method: httpMethod, template: text, body: "", responseBody: "", nested: false };
  return { method: METHOD, rule, httpMethod, template, variables };
}

/** @throws Error when a request finds no route: then the numbers would mean nothing. */
function lookupNs({ router, requests }: Subject): number {
  let found = 0;
  const start = performance.now();
  for (let i = 0; i < LOOKUPS; i++) {
    const [httpMethod, path] = requests[i % requests.length] as (typeof requests)[number];
    const match = router.match(httpMethod, path);
    if (match && "route" in match) found++;
  }
  const ns = ((performance.now() - start) * 1e6) / LOOKUPS;
  if (found !== LOOKUPS) throw new Error(`${LOOKUPS - found} of ${LOOKUPS} requests found no route`);
  return ns;
}
