import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { failure } from "../failure.ts";
import { formText, MULTIPART, type Part, send, URLENCODED } from "./forms.ts";
import { contextOf } from "./shop.ts";

const post = (target: string, ...parts: readonly Part[]) => send(target, formText("b", ...parts), MULTIPART);

const JSON_TYPE = "\r\nContent-Type: application/json";

test("text that is not UTF-8 is refused, urlencoded or in a part", async () => {
  const latin1 = Uint8Array.of(0x6e, 0x61, 0x6d, 0x65, 0x3d, 0xe9);
  await expect(send("/v1/items", latin1, URLENCODED)).rejects.toEqual(failure(Code.InvalidArgument, "UTF-8"));
  const part = Buffer.from(formText("b", ['name="name"', "\u00e9"]), "latin1");
  await expect(send("/v1/items", part, MULTIPART)).rejects.toEqual(failure(Code.InvalidArgument, "name", "UTF-8"));
  const declared: Part = ['name="name"\r\nContent-Type: text/plain; charset=iso-8859-1', "a"];
  await expect(post("/v1/items", declared)).rejects.toEqual(failure(Code.InvalidArgument, "name", "iso-8859-1"));
});

test.each<[string, readonly Part[], unknown]>([
  ["/v1/items", [], {}],
  ["/v1/all/a", [], { item: { name: "a" } }],
  [
    "/v1/items",
    [
      ['name="name"', "a\r\nb"],
      ['name="size"', "2"],
    ],
    { item: { name: "a\r\nb", size: 2 } },
  ],
  [
    "/v1/items",
    [
      ['name="words"', "a"],
      ['name="words"', ""],
      ['name="part.newName"', "x"],
    ],
    { item: { words: ["a", ""], part: { newName: "x" } } },
  ],
  ["/v1/items", [['name="name"\r\nContent-Type: text/plain; charset=UTF-8', "\u00e9"]], { item: { name: "\u00e9" } }],
  // A file is a text where the field is one.
  ["/v1/items", [['name="name"; filename="a.txt"\r\nContent-Type: text/plain', "a"]], { item: { name: "a" } }],
  // JSON, messages and lists and maps and what has a JSON form of its own.
  [
    "/v1/items",
    [
      [`name="part"${JSON_TYPE}`, '{"name":"a","part":{"size":1}}'],
      ['name="size"', "2"],
    ],
    { item: { size: 2, part: { name: "a", part: { size: 1 } } } },
  ],
  [
    "/v1/items",
    [
      [`name="part.part"${JSON_TYPE}`, '{"name":"a"}'],
      ['name="part.size"', "2"],
    ],
    { item: { part: { size: 2, part: { name: "a" } } } },
  ],
  ["/v1/items", [[`name="parts"${JSON_TYPE}`, '[{"name":"a"},{}]']], { item: { parts: [{ name: "a" }, {}] } }],
  [
    "/v1/items",
    [
      [`name="words"${JSON_TYPE}`, '["a","b"]'],
      ['name="words"', "c"],
    ],
    { item: { words: ["a", "b", "c"] } },
  ],
  ["/v1/items", [[`name="labels"${JSON_TYPE}`, '{"k":{"name":"v"}}']], { item: { labels: { k: { name: "v" } } } }],
  ["/v1/items", [[`name="extra"${JSON_TYPE}`, '{"k":[1,null]}']], { item: { extra: { k: [1, null] } } }],
  ["/v1/items", [[`name="name"${JSON_TYPE}`, ' "a" ']], { item: { name: "a" } }],
  [
    "/v1/items",
    [
      [`name="part"${JSON_TYPE}`, "null"],
      [`name="words"${JSON_TYPE}`, "[]"],
    ],
    {},
  ],
  ["/v1/items", [['name="size"\r\nContent-Type: application/vnd.x+json;charset=utf-8', "2"]], { item: { size: 2 } }],
  ["/v1/all/a", [[`name="item"${JSON_TYPE}`, '{"size":1}']], { item: { name: "a", size: 1 } }],
  ["/v1/all/a", [[`name="item"${JSON_TYPE}`, '{"name":"a"}']], { item: { name: "a" } }],
  ["/v1/all/a", [[`name="left"${JSON_TYPE}`, '"x"']], { item: { name: "a" }, left: "x" }],
  // Bytes as they are, whatever their type says; BAAK is \x04\0\n.
  ["/v1/store", [['name="thumb"; filename="t.json"\r\nContent-Type: application/json', "\x04\0\n"]], { thumb: "BAAK" }],
  ["/v1/store", [['name="thumb"', "BAAK"]], { thumb: Buffer.from("BAAK").toString("base64") }],
  ["/v1/store", [['name="digest"', "\x04\0\n"]], { digest: "BAAK" }],
  [
    "/v1/store",
    [
      ['name="chunks"', "\x04\0\n"],
      ['name="chunks"', ""],
    ],
    { chunks: ["BAAK", ""] },
  ],
  ["/v1/all/a", [['name="data"; filename="x"', ""]], { item: { name: "a" } }],
  // An HttpBody: bytes and their type.
  [
    "/v1/store",
    [
      ['name="content"; filename="x.png"\r\nContent-Type: image/png', "\x04\0\n"],
      ['name="note"', "n"],
    ],
    { content: { contentType: "image/png", data: "BAAK" }, note: "n" },
  ],
  [
    "/v1/store",
    [[`name="content"${JSON_TYPE}`, "\x04\0\n"]],
    { content: { contentType: "application/json", data: "BAAK" } },
  ],
  ["/v1/store", [['name="content"', "\x04\0\n"]], { content: { data: "BAAK" } }],
  ["/v1/store", [['name="content"; filename="empty"', ""]], { content: {} }],
  [
    "/v1/store",
    [
      ['name="inner.inner.content"', "\x04\0\n"],
      ['name="inner.note"', "n"],
    ],
    { inner: { note: "n", inner: { content: { data: "BAAK" } } } },
  ],
  [
    "/v1/store",
    [
      ['name="more"; filename="a"\r\nContent-Type: a/a', ""],
      ['name="more"; filename="b"', "\x04\0\n"],
    ],
    { more: [{ contentType: "a/a" }, { data: "BAAK" }] },
  ],
  // A file that nobody chose.
  [
    "/v1/store",
    [
      ['name="content"; filename=""\r\nContent-Type: application/octet-stream', ""],
      ['name="note"', "n"],
    ],
    { note: "n" },
  ],
  ["/v1/store", [['name="content"; filename=""', "\x04\0\n"]], { content: { data: "BAAK" } }],
  // Where the body is an HttpBody: of the field, and of the whole message.
  [
    "/v1/files/f?thumb=BAAK",
    [
      ['name="content"\r\nContent-Type: a/b', "\x04\0\n"],
      ['name="note"', "n"],
    ],
    { name: "f", thumb: "BAAK", note: "n", content: { contentType: "a/b", data: "BAAK" } },
  ],
  ["/v1/files/f", [['name="name"', "f"]], { name: "f" }],
  [
    "/v1/raw",
    [['name="whatever"; filename="x"\r\nContent-Type: a/b', "\x04\0\n"]],
    { contentType: "a/b", data: "BAAK" },
  ],
  ["/v1/raw", [], {}],
])("POST %s, multipart %j", async (target, parts, message) => {
  expect(await post(target, ...parts)).toEqual(message);
});

