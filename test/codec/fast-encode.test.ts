import { ConnectError } from "@connectrpc/connect";
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import type { EncodeRequest } from "../../src/codec/codec.ts";
import { compileEncoder } from "../../src/codec/encode.ts";
import { encodeRequestSlow, encodeSlow } from "../../src/codec/encode-slow.ts";
import { compileFastEncoder, type FastEncoder } from "../../src/codec/fast-encode.ts";
import { messageOf } from "../proto.ts";
import { bind } from "./bind.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { contextWith, fieldOf, schema, utf8 } from "./kinds.ts";

const MAX_DEPTH = 100;
const context = contextWith({ maxDepth: MAX_DEPTH });
const kinds = messageOf(schema, "k.Kinds");

function fastOf(typeName: string): FastEncoder {
  const fast = compileFastEncoder(messageOf(schema, typeName), context);
  if (!fast) throw new Error(`${typeName} has no fast encoder`);
  return fast;
}

const fastKinds = fastOf("k.Kinds");

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

/** In hexadecimal, or what the error says. */
function outcome(run: () => Uint8Array): string | undefined {
  try {
    return hex(run());
  } catch (error) {
    return String(error instanceof ConnectError ? error.message : error);
  }
}

function orUndefined(run: () => Uint8Array): Uint8Array | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** What the fast encoder makes is what the slow one makes; where that one throws, the fast one gives up. */
function expectSame(typeName: string, json: Uint8Array, fast = fastOf(typeName)): void {
  const wire = fast.encode(json);
  if (wire === undefined) return;
  const slow = orUndefined(() => encodeSlow(messageOf(schema, typeName), context, json));
  expect(hex(wire), new TextDecoder().decode(json)).toBe(hex(slow));
}

/** Both take it, and agree. */
function expectTaken(typeName: string, json: Uint8Array): void {
  const slow = encodeSlow(messageOf(schema, typeName), context, json);
  expect(hex(fastOf(typeName).encode(json)), new TextDecoder().decode(json)).toBe(hex(slow));
}

