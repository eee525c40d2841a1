import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bound, BoundValue, EncodeRequest } from "../../src/codec/codec.ts";
import { failure } from "../failure.ts";
import { messageOf } from "../proto.ts";
import { bind, expectOneRecordEach } from "./bind.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { encoderOf, errorOf, fieldOf, schema, shown, shownJson, utf8 } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");
const encoder = encoderOf("k.Kinds");

function encode(request: EncodeRequest): unknown {
  const { wire } = encoder.encodeRequest(request);
  expectOneRecordEach(kinds, wire);
  return shown("k.Kinds", wire);
}

const none = bind({});
const json = (value: unknown) => shownJson("k.Kinds", JSON.stringify(value));
const field = (name: string) => fieldOf(kinds, name);

describe("encodeRequest without a body", () => {
  it("writes what is bound, whatever the JSON", () => {
    const bound = bind({
      f_string: "a",
      r_int32: ["1", "2"],
      "f_kinds.f_int32": "5",
      "f_kinds.f_kinds.f_bool": "true",
    });
    expect(encode({ bound, json: utf8("[") })).toEqual(
      json({ fString: "a", rInt32: [1, 2], fKinds: { fInt32: 5, fKinds: { fBool: true } } }),
    );
    expect(encoder.encodeRequest({ bound: none }).wire).toHaveLength(0);
  });

  it("writes a bound zero, and a message of which nothing is set", () => {
    expect(encoder.encodeRequest({ bound: bind({ f_int32: "0" }) }).wire).toEqual(Uint8Array.of(3 << 3, 0));
    const empty: BoundValue = { kind: "message", bound: none };
    expect(encode({ bound: { fields: new Map([[field("f_kinds"), empty]]) } })).toEqual({ fKinds: {} });
  });

  it("refuses two members of a oneof", () => {
    for (const values of [
      { c_text: "a", c_number: "1" },
      { c_text: "a", "c_kinds.f_int32": "1" },
    ]) {
      expect(errorOf(() => encode({ bound: bind(values) })).rawMessage).toContain("choice");
    }
    const nested = bind({ "f_kinds.c_text": "a", "f_kinds.c_number": "1" });
    expect(errorOf(() => encode({ bound: nested })).rawMessage).toContain("f_kinds.c_number");
    expect(encode({ bound: bind({ "c_kinds.f_int32": "1", "c_kinds.f_string": "a" }) })).toEqual(
      json({ cKinds: { fInt32: 1, fString: "a" } }),
    );
  });

  it("refuses to nest deeper than the limit", () => {
    const path = (levels: number) => bind({ [`${"f_kinds.".repeat(levels - 1)}f_int32`]: "1" });
    expect(encoder.encodeRequest({ bound: path(100) }).wire.length).toBeGreaterThan(100);
    expect(errorOf(() => encoder.encodeRequest({ bound: path(101) })).rawMessage).toContain("depth");
    expect(errorOf(() => encoder.encodeRequest({ bound: path(20_000) })).rawMessage).toContain("depth");
  });
});