test.each<[string, readonly Part[], string]>([
  ["/v1/items", [['name="nothing"', "1"]], "nothing"],
  ["/v1/items", [['name=""', "1"]], "no such field"],
  ["/v1/items", [['name="__proto__"', "1"]], "__proto__"],
  ["/v1/items", [['name="part.__proto__.name"', "1"]], "part.__proto__.name"],
  ["/v1/items", [['name="words[]"', "1"]], "words[]"],
  ["/v1/items", [['name="size"', "x"]], "size"],
  ["/v1/items", [['name="size"', ""]], "size"],
  [
    "/v1/items",
    [
      ['name="name"', "a"],
      ['name="name"', "b"],
    ],
    "name",
  ],
  ["/v1/items", [['name="part"', "{}"]], "part is a shop.v1.Item: send it as application/json"],
  ["/v1/items", [['name="parts"', "[]"]], "parts is a list of messages: send it as application/json"],
  ["/v1/items", [['name="labels"', "{}"]], "labels is a map: send it as application/json"],
  ["/v1/items", [[`name="part"${JSON_TYPE}`, '{"name":1}']], "part.name"],
  ["/v1/items", [[`name="part"${JSON_TYPE}`, '{"nothing":1}']], "part.nothing"],
  ["/v1/items", [[`name="part"${JSON_TYPE}`, ""]], "part: is empty"],
  ["/v1/items", [[`name="part"${JSON_TYPE}`, "{} {}"]], "part: invalid JSON"],
  ["/v1/items", [[`name="part.size"${JSON_TYPE}`, '"x"']], "part.size"],
  [
    "/v1/items",
    [
      [`name="part"${JSON_TYPE}`, "{}"],
      ['name="part.name"', "a"],
    ],
    "part is given twice",
  ],
  [
    "/v1/items",
    [
      ['name="part.name"', "a"],
      [`name="part"${JSON_TYPE}`, "{}"],
    ],
    "part: more than one value",
  ],
  [
    "/v1/items",
    [
      [`name="labels"${JSON_TYPE}`, '{"a":{}}'],
      [`name="labels"${JSON_TYPE}`, '{"a":{}}'],
    ],
    "labels: more than one value",
  ],
  ["/v1/all/a", [[`name="item"${JSON_TYPE}`, '{"name":"b"}']], "item.name"],
  [
    "/v1/all/a",
    [
      ['name="left"', "a"],
      ['name="right"', "b"],
    ],
    "choice",
  ],
  [
    "/v1/store",
    [
      ['name="content"', "a"],
      ['name="content"', "b"],
    ],
    "content",
  ],
  [
    "/v1/store",
    [
      ['name="content"', "a"],
      ['name="content.content_type"', "b"],
    ],
    "content is given twice",
  ],
  ["/v1/files/f", [['name="name"', "g"]], "name"],
  ["/v1/files/f?note=x", [['name="note"', "n"]], "note"],
  [
    "/v1/raw",
    [
      ['name="a"', "1"],
      ['name="b"', "2"],
    ],
    "b: a form for google.api.HttpBody is one part",
  ],
])("POST %s, multipart %j is refused", async (target, parts, mention) => {
  await expect(post(target, ...parts)).rejects.toEqual(failure(Code.InvalidArgument, mention));
});

