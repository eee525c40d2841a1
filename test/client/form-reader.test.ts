import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClientOptions } from "../../src/client/exchange.ts";
import { openForm } from "../../src/client/form-reader.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { jsonOf } from "../codec/json-arbitrary.ts";
import { contextWith, schema, shown, shownJson } from "../codec/kinds.ts";
import { failure } from "../failure.ts";
import { messageOf } from "../proto.ts";
import { bodyOf } from "../protocol/cut.ts";
import { formText, type Part } from "./forms.ts";
import { requestMessages, restExchange } from "./shop.ts";

const FILE = 'name="content"; filename="x.png"\r\nContent-Type: image/png';

function* pieces(text: string, size: number): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function stream(target: string, text: string, size: number, options: Partial<ClientOptions> = {}) {
  const body = bodyOf([...pieces(text, size)]);
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const init = { method: "POST", body, headers, duplex: "half" } as RequestInit;
  return requestMessages(restExchange(target, init, { forms: true, ...options }));
}

/** What a backend makes of the messages of an upload: the first without its data, and all data together. */
function upload(messages: readonly unknown[], dataOf: (message: never) => string | undefined) {
  const data = Buffer.concat(messages.map((message) => Buffer.from(dataOf(message as never) ?? "", "base64")));
  return { count: messages.length, data: data.toString() };
}

const SIZES = [1, 5, 17, 64, 1_000];
const TEXT = "line one\r\n--b\r-\r\n--c\r\nline two".repeat(3);

test.each(SIZES)(
  "a file is a stream of messages, after the fields that stand before it: pieces of %i bytes",
  async (size) => {
    const text = formText("b", ['name="note"', "n"], ['name="inner.note"', "i"], [FILE, TEXT]);
    for (const [target, path] of [
      ["/v1/push", {}],
      ["/v1/push/p", { name: "p" }],
    ] as const) {
      const { messages, error } = await stream(target, text.replaceAll("\r\n--b\r-", "\r\n--B\r-"), size);
      expect(error).toBeUndefined();
      const { count, data } = upload(messages, ({ content }: { content: { data?: string } }) => content.data);
      expect(data).toBe(TEXT.replaceAll("\r\n--b\r-", "\r\n--B\r-"));
      expect(messages[0]).toMatchObject({
        ...path,
        note: "n",
        inner: { note: "i" },
        content: { contentType: "image/png" },
      });
      for (const message of messages.slice(1)) expect(Object.keys(message as object)).toEqual(["content"]);
      for (const message of messages.slice(1)) expect(message).not.toHaveProperty("content.contentType");
      expect(count > 1).toBe(size < 1_000);
    }
  },
);

test("the first message goes out before the file has ended", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [start = "", end = ""] = formText("b", ['name="note"', "n"], [FILE, "one|two"]).split("|");
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(start));
      await held;
      controller.enqueue(new TextEncoder().encode(end));
      controller.close();
    },
  });
  const init = { method: "POST", body, headers: { "content-type": "multipart/form-data; boundary=b" }, duplex: "half" };
  const opened = restExchange("/v1/push", init as RequestInit, { forms: true }).open();
  if (opened.body.kind !== "stream") throw new Error("no stream");
  expect(await opened.body.messages.next()).toHaveLength(1);
  release();
  expect(await opened.body.messages.next()).toHaveLength(1);
  expect(await opened.body.messages.next()).toBeUndefined();
});

test("a whole HttpBody is streamed of its one part, whatever its name", async () => {
  for (const size of SIZES) {
    const { messages, error } = await stream(
      "/v1/push-raw",
      formText("b", ['name="f"\r\nContent-Type: a/b', "data"]),
      size,
    );
    expect(error).toBeUndefined();
    expect(messages[0]).toMatchObject({ contentType: "a/b" });
    expect(upload(messages, ({ data }: { data?: string }) => data).data).toBe("data");
  }
});

test.each<[string, readonly Part[], unknown[]]>([
  // Without a file a form is one message.
  ["/v1/push", [], [{}]],
  ["/v1/push/p?note=q", [['name="inner.note"', "i"]], [{ name: "p", note: "q", inner: { note: "i" } }]],
  ["/v1/push-raw", [], [{}]],
  [
    "/v1/feed",
    [
      ['name="name"', "a"],
      ['name="words"', "b"],
    ],
    [{ name: "a", words: ["b"] }],
  ],
  // An empty file is one, one that nobody chose is none.
  ["/v1/push", [[FILE, ""]], [{ content: { contentType: "image/png" } }]],
  [
    "/v1/push",
    [
      ['name="content"; filename=""', ""],
      ['name="note"', "n"],
    ],
    [{ note: "n" }],
  ],
  [
    "/v1/push",
    [
      [FILE, "data"],
      ['name="inner.content"; filename=""', ""],
    ],
    [{ content: { contentType: "image/png", data: "ZGF0YQ==" } }],
  ],
  // Deeper, and in lists, which are whole in one message.
  ["/v1/push", [['name="inner.content"', "data"]], [{ inner: { content: { data: "ZGF0YQ==" } } }]],
  [
    "/v1/push",
    [
      ['name="more"', "data"],
      ['name="more"', ""],
    ],
    [{ more: [{ data: "ZGF0YQ==" }, {}] }],
  ],
  [
    "/v1/push",
    [
      ['name="thumb"', "data"],
      ['name="note"', "n"],
    ],
    [{ thumb: "ZGF0YQ==", note: "n" }],
  ],
])("POST %s, multipart %j", async (target, parts, messages) => {
  expect(await stream(target, formText("b", ...parts), 10_000)).toEqual({ messages });
});

