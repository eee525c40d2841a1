/** What is rare, and no reason to be slow: unknown members and enum names, Any, field masks, objects of many keys. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Skipped } from "../../src/codec/codec.ts";
import { compileEncoder } from "../../src/codec/encode.ts";
import { encodeSlow } from "../../src/codec/encode-slow.ts";
import { compileFastEncoder } from "../../src/codec/fast-encode.ts";
import { messageOf } from "../proto.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { contextWith, errorOf, schema, shown, shownJson, utf8 } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");
const MAX_DEPTH = 12;
const strict = contextWith({ maxDepth: MAX_DEPTH });
const lenient = contextWith({ maxDepth: MAX_DEPTH, unknownFields: "ignore" });

type Encode = (json: Uint8Array, skipped: Skipped) => Uint8Array | undefined;

function fastIn(context: typeof strict): Encode {
  const fast = compileFastEncoder(kinds, context);
  if (!fast) throw new Error("no fast encoder");
  return fast.encode;
}

const slowIn =
  (context: typeof strict): Encode =>
  (json, skipped) =>
    encodeSlow(kinds, context, json, skipped);

/** Wire in hexadecimal and how much was skipped; undefined for an error. */
function outcome(encode: Encode, json: Uint8Array): string | undefined {
  const skipped: Skipped = { unknownFields: 0 };
  try {
    const wire = encode(json, skipped);
    return wire && `${Buffer.from(wire).toString("hex")} ${skipped.unknownFields}`;
  } catch {
    return undefined;
  }
}

function expectTaken(context: typeof strict, text: string): void {
  const json = utf8(text);
  const slow = outcome(slowIn(context), json);
  expect(slow, text).toBeDefined();
  expect(outcome(fastIn(context), json), text).toBe(slow);
}

function expectLeft(context: typeof strict, text: string): void {
  expect(outcome(fastIn(context), utf8(text)), text).toBeUndefined();
}

describe("unknown members and enum names that are ignored", () => {
  const fast = fastIn(lenient);
  const unknownMember = fc
    .tuple(fc.constantFrom("nope", "Ä", "@type", "value", "x.y", ""), fc.jsonValue({ maxDepth: 4 }))
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const odd = fc.oneof(
    unknownMember,
    fc.constantFrom('"fColor":"NOPE"', '"rColor":["RED","NOPE","Ä"]', '"rColor":["NOPE"]', '"oColor":"NOPE"'),
    fc.constantFrom('"mColor":{"1":"NOPE","2":"RED"}', '"nope":1e999', '"nope":"\\ud800"', '"nope":{"a":1,"a":2}'),
    fc.constantFrom('"nope":[1,]', '"nope":tru', '"nope":', '"nope":"\\x"', '"nope":{"a"}', '"nope":01'),
  );

  it("count, and leave the same wire as in the slow encoder", () => {
    let taken = 0;
    let skipping = 0;
    fc.assert(
      fc.property(jsonOf(kinds, 3), fc.array(odd, { maxLength: 3 }), fc.boolean(), (value, odds, isInside) => {
        const text = JSON.stringify(value);
        const members = [...odds, ...(text === "{}" ? [] : [text.slice(1, -1)])].join(",");
        const json = utf8(isInside ? `{"fKinds":{${members}},"rKinds":[{${members}},{}]}` : `{${members}}`);
        const own = outcome(fast, json);
        if (own === undefined) return;
        taken++;
        if (!own.endsWith(" 0")) skipping++;
        expect(own, new TextDecoder().decode(json)).toBe(outcome(slowIn(lenient), json));
      }),
      { numRuns: 4000 },
    );
    expect(taken).toBeGreaterThan(1000);
    expect(skipping).toBeGreaterThan(500);
  });

  it.each([
    '{"nope":1}',
    '{"nope":{"a":[{"b":null}],"c":"\\u00e4"},"fInt32":1,"more":[]}',
    '{"fColor":"NOPE","oColor":"NOPE","rColor":["NOPE","RED","NOPE"]}',
    '{"rColor":["NOPE","NOPE"]}',
    '{"mColor":{"1":"NOPE","2":"BLUE"}}',
    '{"rKinds":[{"nope":0},{"nope":0}],"nope":0}',
    '{"mString":{"a":""},"nope":{"a":0},"mKinds":{"b":{"nope":0}}}',
  ])("takes %s, and only where they are ignored", (text) => {
    expectTaken(lenient, text);
    expectLeft(strict, text);
  });

  it.each([
    '{"nope":1,"nope":1}',
    '{"nope":1,"\\u006eope":1}',
    '{"nope":[1,}',
    '{"nope":}',
    '{"nope":nul}',
    '{"nope" 1}',
  ])("leaves %s", (text) => expectLeft(lenient, text));

  it("leaves a key that is no UTF-8", () => {
    const json = Uint8Array.from([...utf8('{"a'), 0xff, ...utf8('":1}')]);
    expect(outcome(fast, json)).toBeUndefined();
  });
});