describe('encodeRequest with body "*"', () => {
  const star = (text: string, bound: Bound) => encode({ json: utf8(text), body: "*", bound });

  it("reads no text as the empty message, and null not at all", () => {
    expect(star("", bind({ f_string: "a" }))).toEqual({ fString: "a" });
    expect(encode({ body: "*", bound: bind({ f_string: "a" }) })).toEqual({ fString: "a" });
    expect(star("{}", none)).toEqual({});
    for (const text of [" ", "null", "[]", "{}{}"]) {
      expect(errorOf(() => star(text, none)).code).toBe(Code.InvalidArgument);
    }
  });

  it("writes bound values beside those of the JSON", () => {
    expect(star('{"fInt32":1,"rString":["x"]}', bind({ f_string: "a", f_bool: "false" }))).toEqual(
      json({ fInt32: 1, rString: ["x"], fString: "a" }),
    );
  });

  it.each([
    ['{"fString":"a"}', { f_string: "a" }, { fString: "a" }],
    ['{"f_string":"a"}', { f_string: "a" }, { fString: "a" }],
    ['{"fString":null}', { f_string: "a" }, { fString: "a" }],
    ['{"oInt32":0}', { o_int32: "0" }, { oInt32: 0 }],
    ['{"fInt32":1e2}', { f_int32: "100" }, { fInt32: 100 }],
    ['{"fBytes":"_w"}', { f_bytes: "/w==" }, { fBytes: "/w==" }],
    ['{"fColor":1}', { f_color: "RED" }, { fColor: "RED" }],
    ['{"rInt32":[1,2]}', { r_int32: ["1", "2"] }, { rInt32: [1, 2] }],
    ['{"rInt32":[]}', { r_int32: ["1", "2"] }, { rInt32: [1, 2] }],
    ['{"wInt32":0}', { w_int32: "0" }, { wInt32: 0 }],
    ['{"wInt32":0}', { "w_int32.value": "0" }, { wInt32: 0 }],
    ['{"wInt32":5}', { "w_int32.value": "5" }, { wInt32: 5 }],
    ['{"wInt32":null}', { "w_int32.value": "5" }, { wInt32: 5 }],
    ['{"tTime":"2024-01-01T01:00:00+01:00"}', { t_time: "2024-01-01T00:00:00Z" }, { tTime: "2024-01-01T00:00:00Z" }],
    ['{"tMask":"aB,c"}', { "t_mask.paths": ["a_b", "c"] }, { tMask: "aB,c" }],
    ['{"cText":"a"}', { c_text: "a" }, { cText: "a" }],
    ['{"fKinds":{"fString":"a","fInt32":1}}', { "f_kinds.f_string": "a" }, { fKinds: { fString: "a", fInt32: 1 } }],
    ['{"fKinds":null}', { "f_kinds.f_string": "a" }, { fKinds: { fString: "a" } }],
    [
      '{"fKinds":{"fKinds":{}}}',
      { "f_kinds.f_kinds.f_string": "a", "f_kinds.f_int32": "1" },
      { fKinds: { fKinds: { fString: "a" }, fInt32: 1 } },
    ],
  ])("writes %s and %o once", (text, values, expected) => {
    expect(star(text, bind(values))).toEqual(json(expected));
  });

  it("writes a zero that both have once", () => {
    const { wire } = encoder.encodeRequest({ json: utf8('{"fInt32":0}'), body: "*", bound: bind({ f_int32: "0" }) });
    expect(wire).toEqual(Uint8Array.of(3 << 3, 0));
  });

  it.each([
    ['{"fString":"b"}', { f_string: "a" }, "f_string"],
    ['{"fString":""}', { f_string: "a" }, "f_string"],
    ['{"f_string":"b"}', { f_string: "a" }, "f_string"],
    ['{"fInt32":0}', { f_int32: "1" }, "f_int32"],
    ['{"fInt32":1}', { f_int32: "0" }, "f_int32"],
    ['{"rInt32":[1]}', { r_int32: ["1", "2"] }, "r_int32"],
    ['{"rInt32":[2,1]}', { r_int32: ["1", "2"] }, "r_int32"],
    ['{"wInt32":5}', { w_int32: "0" }, "w_int32"],
    ['{"wInt32":5}', { "w_int32.value": "0" }, "w_int32"],
    ['{"tTime":"2024-01-01T00:00:00Z"}', { "t_time.seconds": "5" }, "t_time"],
    ['{"fKinds":{"fString":"b"}}', { "f_kinds.f_string": "a" }, "f_kinds.f_string"],
    ['{"fKinds":{"fKinds":{"fInt32":2}}}', { "f_kinds.f_kinds.f_int32": "1" }, "f_kinds.f_kinds.f_int32"],
  ])("refuses %s against %o", (text, values, name) => {
    const error = errorOf(() => star(text, bind(values)));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain(`${name}: the body has another value than the path`);
    expect(error.details).toMatchObject([{ type: "google.rpc.BadRequest" }]);
  });

  it("refuses members of one oneof over JSON and path", () => {
    for (const [text, values] of [
      ['{"cNumber":1}', { c_text: "a" }],
      ['{"cKinds":{}}', { c_text: "a" }],
      ['{"cText":"a"}', { "c_kinds.f_int32": "1" }],
      ['{"fKinds":{"cNumber":1}}', { "f_kinds.c_text": "a" }],
    ] as const) {
      expect(errorOf(() => star(text, bind(values))).rawMessage).toContain("choice");
    }
    expect(star('{"cNumber":null}', bind({ c_text: "a" }))).toEqual({ cText: "a" });
  });

  it("puts a bound value in place of an ignored one", () => {
    const lenient = encoderOf("k.Kinds", { unknownFields: "ignore" });
    const { wire } = lenient.encodeRequest({
      json: utf8('{"fColor":"SONG"}'),
      body: "*",
      bound: bind({ f_color: "RED" }),
    });
    expect(shown("k.Kinds", wire)).toEqual({ fColor: "RED" });
  });
});