test("an urlencoded form is one message of a stream", async () => {
  const init = { method: "POST", body: new URLSearchParams({ name: "a" }) };
  expect(await requestMessages(restExchange("/v1/feed", init, { forms: true }))).toEqual({ messages: [{ name: "a" }] });
});

test.each<[readonly Part[], string]>([
  [
    [
      [FILE, "data"],
      ['name="note"', "n"],
    ],
    "note: comes behind the file",
  ],
  [
    [
      [FILE, "data"],
      ['name="note"', ""],
    ],
    "note: comes behind the file",
  ],
  [
    [
      [FILE, "data"],
      [FILE, "data"],
    ],
    "content: comes behind the file",
  ],
  [
    [
      [FILE, "data"],
      ['name="inner.content"; filename="y"', ""],
    ],
    "inner.content: comes behind the file",
  ],
  [
    [
      [FILE, "data"],
      ['name="nothing"', "n"],
    ],
    "nothing: no such field",
  ],
])("%j: what comes too late is refused, and the stream breaks", async (parts, mention) => {
  for (const size of SIZES) {
    const { error } = await stream("/v1/push", formText("b", ...parts), size);
    expect(error).toEqual(failure(Code.InvalidArgument, mention));
  }
});

test("a file that breaks off ends in a failure, never as if it were whole", async () => {
  const text = formText("b", [FILE, "data"]);
  for (const end of [text.length - 1, text.length - 3, text.length - 6]) {
    const { error } = await stream("/v1/push", text.slice(0, end).replace(/--\r?$/, ""), 7);
    expect(error).toEqual(failure(Code.InvalidArgument, "last boundary"));
  }
});

test("a file has no limit; what is kept has that of a message", async () => {
  const limited = { readMaxBytes: 100 };
  const long = "a".repeat(101);
  const fine = await stream("/v1/push", formText("b", ['name="note"', "n"], [FILE, long.repeat(100)]), 50, limited);
  expect(fine.error).toBeUndefined();
  const parts: Part[] = [
    ['name="note"', "a".repeat(60)],
    ['name="thumb"', "a".repeat(60)],
  ];
  for (const tooMuch of [parts, [['name="note"', long] as Part]]) {
    const { error } = await stream("/v1/push", formText("b", ...tooMuch), 50, limited);
    expect(error).toEqual(failure(Code.ResourceExhausted, "100"));
    expect(error && httpOfError(error).status).toBe(413);
  }
});

test("parts that mean nothing are skipped, whatever their length, where unknown fields are", async () => {
  const text = formText("b", ['name="nothing"; filename="x"', "a".repeat(1_000)], [FILE, "data"], ['name="late"', "x"]);
  const { messages, error } = await stream("/v1/push", text, 10_000, { unknownFields: "ignore", readMaxBytes: 100 });
  expect(error).toBeUndefined();
  expect(messages).toEqual([{ content: { contentType: "image/png", data: "ZGF0YQ==" } }]);
});

test("a message whose fields come one by one, in JSON or as bytes, is the one that protobuf-es reads of them all", () => {
  const kinds = messageOf(schema, "k.Kinds");
  const codec = compileCodec(kinds, contextWith());
  const form = { kind: "multipart", boundary: "b", target: { message: kinds, above: [] } } as const;
  const isBytes = (key: string) => /^[fow]_?[bB]ytes$/.test(key);
  const partOf = ([key, value]: [string, unknown]): Part | undefined => {
    if (!isBytes(key)) return [`name="${key}"\r\nContent-Type: application/json`, JSON.stringify(value)];
    return typeof value === "string" ? [`name="${key}"`, Buffer.from(value, "base64").toString("latin1")] : undefined;
  };
  fc.assert(
    fc.property(jsonOf(kinds, 3) as fc.Arbitrary<object>, (message) => {
      const parts = Object.entries(message).map(partOf);
      const text = formText("b", ...parts.filter((part) => part !== undefined));
      // The contents of bytes as they are, all else in UTF-8.
      const bytes = Buffer.concat(text.split(/(?=\r\n--b)/).map((piece) => Buffer.from(piece, encodingOf(piece))));
      const reader = openForm(
        form,
        { input: codec, output: codec },
        { unknownFields: "error", maxDepth: 100, readMaxBytes: 1 << 20, maxParameters: 1000 },
      );
      expect(reader.push(bytes)).toEqual([]);
      expect(shown("k.Kinds", reader.end() ?? new Uint8Array(0))).toEqual(
        shownJson("k.Kinds", JSON.stringify(message)),
      );
    }),
    { numRuns: 300 },
  );
});

function encodingOf(piece: string): "latin1" | "utf8" {
  return piece.includes("application/json") ? "utf8" : "latin1";
}
