import fc from "fast-check";
import { expect, test } from "vitest";
import { createFraming, type FramingOptions, HEARTBEAT, headerOf, STREAM_TYPES } from "../../src/client/framing.ts";
import { readEvents, type ServerEvent } from "./events.ts";

const PLAIN: FramingOptions = { ndjsonBare: false, sseIds: false, sseRetryMs: undefined };
const STATUS = '{"code":5,"message":"none"}';
const encoder = new TextEncoder();

/** The body of these batches. Undefined when the format has no place for the failure. */
function bodyOf(
  type: (typeof STREAM_TYPES)[number],
  batches: readonly (readonly unknown[])[],
  status?: string,
  options: Partial<FramingOptions> = {},
): string | undefined {
  const framing = createFraming(type, { ...PLAIN, ...options });
  const parts = batches.map((batch) => framing.batch(batch.map((value) => encoder.encode(JSON.stringify(value)))));
  const last = framing.end(status);
  return last && new TextDecoder().decode(Buffer.concat([...parts, last]));
}

const batches = fc.array(fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 4 }), { maxLength: 4 });
/** What JSON keeps of a value: -0 is 0. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

test("an array, in any batches, is what JSON.parse reads", () => {
  fc.assert(
    fc.property(batches, (values) => {
      expect(JSON.parse(bodyOf("application/json", values) ?? "")).toEqual(plain(values.flat()));
    }),
  );
});

test.each([[[]], [[[1]]], [[[1, 2], [3]]]])("an array of %j has no place for a failure", (values) => {
  expect(bodyOf("application/json", values, STATUS)).toBeUndefined();
});

test("lines, in any batches, are one text each, and LF ends every one", () => {
  fc.assert(
    fc.property(batches, fc.boolean(), (values, ndjsonBare) => {
      const lines = (bodyOf("application/x-ndjson", values, undefined, { ndjsonBare }) ?? "").split("\n");
      expect(lines.pop()).toBe("");
      const shown = values.flat().map((value) => (ndjsonBare ? value : { result: value }));
      expect(lines.map((line) => JSON.parse(line))).toEqual(plain(shown));
    }),
  );
});

test.each([true, false])("a failure is the last line, bare or not: %j", (ndjsonBare) => {
  const lines = bodyOf("application/x-ndjson", [[{ error: "x" }]], STATUS, { ndjsonBare })?.split("\n");
  const first = ndjsonBare ? { error: "x" } : { result: { error: "x" } };
  expect(lines?.map((line) => line && JSON.parse(line))).toEqual([first, { error: JSON.parse(STATUS) }, ""]);
});

test("events, in any batches, are what a reader of events sees, and the last is their end", () => {
  fc.assert(
    fc.property(batches, (values) => {
      const events = readEvents(bodyOf("text/event-stream", values) ?? "");
      expect(events.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
        ...plain(values.flat()).map((value: unknown) => ["message", value]),
        ["end", {}],
      ]);
    }),
  );
});

test("a failure is the last event", () => {
  const events = readEvents(bodyOf("text/event-stream", [[1]], STATUS) ?? "");
  expect(events).toMatchObject([
    { event: "message", data: "1" },
    { event: "error", data: STATUS },
  ] satisfies Partial<ServerEvent>[]);
});

test("events are numbered over batches, and the end is not one more", () => {
  const events = readEvents(bodyOf("text/event-stream", [["a", "b"], ["c"]], undefined, { sseIds: true }) ?? "");
  expect(events.map(({ event, id }) => [event, id])).toEqual([
    ["message", "1"],
    ["message", "2"],
    ["message", "3"],
    ["end", "3"],
  ]);
});

test.each<[string, unknown[][], string | undefined]>([
  ["messages", [["a"], ["b"]], undefined],
  ["no message", [], undefined],
  ["no message but a failure", [], STATUS],
])("the time to wait is told once, with %s", (_, values, status) => {
  const body = bodyOf("text/event-stream", values, status, { sseRetryMs: 1500 }) ?? "";
  expect(body.match(/^retry: 1500$/gm)).toHaveLength(1);
  expect(body.startsWith("retry: 1500\n")).toBe(true);
  expect(readEvents(body)).toHaveLength(values.length + 1);
});

test("a heartbeat is nothing to a reader of events", () => {
  const beat = new TextDecoder().decode(HEARTBEAT);
  const body = bodyOf("text/event-stream", [["a"], ["b"]]) ?? "";
  const beating = body
    .split("\n\n")
    .map((event) => event && `${event}\n\n`)
    .join(beat);
  expect(beating.length).toBeGreaterThan(body.length);
  expect(readEvents(beat + beating)).toEqual(readEvents(body));
});

test.each(STREAM_TYPES)("%s is the content type; caches keep no events", (type) => {
  const header = new Headers(headerOf(type));
  expect(header.get("content-type")).toBe(type);
  expect(header.get("cache-control")).toBe(type === "text/event-stream" ? "no-cache" : null);
});
