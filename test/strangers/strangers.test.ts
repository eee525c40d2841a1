import { createHash } from "node:crypto";
import {
  type DescMessage,
  equals,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../src/gateway.ts";
import { formatRoutes } from "../../src/route/format.ts";
import type { Route } from "../../src/route/route.ts";
import { compileRules } from "../../src/route/rule.ts";
import { readSchema } from "../../src/schema/read.ts";
import { splitRecords } from "../cases/split-records.ts";
import { naiveMatch } from "../route/naive.ts";
import { APIS, type Api, type ApiName, type Binding, loadApi } from "./apis.ts";
import { messageJson, type Sampling } from "./random-json.ts";
import { type RandomRequest, randomRequest } from "./random-request.ts";

/** What is asked of each binding. */
const RUNS = 4;

/** Bindings in the files; those that are left out, because another one of the set has the same path already; streams. */
const COUNTS: Readonly<Record<ApiName, { bindings: number; leftOut: number; streaming: number }>> = {
  "Pub/Sub": { bindings: 34, leftOut: 0, streaming: 0 },
  "Spanner admin": { bindings: 54, leftOut: 0, streaming: 0 },
  "Cloud Run": { bindings: 44, leftOut: 0, streaming: 0 },
  Logging: { bindings: 178, leftOut: 0, streaming: 1 },
  "Bigtable admin": { bindings: 81, leftOut: 0, streaming: 0 },
  Firestore: { bindings: 87, leftOut: 0, streaming: 13 },
  KMS: { bindings: 63, leftOut: 0, streaming: 0 },
  "BigQuery Storage": { bindings: 32, leftOut: 11, streaming: 5 },
};

interface Stranger extends Api {
  readonly gateway: Gateway;
  readonly routes: readonly Route[];
  readonly warnings: readonly string[];
  readonly literals: readonly string[];
  /** The backend: what it got last, and what it answers. */
  readonly backend: { seen?: { path: string; wire: Uint8Array } | undefined; answer: Uint8Array };
  /** Requests that were sent, and those of them that a better route took. */
  readonly tally: { requests: number; better: number };
}

async function meet(name: ApiName): Promise<Stranger> {
  const api = await loadApi(name);
  const warnings: string[] = [];
  const backend: Stranger["backend"] = { answer: new Uint8Array() };
  const gateway = createGateway({
    schema: api.set,
    onFault: "skip",
    warn: (message) => warnings.push(message),
    backends: {
      "*": {
        url: "http://backend",
        fetch: async (input, init) => {
          const request = new Request(input, init);
          backend.seen = { path: new URL(request.url).pathname, wire: new Uint8Array(await request.arrayBuffer()) };
          return new Response(backend.answer as Uint8Array<ArrayBuffer>, {
            headers: { "content-type": "application/proto" },
          });
        },
      },
    },
  });
  const { routes } = compileRules(readSchema(api.set), undefined);
  const literals = [...new Set(api.bindings.flatMap(({ template }) => template.match(/[A-Za-z]\w+/g) ?? []))];
  return { ...api, gateway, routes, warnings, literals, backend, tally: { requests: 0, better: 0 } };
}

const strangers = await Promise.all((Object.keys(APIS) as ApiName[]).map(meet));

afterAll(() => {
  const lines = strangers.map(({ name, bindings, routes, tally }) => {
    const streaming = routes.filter((route) => route.method.kind !== "unary").length;
    return `${name}: ${bindings.length} bindings, ${routes.length} routes, ${streaming} of them streaming and not served yet; ${tally.requests} requests, ${tally.better} taken by a better route`;
  });
  console.info(lines.join("\n"));
});

function isOf(route: Route, binding: Binding): boolean {
  const { httpMethod, template } = binding;
  return route.method.path === pathOf(binding) && route.httpMethod === httpMethod && route.rule.template === template;
}

function pathOf({ method }: Binding): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Sends the request and compares what the backend got with what the request means. */
async function send(stranger: Stranger, binding: Binding, random: RandomRequest): Promise<Response | undefined> {
  const { gateway, backend, routes, tally } = stranger;
  const { httpMethod, path, query, body } = random;
  backend.seen = undefined;
  const response = await gateway.fetch(
    new Request(`http://gateway${path}${query && `?${query}`}`, {
      method: httpMethod,
      ...(body && { body: body.bytes as Uint8Array<ArrayBuffer>, headers: { "content-type": body.contentType } }),
    }),
  );
  tally.requests++;
  const best = naiveMatch(routes, httpMethod, path)?.route;
  if (best && !isOf(best, binding)) {
    tally.better++;
    // The request was not meant for that route, so it may be refused there; no other one may take it.
    expect((backend.seen as Stranger["backend"]["seen"])?.path ?? best.method.path).toBe(best.method.path);
    return undefined;
  }
  const { seen } = backend as Stranger["backend"];
  if (!seen) throw new Error(`${response.status} ${await response.text()}`);
  expect(seen.path).toBe(pathOf(binding));
  expectMessage(stranger, binding.method.input, seen.wire, random);
  return response;
}

function expectMessage({ registry }: Stranger, desc: DescMessage, wire: Uint8Array, random: RandomRequest): void {
  expect(splitRecords(desc, wire)).toEqual([]);
  const received = fromBinary(desc, wire);
  if (random.mask) {
    const { field, paths } = random.mask;
    const fields = received as Message & Record<string, { paths: string[] } | undefined>;
    expect(new Set(fields[field.localName]?.paths)).toEqual(paths);
    delete fields[field.localName];
  }
  expect(toJson(desc, received, { registry })).toEqual(toJson(desc, random.message, { registry }));
  // JSON does not tell everything.
  expect(equals(desc, received, random.message, { registry, unknown: true })).toBe(true);
}

/** Runs are the same each time. */
function seedOf(text: string): number {
  return createHash("sha256").update(text).digest().readInt32LE();
}

describe.each(strangers)("$name", (stranger) => {
  const { name, bindings, routes, warnings, registry, backend } = stranger;
  const served = bindings.filter((binding) => routes.some((route) => isOf(route, binding)));
  const unary = served.filter(({ method }) => method.methodKind === "unary");

  it("lists every binding, or warns that it is left out", () => {
    const leftOut = bindings.filter((binding) => !served.includes(binding));
    const streaming = served.length - unary.length;
    expect({ bindings: bindings.length, leftOut: leftOut.length, streaming }).toEqual(COUNTS[name]);
    expect(routes).toHaveLength(served.length);
    expect(formatRoutes(routes).trimEnd().split("\n")).toHaveLength(served.length);
    for (const { method, template } of leftOut) {
      const place = `${method.parent.typeName}.${method.name}`;
      expect(warnings.filter((line) => line.includes(`${place} `) && line.includes(template))).toHaveLength(1);
    }
  });

  it.each(unary.map((binding) => [`${binding.httpMethod} ${binding.template}`, binding] as const))(
    "%s",
    async (_, binding) => {
      const property = fc.asyncProperty(fc.gen(), async (draw) => {
        const sampling: Sampling = { draw, registry, names: "json" };
        const { output } = binding.method;
        const json = messageJson(sampling, output, "body", 4);
        const answer = fromJson(output, json as JsonValue, { registry });
        backend.answer = toBinary(output, answer);
        const response = await send(stranger, binding, randomRequest(sampling, binding, stranger.literals));
        if (!response) return;
        expect(response.status).toBe(200);
        expect(await response.json()).toEqual(toJson(output, answer, { registry }));
      });
      await fc.assert(property, { seed: seedOf(pathOf(binding) + binding.template), numRuns: RUNS });
    },
  );

  it("a message is what its request by any rule says", async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...unary),
      fc.constantFrom("json", "proto"),
      fc.gen(),
      async (binding, names, draw) => {
        backend.answer = new Uint8Array();
        await send(stranger, binding, randomRequest({ draw, registry, names }, binding, stranger.literals));
      },
    );
    await fc.assert(property, { seed: seedOf(name), numRuns: 300 });
  });
});