describe("encodeRequest with random bodies", () => {
  const leaves = { f_string: "a", o_int32: "0", "f_kinds.f_int32": "7", "f_kinds.f_kinds.o_string": "" };
  type Json = Record<string, unknown>;

  /** Sets or removes a leaf, under whichever name; the messages above it are made when there are none. */
  function put(json: Json, path: string, value?: unknown): void {
    const [step = "", ...rest] = path.split(".");
    const { name, jsonName } = field(step);
    const known = json[name] ?? json[jsonName];
    delete json[name];
    delete json[jsonName];
    if (rest.length === 0) {
      if (value !== undefined) json[name] = value;
      return;
    }
    const below = (known ?? {}) as Json;
    json[jsonName] = below;
    put(below, rest.join("."), value);
  }

  it("gives the message that the body alone would give, had it all", () => {
    const bound = fc.subarray(Object.entries(leaves));
    fc.assert(
      fc.property(jsonOf(kinds, 4), bound, fc.boolean(), (value, values, inBody) => {
        const body = structuredClone(value) as Json;
        const whole = structuredClone(value) as Json;
        for (const [path, text] of values) {
          put(body, path, inBody ? text : undefined);
          put(whole, path, text);
        }
        const request = {
          json: utf8(JSON.stringify(body)),
          body: "*",
          bound: bind(Object.fromEntries(values)),
        } as const;
        expect(encode(request)).toEqual(json(whole));
      }),
      { numRuns: 300 },
    );
  });
});

