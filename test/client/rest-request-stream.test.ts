import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { bodyOf, cut, cuts } from "../protocol/cut.ts";
import { requestMessages, restExchange, shown } from "./shop.ts";

const NDJSON = "application/x-ndjson";
const JSON_TYPE = "application/json";

/** A request whose body comes in these pieces. */
function post(
  body: string | readonly (string | Uint8Array)[] | ReadableStream<Uint8Array>,
  type = NDJSON,
  header: Record<string, string> = {},
): RequestInit {
  const pieces = typeof body === "string" ? [body] : body;
  const stream = pieces instanceof ReadableStream ? pieces : bodyOf(pieces.map((piece) => Buffer.from(piece)));
  return { method: "POST", body: stream, duplex: "half", headers: { "content-type": type, ...header } } as RequestInit;
}

function read(target: string, init: RequestInit, options = {}) {
  return requestMessages(restExchange(target, init, options));
}

test("lines and arrays of any messages, cut anywhere, are those messages", async () => {
  const item = fc.record({ name: fc.string(), size: fc.integer({ min: 1, max: 9 }) }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(fc.array(item), fc.boolean(), cuts, async (items, isArray, at) => {
      const text = isArray ? JSON.stringify(items) : items.map((one) => `${JSON.stringify(one)}\n`).join("");
      const { messages, error } = await read(
        "/v1/feed",
        post(cut(Buffer.from(text), at), isArray ? JSON_TYPE : NDJSON),
      );
      expect(error).toBeUndefined();
      // What is empty is not shown.
      expect(messages).toEqual(items.map(({ name, size }) => ({ ...(name && { name }), ...(size && { size }) })));
    }),
    { numRuns: 50 },
  );
});

test.each<[string, string, unknown[]]>([
  [
    "/v1/ingest/n?count=1",
    '{"size":1}\n{"size":2}\n',
    [{ name: "n", count: 1, item: { size: 1 } }, { item: { size: 2 } }],
  ],
  ["/v1/ingest-all/n", '{"count":1}\n{"count":2}\n', [{ count: 1, item: { name: "n" } }, { count: 2 }]],
  // What a later message says of the path's field is its own.
  [
    "/v1/ingest-all/n",
    '{"item":{"name":"n"}}\n{"item":{"name":"o"}}\n',
    [{ item: { name: "n" } }, { item: { name: "o" } }],
  ],
  ["/v1/ingest/n", "null\n", [{ name: "n" }]],
])("POST %s with %j: path and query are in the first message alone", async (target, body, messages) => {
  expect(await read(target, post(body))).toEqual({ messages });
});

test("a first message that says otherwise than the path is a conflict, named", async () => {
  const { messages, error } = await read("/v1/ingest-all/n", post('{"item":{"name":"o"}}\n'));
  expect(messages).toEqual([]);
  expect(error).toEqual(failure(Code.InvalidArgument, "message 1", "item.name"));
  expect(error?.details.length).toBeGreaterThan(0);
});

test.each<[string, RequestInit, unknown[]]>([
  ["/v1/ingest/n", { method: "POST" }, [{ name: "n" }]],
  ["/v1/ingest-none/n", { method: "POST" }, [{ name: "n" }]],
  ["/v1/feed", { method: "POST" }, []],
  ["/v1/ingest/n", post("", NDJSON), []],
  ["/v1/ingest/n", post("[]", JSON_TYPE), []],
])("POST %s, %j: without a body path and query are a message, with none in the body they are not", async (...args) => {
  const [target, init, messages] = args;
  expect(await read(target, init)).toEqual({ messages });
});

test("a route without a body takes none", async () => {
  const { error } = await read("/v1/ingest-none/n", post("{}\n"));
  expect(error).toEqual(failure(Code.InvalidArgument, "takes no body"));
});

test.each<[string, string, number, string]>([
  ['{"size":"x"}\n', NDJSON, 1, "size"],
  ['{}\n{"size":"x"}\n', NDJSON, 2, "size"],
  ['\n{}\n\n{"sise":1}', NDJSON, 2, "sise"],
  ["{}\n{}\n[]\n", NDJSON, 3, ""],
  ['[{},{"size":"x"}]', JSON_TYPE, 2, "size"],
  ["[{},1]", JSON_TYPE, 2, ""],
  ["[{},]", JSON_TYPE, 2, "missing"],
  ["[{},{}", JSON_TYPE, 3, "breaks off"],
])(
  "%j: what is wrong is told with the number of its message, after those before",
  async (body, type, number, mention) => {
    const { messages, error } = await read("/v1/feed", post(body, type));
    expect(messages).toEqual(Array(number - 1).fill({}));
    expect(error).toEqual(failure(Code.InvalidArgument, `message ${number}`, mention));
  },
);