test("errors in a JSON part tell its own lines and columns, and the path in the message", async () => {
  const refused = post("/v1/all/a", ['name="count"', "1"], [`name="item.part"${JSON_TYPE}`, '{\n  "size": "x"}']);
  await expect(refused).rejects.toEqual(failure(Code.InvalidArgument, "item.part.size", "line 2, column 11"));
});

test("nesting is counted from the request message on, in the name of a part and in its JSON", async () => {
  const parts = (levels: number): Part => {
    const name = Array.from({ length: 50 }, () => "part").join(".");
    const json = `${'{"part":'.repeat(levels - 50)}{}${"}".repeat(levels - 50)}`;
    return [`name="${name}"${JSON_TYPE}`, json];
  };
  // The request and its item are two levels.
  await expect(post("/v1/items", parts(98))).resolves.toBeTypeOf("object");
  await expect(post("/v1/items", parts(99))).rejects.toEqual(failure(Code.InvalidArgument, "nesting"));
});

test("unknown names are skipped where unknown fields are", async () => {
  const parts: Part[] = [
    ['name="nothing"', "1"],
    ['name="part.nothing.more"; filename="x"', "1"],
    [`name="part"${JSON_TYPE}`, '{"nothing":1,"name":"a"}'],
  ];
  const lenient = (body: string, headers: Record<string, string>) =>
    send("/v1/items", body, headers, { unknownFields: "ignore" });
  await expect(lenient(formText("b", ...parts.slice(0, 2)), MULTIPART)).resolves.toEqual({});
  await expect(lenient("nothing=1&name=a&part.nothing=2", URLENCODED)).resolves.toEqual({ item: { name: "a" } });
  await expect(lenient("size=x", URLENCODED)).rejects.toEqual(failure(Code.InvalidArgument, "size"));
  // What JSON may hold, the codec says.
  await expect(lenient(formText("b", ...parts), MULTIPART)).rejects.toEqual(
    failure(Code.InvalidArgument, "part.nothing"),
  );
  expect(contextOf().options.unknownFields).toBe("error");
});