describe("encodeRequest with a field as body", () => {
  const body = (name: string, text: string, bound = none) => encode({ json: utf8(text), body: field(name), bound });

  it.each([
    ["f_kinds", '{"fInt32":1}', { fKinds: { fInt32: 1 } }],
    ["f_kinds", "{}", { fKinds: {} }],
    ["f_kinds", "null", {}],
    ["f_kinds", "", {}],
    ["f_string", '"a"', { fString: "a" }],
    ["f_string", "null", {}],
    ["r_string", '["a","b"]', { rString: ["a", "b"] }],
    ["r_kinds", '[{"fInt32":1},{}]', { rKinds: [{ fInt32: 1 }, {}] }],
    ["m_string", '{"a":"b"}', { mString: { a: "b" } }],
    ["w_int32", "0", { wInt32: 0 }],
    ["w_int32", "null", {}],
    ["s_value", "null", { sValue: null }],
    ["s_value", "[1]", { sValue: [1] }],
    ["t_time", '"2024-01-01T00:00:00Z"', { tTime: "2024-01-01T00:00:00Z" }],
  ])("%s: %s", (name, text, expected) => {
    expect(body(name, text)).toEqual(json(expected));
    expect(body(name, text, bind({ o_int32: "0" }))).toEqual(json({ ...expected, oInt32: 0 }));
  });

  it.each([
    ["f_kinds", " "],
    ["f_kinds", "[]"],
    ["f_kinds", "{} {}"],
    ["r_string", '"a"'],
    ["r_string", "[null]"],
  ])("refuses %s: %j", (name, text) => {
    expect(errorOf(() => body(name, text)).code).toBe(Code.InvalidArgument);
  });

  it("names the body field in errors", () => {
    expect(errorOf(() => body("r_string", '"a"')).rawMessage).toContain("r_string");
    expect(errorOf(() => body("f_kinds", '{"rInt32":[true]}')).rawMessage).toContain("f_kinds.r_int32[0]");
  });

  it("writes what is bound below the field inside its record", () => {
    const bound = bind({ "f_kinds.f_string": "a", "f_kinds.f_kinds.f_int32": "7", o_string: "q" });
    for (const [text, expected] of [
      ['{"fInt32":1}', { fString: "a", fInt32: 1, fKinds: { fInt32: 7 } }],
      ['{"fString":"a","fKinds":{"fBool":true}}', { fString: "a", fKinds: { fInt32: 7, fBool: true } }],
      ["null", { fString: "a", fKinds: { fInt32: 7 } }],
      ["", { fString: "a", fKinds: { fInt32: 7 } }],
    ] as const) {
      expect(body("f_kinds", text, bound)).toEqual(json({ fKinds: expected, oString: "q" }));
    }
    expect(errorOf(() => body("f_kinds", '{"fString":"b"}', bound)).rawMessage).toContain("f_kinds.f_string");
  });

  it("compares with what is bound to the field itself", () => {
    expect(body("f_string", '"a"', bind({ f_string: "a" }))).toEqual({ fString: "a" });
    expect(errorOf(() => body("f_string", '"b"', bind({ f_string: "a" }, "query"))).rawMessage).toContain("query");
  });

  it("refuses members of one oneof over body, path and query", () => {
    expect(errorOf(() => body("c_number", "1", bind({ c_text: "a" }))).rawMessage).toContain("choice");
    expect(body("c_number", "null", bind({ c_text: "a" }))).toEqual({ cText: "a" });
  });
});

describe("encodeRequest of a field below others", () => {
  const above = [field("f_kinds"), field("f_kinds")];
  const deep = (name: string, text: string) => ({ json: utf8(text), body: field(name), above, bound: none });

  it("writes the records of that field alone", () => {
    expect(encode(deep("f_string", '"a"'))).toEqual(json({ fString: "a" }));
    expect(encode(deep("r_int32", "[1,2]"))).toEqual(json({ rInt32: [1, 2] }));
    expect(encode(deep("f_kinds", '{"fBool":true}'))).toEqual(json({ fKinds: { fBool: true } }));
    expect(encoder.encodeRequest(deep("f_string", "null")).wire).toHaveLength(0);
  });

  it("collects leaf paths from the message on", () => {
    const maskOf = (name: string, text: string) => encoder.encodeRequest({ ...deep(name, text), mask: true }).mask;
    expect(maskOf("f_kinds", '{"fInt32":0,"oString":null}')).toEqual([
      "f_kinds.f_kinds.f_kinds.f_int32",
      "f_kinds.f_kinds.f_kinds.o_string",
    ]);
    expect(maskOf("f_string", "null")).toEqual(["f_kinds.f_kinds.f_string"]);
    expect(maskOf("r_int32", "[1]")).toEqual(["f_kinds.f_kinds.r_int32"]);
  });

  it("names it by its whole path, and counts its level from the root", () => {
    expect(errorOf(() => encoder.encodeRequest(deep("f_int32", '"x"'))).rawMessage).toContain(
      "f_kinds.f_kinds.f_int32",
    );
    const nested = (levels: number) => `${'{"fKinds":'.repeat(levels)}{}${"}".repeat(levels)}`;
    // Three messages contain the field, of which it is the fourth.
    expect(() => encoder.encodeRequest(deep("f_kinds", nested(96)))).not.toThrow();
    expect(() => encoder.encodeRequest(deep("f_kinds", nested(97)))).toThrow(failure(Code.InvalidArgument, "depth"));
  });
});

