/** The same calls, and the same results, whatever library the backend uses. */
import { afterAll, describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway.ts";
import { FAILURE, REASON, shopSet } from "./shop.ts";

export interface Backend {
  readonly url: string;
  stop(): void;
}

type Json = Readonly<Record<string, unknown>>;

interface Case {
  readonly what: string;
  readonly request: readonly [method: string, path: string, json?: Json];
  /** The request message, in JSON. */
  readonly means: Json;
}

const BOOK = "shelves/s1/books/b1";

const BINDINGS: readonly Case[] = [
  {
    what: "the path binds a field of the body field; PATCH has its mask",
    request: ["PATCH", `/v1/${BOOK}`, { title: "T", author: { lastName: "L" }, tags: ["a"] }],
    means: {
      book: { name: BOOK, title: "T", author: { lastName: "L" }, tags: ["a"] },
      updateMask: "title,author.lastName,tags",
    },
  },
  {
    what: "null and empty values are in the mask of a PATCH",
    request: ["PATCH", `/v1/${BOOK}`, { title: null, tags: [], author: {} }],
    means: { book: { name: BOOK, author: {} }, updateMask: "title,tags,author" },
  },
  {
    what: "the mask that a PATCH gives counts",
    request: ["PATCH", `/v1/${BOOK}?updateMask=author.firstName`, { title: "T" }],
    means: { book: { name: BOOK, title: "T" }, updateMask: "author.firstName" },
  },
  {
    what: "the body field is empty",
    request: ["PATCH", `/v1/${BOOK}?allow_missing=true`, {}],
    means: { book: { name: BOOK }, allowMissing: true },
  },
  {
    what: 'the path binds at two depths of a body "*"',
    request: [
      "PUT",
      `/v1/${BOOK}/by/Ann`,
      { book: { author: { life: { born: 1900 }, lastName: "L" }, title: "T" }, allowMissing: true },
    ],
    means: {
      book: { name: BOOK, title: "T", author: { firstName: "Ann", lastName: "L", life: { born: 1900 } } },
      allowMissing: true,
    },
  },
  {
    what: 'a body "*" lacks the messages that the path binds into',
    request: ["PUT", `/v1/${BOOK}/by/Ann`, { updateMask: "title" }],
    means: { book: { name: BOOK, author: { firstName: "Ann" } }, updateMask: "title" },
  },
  {
    what: 'a body "*" has the path\'s values too',
    request: ["PUT", `/v1/${BOOK}/by/Ann`, { book: { author: { firstName: "Ann" }, name: BOOK, tags: ["a", ""] } }],
    means: { book: { name: BOOK, author: { firstName: "Ann" }, tags: ["a", ""] } },
  },
  {
    what: "query and path share parents, in any order",
    request: [
      "GET",
      `/v1/${BOOK}:update?book.author.life.born=1900&book.title=T&book.author.last_name=L&allow_missing=true&book.author.life.died=1980`,
    ],
    means: {
      book: { name: BOOK, title: "T", author: { lastName: "L", life: { born: 1900, died: 1980 } } },
      allowMissing: true,
    },
  },
];

const EXTREMES = {
  d: -1.7976931348623157e308,
  f: 0.5,
  i64: "-9223372036854775808",
  u64: "18446744073709551615",
  i32: -2147483648,
  f64: "18446744073709551615",
  f32: 4294967295,
  yes: true,
  text: "café ☕ 😀 \u2028 \u0000",
  data: "AP/+",
  u32: 4294967295,
  colour: "RED",
  sf32: -2147483648,
  sf64: "-9223372036854775808",
  s32: -2147483648,
  s64: "9223372036854775807",
};

/** Messages whose JSON, sent as a body, is also the answer. */
const ECHOES: Readonly<Record<string, Json>> = {
  nothing: {},
  "scalars at their ends": EXTREMES,
  "numbers that are none": { d: "NaN", f: "-Infinity" },
  "an enum number without a name": { colour: 7, colours: ["RED", -1, "COLOUR_UNSPECIFIED"] },
  "zero where presence is explicit": { maybe: false, word: "", count: "0", hue: "COLOUR_UNSPECIFIED" },
  "values where presence is explicit": { maybe: true, word: "w", count: "-9007199254740993", hue: "RED" },
  "a oneof's zero text": { left: "" },
  "a oneof's zero number": { right: "0" },
  "a oneof's number": { right: "18446744073709551615" },
  "a oneof's empty message": { who: {} },
  "a oneof's message": { who: { firstName: "A", life: { born: -1 } } },
  lists: { numbers: [0, -1, 2147483647], words: ["", "a", "a"], authors: [{}, { lastName: "L", life: {} }, {}] },
  maps: {
    counts: { "": 0, key: -1 },
    byId: { "-9007199254740993": { firstName: "A" }, "0": {} },
    byFlag: { false: "", true: "AP8=" },
  },
  "empty messages at three levels": { child: { child: { child: {} } } },
  "a message in a message of its kind": { child: { ...EXTREMES, child: { maybe: false, counts: { a: 1 } } } },
  "well-known types": {
    at: "2024-02-29T12:00:00.000000001Z",
    lasts: "-1.500s",
    extra: { a: [null, true, 1.5, "x", { b: {} }], "": null },
    title: "t",
    total: "-9223372036854775808",
  },
  "well-known types that are zero": { at: "1970-01-01T00:00:00Z", lasts: "0s", extra: {}, title: "", total: "0" },
  "an Any": { any: { "@type": "type.googleapis.com/shop.v1.Author", firstName: "A", life: { died: 1 } } },
};

const QUERIES: readonly Case[] = [
  {
    what: "leaves of one parent in any order, and what is zero",
    request: [
      "GET",
      "/v1/everything?child.maybe=false&words=a&child.child.text=x&i64=-1&words=&child.colour=RED&child.child.word=&count=0",
    ],
    means: {
      i64: "-1",
      words: ["a", ""],
      count: "0",
      child: { maybe: false, colour: "RED", child: { text: "x", word: "" } },
    },
  },
  {
    what: "a oneof, well-known types, bytes, lists of numbers",
    request: [
      "GET",
      "/v1/everything?who.life.born=1900&at=2024-02-29T12:00:00.5Z&lasts=1.5s&title=&total=7&data=AP8%3D&numbers=1&numbers=-2&who.first_name=A",
    ],
    means: {
      who: { firstName: "A", life: { born: 1900 } },
      at: "2024-02-29T12:00:00.500Z",
      lasts: "1.500s",
      title: "",
      total: "7",
      data: "AP8=",
      numbers: [1, -2],
    },
  },
];

/** Defines the tests of one backend. */
export function battery({ url, stop }: Backend): void {
  afterAll(stop);
  const gateway = createGateway({ schema: shopSet, backends: { "*": { url } } });

  function send(method: string, path: string, json?: Json, headers: Record<string, string> = {}): Promise<Response> {
    const init = json && { body: JSON.stringify(json), headers: { ...headers, "content-type": "application/json" } };
    return gateway.fetch(new Request(`http://gateway${path}`, { method, headers, ...init }));
  }

  async function expectAnswer(response: Response, json: Json): Promise<void> {
    expect(await response.json()).toEqual(json);
    expect(response.status).toBe(200);
  }

  describe("gets the whole request when", () => {
    it.each([...BINDINGS, ...QUERIES])("$what", async ({ request, means }) => {
      await expectAnswer(await send(...request), means);
    });
  });

  describe("gets and gives", () => {
    it.each(Object.entries(ECHOES))("%s", async (_, json) => {
      await expectAnswer(await send("POST", "/v1/everything", json), json);
    });

    it.each(Object.entries(ECHOES))("%s, as the body field and the response's", async (_, json) => {
      await expectAnswer(await send("POST", "/v1/everything/it", json), json);
    });

    it("a message over 64 KiB", async () => {
      const json = { words: Array.from({ length: 20_000 }, (_, i) => `word ${i}`) };
      await expectAnswer(await send("POST", "/v1/everything", json), json);
    });
  });

  it("fails with code, message, details and metadata", async () => {
    const response = await send("GET", "/v1/everything", undefined, { "x-fail": "1" });
    expect(await response.json()).toEqual({
      code: 8,
      message: FAILURE.message,
      details: [{ "@type": "type.googleapis.com/shop.v1.Reason", why: REASON.why, limit: String(REASON.limit) }],
    });
    expect(response.status).toBe(429);
    expect(response.headers.get("x-cost")).toBe("9");
  });

  it("gets and gives metadata", async () => {
    const response = await send("GET", "/v1/everything", undefined, { "x-ask": "one, two", "x-ask-bin": "AP8" });
    expect(await response.json()).toEqual({});
    const { headers } = response;
    expect([headers.get("x-answer"), headers.get("x-answer-bin")]).toEqual(["one, two", "AP8"]);
    expect(headers.get("trailer-x-end")).toBe("done");
  });
}