test("FormData of any client is bound", async () => {
  const data = new FormData();
  data.append("name", "a");
  data.append("note", "b");
  data.append("content", new File([Uint8Array.of(4, 0, 10)], 'q"q.png', { type: "image/png" }));
  data.append("more", new Blob([Uint8Array.of(4, 0, 10)]));
  const request = new Response(data);
  const contentType = request.headers.get("content-type") ?? "";
  const message = await send("/v1/store", await request.arrayBuffer(), { "content-type": contentType });
  const content = { contentType: "image/png", data: "BAAK" };
  expect(message).toEqual({
    name: "a",
    note: "b",
    content,
    more: [{ contentType: "application/octet-stream", data: "BAAK" }],
  });
  const fields = new URLSearchParams([
    ["name", "a b"],
    ["inner.note", "\u00e9&="],
  ]);
  expect(await send("/v1/store", fields, {})).toEqual({ name: "a b", inner: { note: "\u00e9&=" } });
});

test("a compressed form is decoded first", async () => {
  const body = new Uint8Array(gzipSync(formText("b", ['name="name"', "a"])));
  expect(await send("/v1/items", body, { ...MULTIPART, "content-encoding": "gzip" })).toEqual({ item: { name: "a" } });
  const urlencoded = new Uint8Array(gzipSync("name=a"));
  expect(await send("/v1/items", urlencoded, { ...URLENCODED, "content-encoding": "gzip" })).toEqual({
    item: { name: "a" },
  });
});

test("the whole form is under the limit of a message, and has a thousand fields at most", async () => {
  const large: Part = ['name="name"', "a".repeat(2_000)];
  const limited = { readMaxBytes: 2_000 };
  await expect(send("/v1/items", formText("b", large), MULTIPART, limited)).rejects.toEqual(
    failure(Code.ResourceExhausted, "2000"),
  );
  await expect(send("/v1/items", `name=${"a".repeat(2_000)}`, URLENCODED, limited)).rejects.toEqual(
    failure(Code.ResourceExhausted, "2000"),
  );
  const words = Array.from({ length: 1_000 }, (_, i): Part => ['name="words"', `${i}`]);
  const pairs = words.map(([, word]) => `words=${word}`);
  const all = { item: { words: words.map(([, word]) => word) } };
  expect(await post("/v1/items", ...words)).toEqual(all);
  expect(await send("/v1/items", pairs.join("&"), URLENCODED)).toEqual(all);
  const tooMany = failure(Code.ResourceExhausted, "1000");
  await expect(post("/v1/items", ...words, ['name="words"', ""])).rejects.toEqual(tooMany);
  await expect(send("/v1/items", [...pairs, "words="].join("&"), URLENCODED)).rejects.toEqual(tooMany);
  const flood = "&".repeat(1 << 20);
  await expect(send("/v1/items", flood, URLENCODED, { readMaxBytes: 1 << 20 })).rejects.toEqual(tooMany);
});

test("what is no part of the form is an error of the form, and no field is named", async () => {
  const error = await send("/v1/items", "name=a", MULTIPART).catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.InvalidArgument, "multipart/form-data"));
  expect(error instanceof ConnectError && error.details).toEqual([]);
});