describe("encodeRequest collects leaf paths", () => {
  const maskOf = (text: string, values = {}, name?: string) =>
    encoder.encodeRequest({
      json: utf8(text),
      body: name === undefined ? "*" : field(name),
      bound: bind(values),
      mask: true,
    }).mask;

  it("in proto names, null included, below the body field", () => {
    const text = '{"fInt32":0,"oString":null,"fKinds":{"fBool":true,"f_kinds":{"rInt32":[1]}}}';
    const leaves = ["f_int32", "o_string", "f_kinds.f_bool", "f_kinds.f_kinds.r_int32"];
    expect(maskOf(text, {}, "f_kinds")).toEqual(leaves);
    expect(maskOf(text)).toEqual(leaves);
  });

  it("without entering lists, maps and well-known types", () => {
    const text =
      '{"rKinds":[{"fInt32":1}],"mKinds":{"a":{"fInt32":1}},"sStruct":{"a":1},"tTime":null,"wInt32":1,"sAny":{"@type":"t/k.Kinds","fInt32":1},"cText":"a"}';
    expect(maskOf(text, {}, "f_kinds")).toEqual([
      "r_kinds",
      "m_kinds",
      "s_struct",
      "t_time",
      "w_int32",
      "s_any",
      "c_text",
    ]);
  });

  it("takes an object without keys, or null, for a leaf", () => {
    expect(maskOf('{"fKinds":{},"cKinds":null}', {}, "f_kinds")).toEqual(["f_kinds", "c_kinds"]);
    expect(maskOf("{}", {}, "f_kinds")).toEqual([]);
    expect(maskOf("null", {}, "f_kinds")).toEqual([]);
    expect(maskOf("", {}, "f_kinds")).toEqual([]);
    expect(maskOf("[1]", {}, "r_int32")).toEqual([]);
  });

  it("without what is bound", () => {
    const values = { "f_kinds.f_string": "a", "f_kinds.f_kinds.f_string": "b" };
    expect(maskOf('{"fString":"a","fInt32":1}', values, "f_kinds")).toEqual(["f_int32"]);
    expect(maskOf('{"fKinds":{"fString":"b"}}', values, "f_kinds")).toEqual([]);
    expect(maskOf('{"fKinds":{}}', values, "f_kinds")).toEqual([]);
    expect(maskOf('{"fKinds":null}', values, "f_kinds")).toEqual([]);
  });

  it("only when asked", () => {
    expect(encoder.encodeRequest({ json: utf8("{}"), body: "*", bound: none })).not.toHaveProperty("mask");
  });

  it("up to a million characters, which a recursive schema makes of a small body", () => {
    const names = kinds.fields.filter(({ oneof, name }) => !oneof && name !== "f_kinds").map(({ name }) => name);
    /** Every field but one is a leaf on every level. */
    const bodyOf = (levels: number) => {
      const leaves = names.map((name) => `"${name}":null`).join();
      return [`{"fKinds":`.repeat(levels - 1), `{${leaves}}`, `,${leaves}}`.repeat(levels - 1)].join("");
    };
    /** `f_kinds.` once for each level above. */
    const lengthOf = (levels: number) =>
      Array.from({ length: levels }, (_, above) =>
        names.reduce((sum, name) => sum + 8 * above + name.length, 0),
      ).reduce((sum, length) => sum + length);
    let levels = 1;
    while (lengthOf(levels + 1) <= 2 ** 20) levels++;
    expect(levels).toBeLessThan(99);
    expect(maskOf(bodyOf(levels))?.join("")).toHaveLength(lengthOf(levels));
    const error = errorOf(() => maskOf(bodyOf(levels + 1)));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain("update mask");
    // Nobody asks for a mask of it: it is as good as any.
    expect(encoder.encodeRequest({ json: utf8(bodyOf(levels + 1)), body: "*", bound: none })).toBeDefined();
  });
});