/** One change to a text: bytes cut out, written over, put in, or repeated. */
function mutate(json: Uint8Array, kind: number, from: number, length: number, bytes: Uint8Array): Uint8Array {
  const at = from % (json.length + 1);
  const before = json.subarray(0, at);
  const part = json.subarray(at, at + length);
  const after = json.subarray(at + length);
  const parts = [
    [before, after],
    [before],
    [before, bytes, json.subarray(at + bytes.length)],
    [before, bytes, part, after],
    [before, part, part, after],
  ][kind % 5] as Uint8Array[];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const pieces = fc.constantFrom(
  ...['"', "\\", "{", "}", "[", "]", ",", ":", "null", "0", "-", ".", "e", "E9", "1", "9".repeat(19), " ", "\t", "\0"],
  ...["\\u0041", "\\ud83d", "\\ude00", '"fInt32":1,', '"f_int32":1,', '"x":1,', '"NaN"', "true", '"cText":"",', "="],
  ...["\u00e9", "\u6570", "\u{1f600}", "\ufeff"],
);
const bytes = fc.oneof(pieces.map(utf8), fc.uint8Array({ minLength: 1, maxLength: 4 }));

describe("the fast encoder writes what the slow one does, or nothing", () => {
  it.each(["k.Kinds", "k.Old", "k.New"])("on random %s", (typeName) => {
    const fast = fastOf(typeName);
    let taken = 0;
    fc.assert(
      fc.property(jsonOf(messageOf(schema, typeName), 4), fc.constantFrom(0, 1), (value, indent) => {
        const json = utf8(JSON.stringify(value, null, indent));
        if (fast.encode(json)) taken++;
        expectSame(typeName, json, fast);
      }),
      { numRuns: 1000 },
    );
    // About 430 of a k.New, which has a field under both of its names the more often, the fewer fields there are.
    expect(taken).toBeGreaterThan(300);
  });

  it.each(["k.Kinds", "k.Old", "k.New"])("on random %s with faults", (typeName) => {
    const fast = fastOf(typeName);
    const change = fc.tuple(fc.nat(4), fc.nat(), fc.integer({ min: 1, max: 12 }), bytes);
    fc.assert(
      fc.property(
        jsonOf(messageOf(schema, typeName), 3),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (value, changes) => {
          let json = utf8(JSON.stringify(value));
          for (const [kind, from, length, bytes] of changes) json = mutate(json, kind, from, length, bytes);
          expectSame(typeName, json, fast);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it.each(["k.Kinds", "k.Old", "k.New"])(
    "where it does the inner messages of a %s only, errors and all",
    (typeName) => {
      const message = messageOf(schema, typeName);
      const whole = compileEncoder(message, context);
      // A key with an escape is not for the fast encoder: first, so that all that follows is done in parts.
      const name = message.fields.at(-1)?.jsonName ?? "";
      const odd = fc.constantFrom(`"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":null,`, "");
      const change = fc.option(fc.tuple(fc.nat(4), fc.nat(), fc.integer({ min: 1, max: 12 }), bytes));
      let refused = 0;
      fc.assert(
        fc.property(jsonOf(message, 4), odd, change, (value, odd, change) => {
          const text = JSON.stringify(value);
          let json = utf8(text === "{}" ? text : `{${odd}${text.slice(1)}`);
          if (change !== null) json = mutate(json, ...change);
          const [own, slow] = [() => whole.encode(json), () => encodeSlow(message, context, json)].map(outcome);
          expect(own, new TextDecoder().decode(json)).toBe(slow);
          if (slow?.startsWith("[")) refused++;
        }),
        { numRuns: 1000 },
      );
      expect(refused).toBeGreaterThan(100);
    },
  );

  const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));
  const numberText = fc
    .tuple(fc.constantFrom("", "-"), digits(21), fc.option(digits(21)), fc.option(fc.integer({ min: -30, max: 30 })))
    .map(([sign, whole, fraction, exponent]) => {
      const point = fraction === null ? "" : `.${fraction}`;
      return `${sign}${whole.replace(/^0+(?=.)/, "")}${point}${exponent === null ? "" : `e${exponent}`}`;
    });
  const numberTexts: Arbitrary<string> = fc.oneof(
    numberText,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.double({ min: 0, max: 1, noNaN: true }).map(String),
    fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
    fc.constantFrom(
      ...[31, 32, 53, 63, 64].flatMap((bits) => [-1n, 0n, 1n].map((d) => String(2n ** BigInt(bits) + d))),
    ),
    fc.constantFrom(...[31, 32, 63].flatMap((bits) => [-1n, 0n, 1n].map((d) => String(-(2n ** BigInt(bits)) + d)))),
    fc.constantFrom(
      "-0",
      "00",
      "01",
      "-",
      "0.",
      ".5",
      "1e",
      "1e400",
      "4e-324",
      "1e-400",
      "0.0",
      "0e9",
      "1e22",
      "1e23",
      "1.0e-0",
      "9007199254740993",
      "3.5e38",
    ),
  );

  it("on numbers", () => {
    const fields = ["fDouble", "fFloat", "fInt32", "fInt64", "fUint32", "fUint64", "fSint32", "fSint64", "fFixed32"];
    const all = fc.constantFrom(...fields, "fFixed64", "fSfixed32", "fSfixed64", "fColor", "oInt32", "sValue");
    fc.assert(
      fc.property(all, numberTexts, fc.boolean(), (field, text, quoted) => {
        expectSame("k.Kinds", utf8(`{"${field}":${quoted ? `"${text}"` : text}}`), fastKinds);
      }),
      { numRuns: 20_000 },
    );
  });

  it("on every double that JSON.stringify writes without an exponent", () => {
    const double = fc.double({ min: 1e-6, max: 1e20, noNaN: true });
    fc.assert(
      fc.property(fc.oneof(double, fc.double({ min: 0.01, max: 1000, noNaN: true })), (value) => {
        expectTaken("k.Kinds", utf8(JSON.stringify({ fDouble: value, rDouble: [-value] })));
      }),
      { numRuns: 5000 },
    );
  });

  it("on strings and keys of maps", () => {
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(text, text, fc.boolean(), (a, b, escaped) => {
        const json = JSON.stringify({ fString: a, mString: { [a]: b, [b]: a }, sStruct: { [b]: a } });
        const escapeUnit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
        expectTaken("k.Kinds", utf8(escaped ? json.replace(/[\u0080-\uffff]/g, escapeUnit) : json));
      }),
      { numRuns: 2000 },
    );
  });

  it("on bytes that are no UTF-8", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), (bytes) => {
        const json = Uint8Array.from([...utf8('{"fString":"a'), ...bytes, ...utf8('b"}')]);
        expectSame("k.Kinds", json, fastKinds);
      }),
      { numRuns: 20_000 },
    );
  });

  it("on base64, of all lengths, padded or not", () => {
    const text = fc.string({ unit: fc.constantFrom(..."AZaz09+/-_=="), maxLength: 9 });
    fc.assert(
      fc.property(text, (text) => expectSame("k.Kinds", utf8(JSON.stringify({ oBytes: text })), fastKinds)),
      { numRuns: 5000 },
    );
    for (const text of ["", "AA", "AA==", "AAA", "AAA=", "AAAA", "-_-_", "+/+/AA"]) {
      expectTaken("k.Kinds", utf8(JSON.stringify({ oBytes: text })));
    }
  });

  it("on times", () => {
    const part = fc.constantFrom(..."00 01 02 12 13 23 24 28 29 30 31 32 59 60 x1".split(" "));
    const year = fc.constantFrom("0000", "0001", "1900", "1969", "1970", "2000", "2023", "2024", "9999");
    const rest = fc.constantFrom(
      "Z",
      "z",
      "",
      "+00:00",
      "-23:59",
      "+24:00",
      "+01:60",
      ".5Z",
      ".Z",
      ".123456789Z",
      ".1234567890Z",
    );
    fc.assert(
      fc.property(year, fc.array(part, { minLength: 5, maxLength: 5 }), rest, (year, [month, day, h, m, s], rest) => {
        expectSame("k.Kinds", utf8(`{"tTime":"${year}-${month}-${day}T${h}:${m}:${s}${rest}"}`), fastKinds);
      }),
      { numRuns: 10_000 },
    );
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") }),
        (date) => {
          expectTaken("k.Kinds", utf8(JSON.stringify({ tTime: date })));
        },
      ),
    );
    for (const span of ["0s", "-1.5s", "1s", "-0.000000001s", "315576000000s"]) {
      expectTaken("k.Kinds", utf8(JSON.stringify({ tSpan: span })));
    }
  });
});