describe("Any", () => {
  const any = (content: string) => `{"sAny":${content}}`;

  it.each([
    "{}",
    '{"@type":"a/google.protobuf.Duration","value":"1s"}',
    '{"value":"1s","@type":"a/google.protobuf.Duration"}',
    '{ "value" : "1s" , "@type" : "a/b/google.protobuf.Duration" }',
    '{"fString":"a","@type":"/k.Kinds","fInt32":1}',
    '{"fKinds":{"fString":"@type"},"@type":"/k.Kinds","mString":{"@type":"x"}}',
    '{"@type":"/k.Kinds"}',
    '{"@type":"/google.protobuf.Empty"}',
    '{"value":{},"@type":"/google.protobuf.Any"}',
    '{"value":{"value":{"value":"1s","@type":"/google.protobuf.Duration"},"@type":"/google.protobuf.Any"},"@type":"/google.protobuf.Any"}',
    '{"value":{"sAny":{"fInt32":2,"@type":"/k.Kinds"},"@type":"/k.Kinds"},"@type":"/google.protobuf.Any"}',
    '{"@type":"/google.protobuf.Value","value":null}',
    '{"value":[{"a":{}},"}"],"@type":"/google.protobuf.ListValue"}',
    '{"value":{"@type":"x"},"@type":"/google.protobuf.Struct"}',
    '{"value":"aB,c","@type":"/google.protobuf.FieldMask"}',
    '{"value":0,"@type":"/google.protobuf.Int32Value"}',
    '{"value":"AA","@type":"/google.protobuf.BytesValue"}',
    '{"value":"2024-01-31T12:00:00Z","@type":"/google.protobuf.Timestamp"}',
    '{"@type":"type.googleapis.com/k.Old","must":1,"part":{"text":"a"}}',
  ])("takes %s, as protobuf-es does", (content) => {
    expectTaken(strict, any(content));
    // The one prefix that protobuf-es writes.
    const text = any(content).replaceAll(/"@type"\s*:\s*"[^"]*\//g, '"@type":"type.googleapis.com/');
    expect(shown("k.Kinds", compileEncoder(kinds, strict).encode(utf8(text)))).toEqual(shownJson("k.Kinds", text));
  });

  it("takes many in a list, each with its type last", () => {
    const items = Array.from({ length: 500 }, (_, i) => `{"value":"${i}s","@type":"/google.protobuf.Duration"}`);
    expectTaken(strict, any(`{"rValue":[${items.join()}],"@type":"/k.Kinds"}`));
    const nested = items.map((item) => `{"sAny":${item}}`).join();
    expectTaken(strict, any(`{"rKinds":[${nested}],"@type":"/k.Kinds"}`));
  });

  it.each([
    '{"value":"1s"}',
    '{"@type":""}',
    '{"@type":1}',
    '{"@type":"/k.Nope"}',
    '{"@type":"/google.protobuf.Duration"}',
    '{"@type":"/google.protobuf.Duration","value":"1s","value":"1s"}',
    '{"@type":"/google.protobuf.Duration","value":"1s","@type":"/google.protobuf.Duration"}',
    '{"@type":"/google.protobuf.Duration","value":"1s","more":1}',
    '{"@type":"/k.Kinds","@type":"/k.Kinds"}',
    '{"@type":"/k.Kinds","nope":1}',
    '{"value":"1s","@type":"/google.protobuf.Duration"',
    '{"value":"1s,"@type":"/google.protobuf.Duration"}',
    '{"value":["1s","@type":"/google.protobuf.Duration"}',
    '{"fString":{"@type":"/k.Kinds"}}',
    "null1",
    "[]",
  ])("leaves %s", (content) => expectLeft(strict, any(content)));

  it("counts its levels as the slow encoder does", () => {
    for (let levels = 1; levels <= MAX_DEPTH; levels++) {
      const type = ',"@type":"/google.protobuf.Any"}';
      for (const inner of ['{"value":"1s","@type":"/google.protobuf.Duration"}', '{"@type":"/k.Kinds"}', "{}"]) {
        const json = utf8(any('{"value":'.repeat(levels) + inner + type.repeat(levels)));
        expect(outcome(fastIn(strict), json), `${levels} ${inner}`).toBe(outcome(slowIn(strict), json));
      }
    }
  });
});

describe("field masks", () => {
  it.each(["", "a", "aB,c.dE", "a.b.c", "AB", `${"fooBar.".repeat(40)}x,y`])(
    "takes %j, as protobuf-es does",
    (mask) => {
      const text = JSON.stringify({ tMask: mask, fInt32: 1 });
      expectTaken(strict, text);
      expect(shown("k.Kinds", compileEncoder(kinds, strict).encode(utf8(text)))).toEqual(shownJson("k.Kinds", text));
    },
  );

  it.each(['"a_b"', '","', '"a,"', '",a"', '"a,,b"', '"\\u0061"', '"ä"', '"a', "1", '"a\n"'])("leaves %s", (mask) =>
    expectLeft(strict, `{"tMask":${mask}}`),
  );
});

describe("objects of many keys", () => {
  const COUNT = 100_000;
  const members = Array.from({ length: COUNT }, (_, i) => `"${i}":"${i}"`).join();

  it.each(["mString", "sStruct"])("takes %s", (field) => expectTaken(strict, `{"${field}":{${members}}}`));

  it.each(["mString", "sStruct", "mInt32"])("of %s tells the one that comes twice", (field) => {
    for (const again of [0, 15, 16, 17, COUNT / 2, COUNT - 1]) {
      const json = utf8(`{"${field}":{${members},"${again}":""}}`);
      expect(outcome(fastIn(strict), json)).toBeUndefined();
      expect(errorOf(() => compileEncoder(kinds, strict).encode(json)).rawMessage).toMatch(
        new RegExp(`\\["${again}"\\].*more than once`),
      );
    }
  });

  it("takes the same keys in many objects", () => {
    const some = Array.from({ length: 40 }, (_, i) => `"${i}":"${i}"`).join();
    expectTaken(strict, `{"rKinds":[${Array(20).fill(`{"mString":{${some}},"sStruct":{${some}}}`).join()}]}`);
  });
});