test.each([
  [NDJSON, `{"name":"a"}\n{"name":"${"b".repeat(40)}"}\n`],
  [JSON_TYPE, `[{"name":"a"},{"name":"${"b".repeat(40)}"}]`],
])("%s: a message over the limit is 413, and says which", async (type, body) => {
  const { messages, error } = await read("/v1/feed", post(body, type), { readMaxBytes: 30 });
  expect(messages).toEqual([{ name: "a" }]);
  expect(error).toEqual(failure(Code.ResourceExhausted, "message 2", "30"));
  expect(error && httpOfError(error).status).toBe(413);
});

test.each([NDJSON, JSON_TYPE])(
  "%s: whatever is wrong, the rest is not read, and the caller is told to stop",
  async (type) => {
    let isCancelled = false;
    const body = bodyOf([Buffer.from("[1,\n"), Buffer.from("x".repeat(100))], undefined, () => {
      isCancelled = true;
    });
    const { error } = await read("/v1/feed", post(body, type));
    expect(error).toEqual(failure(Code.InvalidArgument));
    expect(isCancelled).toBe(true);
  },
);

test.each([NDJSON, JSON_TYPE, "text/plain"])(
  "%s: a body that breaks off is the caller's leaving, never an end",
  async (type) => {
    const body = bodyOf([Buffer.from(type === JSON_TYPE ? "[{}," : "{}\n")], () => {
      throw new Error("reset");
    });
    const { messages, error } = await read(type === "text/plain" ? "/v1/push-raw" : "/v1/feed", post(body, type));
    expect(messages.length).toBeLessThanOrEqual(1);
    expect(error).toEqual(failure(Code.Canceled, "broke off"));
  },
);

test("a coding is taken off, and a body that is not in it is refused", async () => {
  const gzip = { "content-encoding": "gzip" };
  const bytes = gzipSync('{"name":"a"}\n{"name":"b"}\n');
  expect(await read("/v1/feed", post([bytes.subarray(0, 20), bytes.subarray(20)], NDJSON, gzip))).toEqual({
    messages: [{ name: "a" }, { name: "b" }],
  });
  for (const broken of ["{}\n", bytes.subarray(0, -4)]) {
    const { error } = await read("/v1/feed", post([broken], NDJSON, gzip));
    expect(error).toEqual(failure(Code.InvalidArgument, "gzip"));
  }
});

test("an upload is messages of its pieces, none larger than a backend takes; the type is in the first", async () => {
  const bytes = Buffer.alloc(200_000, "abc");
  const { messages } = await read("/v1/push-raw", post([bytes, "d"], "text/plain"));
  const parts = messages as { contentType?: string; data: string }[];
  expect(parts.map(({ contentType }) => contentType)).toEqual([
    "text/plain",
    ...Array(parts.length - 1).fill(undefined),
  ]);
  const data = parts.map(({ data }) => Buffer.from(data, "base64"));
  expect(Math.max(...data.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  expect(Buffer.concat(data)).toEqual(Buffer.concat([bytes, Buffer.from("d")]));
  const small = await read("/v1/push-raw", post(["abcdefg"], "text/plain"), { readMaxBytes: 3 });
  expect(small.messages).toHaveLength(3);
});

test.each([[[]], [[""]]])("an upload without bytes (%j) is one message", async (pieces) => {
  expect(await read("/v1/push-raw", post(pieces, "text/plain"))).toEqual({ messages: [{ contentType: "text/plain" }] });
});

test("cancel frees the body, and a read that waits comes to its end", async () => {
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
  };
  const silent = new ReadableStream<Uint8Array>({ cancel }, { highWaterMark: 0 });
  const { body } = restExchange("/v1/feed", post(silent)).open();
  if (body.kind !== "stream") throw new Error(body.kind);
  const pending = body.messages.next();
  await body.messages.cancel(new ConnectError("enough", Code.Aborted));
  expect(await pending).toBeUndefined();
  expect((await body.messages.end).error).toEqual(failure(Code.Aborted, "enough"));
  expect(isCancelled).toBe(true);
});

test("what has come together goes on together; nothing is read ahead", async () => {
  const pulls: number[] = [];
  const pieces = ['{"size":1}\n{"size":2}\n{"si', 'ze":3}\n'];
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[pulls.length];
        pulls.push(pulls.length);
        if (piece) controller.enqueue(Buffer.from(piece));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const { body: opened } = restExchange("/v1/feed", post(body)).open();
  if (opened.kind !== "stream") throw new Error(opened.kind);
  expect(pulls).toHaveLength(0);
  const sizes = (batch: readonly Uint8Array[] | undefined) => batch?.map((wire) => shown("shop.v1.Item", wire));
  expect(sizes(await opened.messages.next())).toEqual([{ size: 1 }, { size: 2 }]);
  expect(pulls).toHaveLength(1);
  expect(sizes(await opened.messages.next())).toEqual([{ size: 3 }]);
  expect(await opened.messages.next()).toBeUndefined();
});