describe("the fast encoder of requests writes what the slow one does, or nothing", () => {
  function expectSameRequest(request: EncodeRequest): boolean {
    const wire = fastKinds.encodeRequest(request);
    if (wire === undefined) return false;
    const slow = orUndefined(() => encodeRequestSlow(kinds, context, request).wire);
    expect(hex(wire), request.json && new TextDecoder().decode(request.json)).toBe(hex(slow));
    return true;
  }

  const bounds = [
    bind({}),
    bind({ f_string: "a", f_bool: "false" }),
    bind({ "f_kinds.f_string": "a", "f_kinds.f_int32": "0" }),
    bind({ "f_kinds.f_kinds.f_string": "b", f_int64: "7", r_int32: ["1", "2"] }, "query"),
    bind({ c_text: "a" }),
    bind({ "f_kinds.c_text": "a" }),
  ];

  it("on random bodies and fields of them", () => {
    const field = fc.constantFrom(
      "*",
      "f_kinds",
      "r_kinds",
      "m_string",
      "f_string",
      "s_value",
      "t_time",
      "c_kinds",
      "c_text",
    );
    let taken = 0;
    fc.assert(
      fc.property(jsonOf(kinds, 3), fc.constantFrom(...bounds), field, (value, bound, name) => {
        const body = name === "*" ? name : fieldOf(kinds, name);
        const known = value as Record<string, unknown>;
        const part = body === "*" ? value : (known[body.name] ?? known[body.jsonName] ?? value);
        if (expectSameRequest({ json: utf8(JSON.stringify(part)), body, bound })) taken++;
      }),
      { numRuns: 5000 },
    );
    expect(taken).toBeGreaterThan(1000);
  });

  it.each([
    ['{"fInt32":1}', "*", { f_string: "a" }],
    ['{"fInt32":1,"fString":"a"}', "*", { f_string: "a" }],
    ['{"fKinds":{"fInt32":1}}', "*", { "f_kinds.f_string": "a" }],
    ['{"fString":"a","fInt32":1}', "f_kinds", { "f_kinds.f_string": "a", f_bool: "true" }],
    ['{"fInt32":1}', "f_kinds", { "f_kinds.f_kinds.f_kinds.f_string": "a" }],
    ["[]", "r_int32", { f_bool: "true" }],
    ["null", "f_kinds", { f_bool: "true" }],
    ["null", "s_value", {}],
    ["", "*", { f_string: "a", "f_kinds.f_kinds.f_string": "b" }],
  ])("takes %s into %s beside %j", (json, name, values) => {
    const body = name === "*" ? name : fieldOf(kinds, name);
    expect(expectSameRequest({ json: utf8(json), body, bound: bind(values) })).toBe(true);
  });

  it.each([
    ['{"fString":"b"}', "*", { f_string: "a" }],
    ['{"fString":null}', "*", { f_string: "a" }],
    ['{"cNumber":1}', "*", { c_text: "a" }],
    ['{"fString":"b"}', "f_kinds", { "f_kinds.f_string": "a" }],
    ['"a"', "c_text", { c_number: "1" }],
  ])("leaves %s into %s beside %j", (json, name, values) => {
    const body = name === "*" ? name : fieldOf(kinds, name);
    expect(expectSameRequest({ json: utf8(json), body, bound: bind(values) })).toBe(false);
  });
});

