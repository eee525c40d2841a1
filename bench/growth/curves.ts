/** What is made larger, step by step, with all else left as it is. */
import type { JsonObject } from "@bufbuild/protobuf";
import { type Ask, echo, GET, items, type Load, watch } from "../peers/load.ts";
import { ITEM } from "../peers/shop.ts";

export interface Curve {
  readonly name: string;
  /** Of the horizontal axis. */
  readonly axis: string;
  /** What is told beside it. */
  readonly note: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly at: number;
  readonly load: Load;
  /** The schema has so many routes; else only those of peers.proto. */
  readonly routes?: number;
}

const CONNECTIONS = 64;
/** A number with many divisors, below the 100 levels that a message may have. */
const NESTED_ITEMS = 96;
const STREAM_MESSAGES = 100;

function step(name: string, at: number, ask: Ask, connections = CONNECTIONS): Step {
  return { at, load: { name: `${name} ${at}`, asks: [ask], connections } };
}

/** Chains of items, each inside the one before. */
function chains(depth: number): JsonObject[] {
  const chain = Array.from({ length: depth }).reduce<JsonObject | undefined>(
    (inside) => (inside ? { ...ITEM, inside } : ITEM),
    undefined,
  );
  return Array.from({ length: NESTED_ITEMS / depth }, () => chain ?? {});
}

export const CURVES: readonly Curve[] = [
  {
    name: "routes",
    axis: "routes of the schema",
    note: "GET /v1/items/{id}, with half of the other routes below that path and half beside it.",
    steps: [10, 100, 1000, 10_000].map((at) => ({ ...step("routes", at, GET), routes: at })),
  },
  {
    name: "size",
    axis: "kB of JSON, both ways",
    note: "Batches of items of about 1 kB.",
    steps: [1, 4, 16, 64, 256, 1000].map((at) => step("size", at, echo(items(at)))),
  },
  {
    name: "nesting",
    axis: "levels of nesting",
    note: `The same ${NESTED_ITEMS} items both ways, as chains of one, two, … items inside one another.`,
    steps: [1, 2, 4, 8, 16, 32, 48, 96].map((at) => step("nesting", at, echo(chains(at)))),
  },
  {
    name: "streams",
    axis: "streams open at once",
    note: `CPU per stream of ${STREAM_MESSAGES} messages of 1 kB.`,
    steps: [1, 10, 100, 1000, 2000].map((at) => step("streams", at, watch(STREAM_MESSAGES), at)),
  },
];
