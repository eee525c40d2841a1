/** What is asked of each peer, whatever it is asked in. */
import type { JsonObject } from "@bufbuild/protobuf";
import { ITEM } from "./shop.ts";

export interface Ask {
  readonly method: "GetItem" | "Echo" | "Watch" | "Upload" | "Fail";
  /** The same message is sent so often. */
  readonly request: { readonly type: string; readonly json: JsonObject; readonly count: number };
  /** The messages of the answer; an error instead, where there are none. */
  readonly answer: { readonly type: string; readonly json: JsonObject; readonly count: number };
  readonly rest: { readonly method: "GET" | "POST"; readonly path: string };
}

export interface Load {
  readonly name: string;
  /** Sent in turn. */
  readonly asks: readonly Ask[];
  readonly connections: number;
}

export const GET: Ask = {
  method: "GetItem",
  request: { type: "GetItemRequest", json: { id: "item-000042" }, count: 1 },
  answer: { type: "Item", json: ITEM, count: 1 },
  rest: { method: "GET", path: "/v1/items/item-000042" },
};

export const FAIL: Ask = {
  method: "Fail",
  request: { type: "FailRequest", json: {}, count: 1 },
  answer: { type: "Item", json: {}, count: 0 },
  rest: { method: "GET", path: "/v1/fail" },
};

/** @param items of the request, and so of the answer. */
export function echo(items: readonly JsonObject[]): Ask {
  const json = { items: [...items] };
  return {
    method: "Echo",
    request: { type: "Batch", json, count: 1 },
    answer: { type: "Batch", json, count: 1 },
    rest: { method: "POST", path: "/v1/echo" },
  };
}

/** @param count of the messages that are sent. */
export function watch(count: number): Ask {
  return {
    method: "Watch",
    request: { type: "WatchRequest", json: { count }, count: 1 },
    answer: { type: "Item", json: ITEM, count },
    rest: { method: "GET", path: `/v1/watch?count=${count}` },
  };
}

/** @param count of the messages of the request. */
export function upload(count: number): Ask {
  return {
    method: "Upload",
    request: { type: "Item", json: ITEM, count },
    answer: { type: "UploadResult", json: { count }, count: 1 },
    rest: { method: "POST", path: "/v1/upload" },
  };
}

/** An item has about 1 kB of JSON. */
const ECHO = { "1 kB": echo(items(1)), "64 kB": echo(items(64)), "1 MB": echo(items(1000)) };

export function items(count: number): JsonObject[] {
  return Array.from({ length: count }, () => ITEM);
}

/** Nineteen small ones and a large one. */
const MIXED = [...Array.from({ length: 19 }, () => ECHO["1 kB"]), ECHO["1 MB"]];

const CONNECTIONS = 64;

/** The loads of the transcoding tax: they are measured in more rounds than others. */
export const TAXED: readonly Load[] = Object.entries(ECHO).map(([name, ask]) => ({
  name: `${name} both ways`,
  asks: [ask],
  connections: CONNECTIONS,
}));

export const QUICK: readonly Load[] = [
  { name: "GET", asks: [GET], connections: CONNECTIONS },
  ...TAXED,
  { name: "mixed, 95 % 1 kB and 5 % 1 MB", asks: MIXED, connections: CONNECTIONS },
  { name: "error", asks: [FAIL], connections: CONNECTIONS },
  { name: "stream of 10,000 × 1 kB", asks: [watch(10_000)], connections: 1 },
  { name: "upload of 10,000 × 1 kB", asks: [upload(10_000)], connections: 1 },
];

export const FULL: readonly Load[] = [
  ...QUICK,
  ...[1, 1000].flatMap((connections): Load[] => [
    { name: "GET", asks: [GET], connections },
    { name: "1 kB both ways", asks: [ECHO["1 kB"]], connections },
  ]),
];