describe("the fast encoder", () => {
  it("has the slow one's limit of depth, for messages, Struct and Value", () => {
    const nested = (levels: number, open: string, inner: string, close: string) =>
      utf8(open.repeat(levels) + inner + close.repeat(levels));
    for (let levels = 90; levels < 110; levels++) {
      expectSame("k.Kinds", nested(levels, '{"fKinds":', "{}", "}"));
      expectSame("k.New", nested(levels, '{"child":', "{}", "}"));
      expectSame("k.Kinds", nested(levels, '{"fKinds":', '{"wInt32":1,"tTime":"2024-01-01T00:00:00Z"}', "}"));
      for (const count of [levels, levels >> 1]) {
        expectSame("k.Kinds", utf8(`{"sValue":${"[".repeat(count)}${"]".repeat(count)}}`));
        expectSame("k.Kinds", utf8(`{"sStruct":${'{"a":'.repeat(count)}1${"}".repeat(count)}}`));
      }
    }
    expectTaken("k.Kinds", nested(99, '{"fKinds":', "{}", "}"));
    expect(fastKinds.encode(nested(100, '{"fKinds":', "{}", "}"))).toBeUndefined();
  });

  it("sees a key of a map again, among few and among many", () => {
    for (const count of [2, 15, 16, 17, 18, 300]) {
      const entries = Array.from({ length: count }, (_, i) => `"key ${i}":"${i}"`);
      expectTaken("k.Kinds", utf8(`{"mString":{${entries}}}`));
      for (const again of [0, count - 1]) {
        expect(fastKinds.encode(utf8(`{"mString":{${entries},"key ${again}":""}}`))).toBeUndefined();
        expect(fastKinds.encode(utf8(`{"sStruct":{${entries},"key ${again}":""}}`))).toBeUndefined();
      }
    }
    expect(fastKinds.encode(utf8('{"mString":{"a":"","\\u0061":""}}'))).toBeUndefined();
  });

  it("grows for large texts, and keeps nothing of one for the next", () => {
    const large = JSON.stringify({
      fString: "x".repeat(5_000_000),
      rInt32: Array.from({ length: 100_000 }, (_, i) => i),
    });
    expectTaken("k.Kinds", utf8(large));
    for (const end of [1, 2, 10, 20, 100]) expectSame("k.Kinds", utf8(large.slice(0, end)));
    expect(fastKinds.encode(utf8("{}"))).toHaveLength(0);
    const longer = '{"fString":"a","rString":["b"]}';
    for (let end = 0; end < longer.length; end++) {
      fastKinds.encode(utf8(longer));
      expect(fastKinds.encode(utf8(longer.slice(0, end)))).toBeUndefined();
    }
  });

  it("writes more than it reads where the wire is longer", () => {
    const many = Array.from({ length: 50_000 }, (_, i) => i % 10);
    expectTaken("k.Kinds", utf8(JSON.stringify({ rDouble: many, rUnpacked: many, rKinds: many.map(() => ({})) })));
  });
});
