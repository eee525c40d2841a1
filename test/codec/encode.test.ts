import { fromJsonString } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOf } from "../proto.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { descOf, encoderOf, errorOf, schema, shown, shownJson, utf8 } from "./kinds.ts";

const kinds = encoderOf("k.Kinds");
const lenient = encoderOf("k.Kinds", { unknownFields: "ignore" });

describe("encode agrees with protobuf-es", () => {
  it.each(["k.Kinds", "k.Old", "k.New"])("on random %s", (typeName) => {
    const encoder = encoderOf(typeName);
    fc.assert(
      fc.property(jsonOf(messageOf(schema, typeName), 4), fc.constantFrom(0, 1), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        expect(shown(typeName, encoder.encode(utf8(json)))).toEqual(shownJson(typeName, json));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["k.Kinds", "{}"],
    ["k.Kinds", ' { "fInt32" : 1 } \n'],
    ["k.Kinds", '{"fDouble":-0,"oDouble":0,"rDouble":[0,-1,1e21,"1e-7"]}'],
    ["k.Kinds", '{"oInt32":0,"oString":"","oBool":false,"oColor":0,"oBytes":""}'],
    ["k.Kinds", '{"fInt32":null,"fKinds":null,"rInt32":null,"mString":null,"wInt32":null,"tTime":null,"sAny":null}'],
    ["k.Kinds", '{"sValue":null,"rValue":[null,1],"mValue":{"1":null},"cNull":null}'],
    ["k.Kinds", '{"cText":null,"cNumber":"1"}'],
    ["k.Kinds", '{"rInt32":[],"rKinds":[{},{"fKinds":{}}],"rUnpacked":[0,1]}'],
    ["k.Kinds", '{"mString":{"__proto__":"a","constructor":"b","":"c"},"mInt32":{"-1":""},"mBool":{"true":"a"}}'],
    ["k.Kinds", '{"mColor":{"18446744073709551615":"NONE"},"mKinds":{"a":{}}}'],
    ["k.Kinds", '{"fString":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude08\\u0000"}'],
    ["k.Kinds", '{"sAny":{"@type":"type.googleapis.com/google.protobuf.Int32Value","value":0}}'],
    ["k.Kinds", '{"sAny":{"@type":"type.googleapis.com/google.protobuf.Value","value":null}}'],
    ["k.Kinds", '{"sEmpty":{},"sStruct":{},"sList":[],"high":1}'],
    ["k.Old", '{"number":0,"must":1,"closed":"TWO","plain":[1,2],"tight":[1,2],"item":[{},{"size":1}]}'],
    ["k.Old", '{"must":1,"part":{"text":"a","old":{"must":2}},"byName":{"a":1}}'],
    ["k.New", '{"explicit":0,"implicit":0,"child":{"child":{"explicit":1}},"children":[{},{"implicit":2}]}'],
    ["k.New", '{"expanded":[1,2],"time":"2024-01-01T00:00:00Z"}'],
    ["google.protobuf.Struct", '{"a":[1,{"b":null}]}'],
    ["google.protobuf.Value", "null"],
    ["google.protobuf.Value", '[1,"a",true]'],
    ["google.protobuf.Int64Value", '"9007199254740993"'],
    ["google.protobuf.Timestamp", '"2024-01-01T00:00:00Z"'],
    ["google.protobuf.Empty", "{}"],
  ])("on %s %s", (typeName, json) => {
    expect(shown(typeName, encoderOf(typeName).encode(utf8(json)))).toEqual(shownJson(typeName, json));
  });
});

describe("encode", () => {
  it("leaves zeros without presence, and unset fields, unwritten", () => {
    expect(kinds.encode(utf8('{"fInt32":0,"fString":"","fBool":false,"fColor":"NONE","sNull":null}'))).toHaveLength(0);
    expect(kinds.encode(utf8('{"fDouble":1e-400,"oInt32":null,"rInt32":[]}'))).toHaveLength(0);
  });

  it("packs as the schema says", () => {
    expect(encoderOf("k.Old").encode(utf8('{"plain":[1,2],"tight":[1,2]}'))).toEqual(
      Uint8Array.of(4 << 3, 1, 4 << 3, 2, (5 << 3) | 2, 2, 1, 2),
    );
  });

  it("writes key and value of every map entry", () => {
    expect(encoderOf("k.Old").encode(utf8('{"byName":{"":2}}'))).toEqual(
      Uint8Array.of((8 << 3) | 2, 4, (1 << 3) | 2, 0, 2 << 3, 2),
    );
  });

  it("does not ask for required fields", () => {
    expect(encoderOf("k.Old").encode(utf8('{"closed":"TWO"}'))).toEqual(Uint8Array.of(3 << 3, 2));
  });

  // Whoever reads the wire takes such a number for an unknown field: the value would be lost on the way.
  it("knows the numbers of a closed enum", () => {
    expect(() => fromJsonString(descOf("k.Old"), '{"closed":9}')).toThrow();
    expect(errorOf(() => encoderOf("k.Old").encode(utf8('{"closed":9}'))).rawMessage).toContain(
      'closed: "9" is not a value of k.Closed',
    );
    const old = encoderOf("k.Old", { unknownFields: "ignore" });
    expect(old.encode(utf8('{"closed":9,"number":1}'))).toEqual(old.encode(utf8('{"number":1}')));
    expect(old.encode(utf8('{"byName":{"a":9,"b":2}}'))).toEqual(old.encode(utf8('{"byName":{"b":"TWO"}}')));
    expect(errorOf(() => old.encode(utf8('{"closed":2147483648}'))).code).toBe(Code.InvalidArgument);
    expect(errorOf(() => old.encode(utf8('{"closed":1.5}'))).code).toBe(Code.InvalidArgument);
  });

  it("takes exponents and zero fractions for integers", () => {
    const json = '\ufeff{"fInt32":1e5,"fInt64":1.2e3,"fUint32":"1E2","oInt32":-0,"fSint64":-2.000,"mInt32":{"1e2":""}}';
    expect(shown("k.Kinds", kinds.encode(utf8(json)))).toEqual({
      fInt32: 100_000,
      fInt64: "1200",
      fUint32: 100,
      oInt32: 0,
      fSint64: "-2",
      mInt32: { "100": "" },
    });
  });

  it("keeps every digit of a number", () => {
    expect(shown("k.Kinds", kinds.encode(utf8('{"fInt64":9223372036854775807,"fUint64":9007199254740993}')))).toEqual({
      fInt64: "9223372036854775807",
      fUint64: "9007199254740993",
    });
  });

  it("looks a JSON name up before a proto name", () => {
    // left = 1 is called "right" in JSON.
    expect(encoderOf("k.Names").encode(utf8('{"right":5}'))).toEqual(Uint8Array.of(1 << 3, 5));
  });

  it("keeps the URL of an Any", () => {
    const url = "example.com/p/google.protobuf.Empty";
    const wire = encoderOf("google.protobuf.Any").encode(utf8(`{"@type":"${url}"}`));
    expect(wire).toEqual(Uint8Array.of((1 << 3) | 2, url.length, ...utf8(url)));
    expect(encoderOf("google.protobuf.Any").encode(utf8("{}"))).toHaveLength(0);
  });

  it("skips what it does not know, when told to", () => {
    const json =
      '{"nope":{"a":[1,{"b":null}]},"fColor":"SONG","rColor":["RED","SONG"],"mColor":{"1":"SONG","2":"RED"}}';
    expect(shown("k.Kinds", lenient.encode(utf8(json)))).toEqual({ rColor: ["RED"], mColor: { "2": "RED" } });
    expect(errorOf(() => lenient.encode(utf8('{"nope":[1,]}'))).code).toBe(Code.InvalidArgument);
    const any = '{"sAny":{"x":1,"@type":"t/google.protobuf.Duration","value":"1s"}}';
    expect(lenient.encode(utf8(any))).toEqual(kinds.encode(utf8(any.replace('"x":1,', ""))));
  });

  it.each(['{"x":1,"x":2}', '{"x":{"a":1,"\\u0061":2}}', '{"x":[{"y":[{"a":1,"b":{},"a":2}]}]}'])(
    "refuses a key given twice in what it skips: %s",
    (json) => {
      expect(() => fromJsonString(descOf("k.Kinds"), json, { ignoreUnknownFields: true })).toThrow("duplicate");
      const error = errorOf(() => lenient.encode(utf8(json)));
      expect(error.code).toBe(Code.InvalidArgument);
      expect(error.rawMessage).toContain("given more than once");
    },
  );

  it("takes the same key in different objects of what it skips", () => {
    expect(lenient.encode(utf8('{"x":{"a":{"a":1},"b":[{"a":1},{"a":2}]},"y":{"a":1}}'))).toHaveLength(0);
  });

  // The JSON, and what the message must mention.
  it.each([
    ["", "text ends"],
    ["  ", "text ends"],
    ["null", "expected an object"],
    ["[]", "expected an object"],
    ["{} x", "expected the end"],
    ['{"nope":1}', "nope: no such field"],
    ['{"nope":null}', "nope: no such field"],
    ['{"fKinds":{"nope":1}}', "f_kinds.nope: no such field"],
    ['{"fInt32":1,"fInt32":2}', "f_int32: given more than once"],
    ['{"fInt32":1,"f_int32":1}', "f_int32: given more than once"],
    ['{"fInt32":null,"f_int32":1}', "f_int32: given more than once"],
    ['{"fInt32":1,"f\\u0049nt32":1}', "f_int32: given more than once"],
    ['{"rInt32":[1],"rInt32":[2]}', "r_int32: given more than once"],
    ['{"mInt32":{"1":"","1.0":""}}', 'm_int32["1.0"]: given more than once'],
    ['{"mString":{"a":"","\\u0061":""}}', 'm_string["a"]: given more than once'],
    ['{"sStruct":{"a":1,"a":1}}', 's_struct["a"]: given more than once'],
    ['{"rString":["a",null]}', "r_string[1]: expected string, got null"],
    ['{"rKinds":[null]}', "r_kinds[0]: expected k.Kinds, got null"],
    ['{"rWrapper":[null]}', "r_wrapper[0]"],
    ['{"mString":{"k":null}}', 'm_string["k"]: expected string, got null'],
    [
      '{"rKinds":[{},{"mKinds":{"k":{"fInt32":true}}}]}',
      'r_kinds[1].m_kinds["k"].f_int32: expected int32, got boolean',
    ],
    ['{"fString":1}', "f_string: expected string, got number"],
    ['{"fBool":"true"}', "f_bool: expected bool, got string"],
    ['{"fColor":"red"}', 'f_color: "red" is not a value of k.Color'],
    ['{"fColor":"1"}', "f_color"],
    ['{"fColor":true}', "f_color: expected k.Color, got boolean"],
    ['{"fColor":1.5}', "f_color"],
    ['{"fFloat":3.502823e38}', "f_float"],
    ['{"fDouble":1e309}', "f_double"],
    ['{"sValue":1e309}', "s_value"],
    ['{"fString":"\\ud800"}', "f_string"],
    ['{"sValue":"\\ud800"}', "s_value"],
    ['{"mString":{"\\ud800":""}}', "m_string"],
    ['{"sStruct":{"\\ud800":1}}', "s_struct"],
    ['{"mBool":{"True":""}}', "m_bool"],
    ['{"mString":[]}', "m_string: expected an object, got array"],
    ['{"rInt32":1}', "r_int32: expected an array, got number"],
    ['{"rInt32":[[1]]}', "r_int32[0]: expected int32, got array"],
    ['{"fKinds":[]}', "f_kinds: expected an object, got array"],
    ['{"wBool":1}', "w_bool: expected bool, got number"],
    ['{"tTime":1}', "t_time: expected a string, got number"],
    ['{"tMask":"f_string"}', "t_mask"],
    ['{"sList":{}}', "s_list: expected an array, got object"],
    ['{"sStruct":[]}', "s_struct: expected an object, got array"],
    ['{"cText":"a","cNumber":1}', "choice"],
    ['{"cNull":null,"cText":"a"}', "choice"],
    ['{"cValue":null,"cText":"a"}', "choice"],
    ['{"sAny":{"fInt32":1}}', "s_any: @type is missing"],
    ['{"sAny":{"@type":"","a":1}}', "@type"],
    ['{"sAny":{"@type":1}}', "@type: expected a string, got number"],
    ['{"sAny":{"@type":"x/k.Nope"}}', '@type: "x/k.Nope" is not a known type'],
    ['{"sAny":{"@type":"x/k.Kinds","nope":1}}', "s_any.nope: no such field"],
    ['{"sAny":{"@type":"x/k.Kinds","@type":"x/k.Old"}}', "s_any.@type: given more than once"],
    ['{"sAny":{"@type":"x/google.protobuf.Duration"}}', "s_any: value is missing"],
    ['{"sAny":{"@type":"x/google.protobuf.Duration","value":"1s","value":"1s"}}', "s_any.value: given more than once"],
    ['{"sAny":{"@type":"x/google.protobuf.Duration","value":"1s","x":1}}', "s_any.x: no such field"],
  ])("refuses %s", (json, mention) => {
    const error = errorOf(() => kinds.encode(utf8(json)));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain(mention);
    expect(error.rawMessage).toMatch(/\(line 1, column \d+\)$/);
  });

  it("says line and column of the value", () => {
    const error = errorOf(() => kinds.encode(utf8('{\n  "fKinds": {\n    "fInt32": true\n  }\n}')));
    expect(error.rawMessage).toContain("(line 3, column 15)");
    expect(error.details).toMatchObject([{ type: "google.rpc.BadRequest" }]);
  });
});

describe("encode refuses to nest deeper than the limit:", () => {
  const wrap = (levels: number, open: string, inner: string, close: string) =>
    open.repeat(levels) + inner + close.repeat(levels);
  const any = (levels: number) =>
    wrap(levels, '{"value":', '{"@type":"t/google.protobuf.Empty"}', ',"@type":"t/google.protobuf.Any"}');
  // The text by its levels of nesting; the root is the first.
  it.each<[string, (levels: number) => string]>([
    ["messages", (levels) => wrap(levels - 1, '{"fKinds":', "{}", "}")],
    ["lists of messages", (levels) => wrap(levels - 1, '{"rKinds":[', "{}", "]}")],
    ["maps of messages", (levels) => wrap(levels - 1, '{"mKinds":{"a":', "{}", "}}")],
    // On the wire: Value, ListValue, Value, …; a scalar is a Value too.
    ["arrays in a Value", (levels) => `{"sValue":${wrap((levels - 1) >> 1, "[", levels % 2 ? "" : "1", "]")}}`],
    ["arrays in a ListValue", (levels) => `{"sList":${wrap(levels >> 1, "[", levels % 2 ? "1" : "", "]")}}`],
    [
      "objects in a Struct",
      (levels) => `{"sStruct":${wrap((levels >> 1) - 1, '{"a":', levels % 2 ? '{"a":1}' : "{}", "}")}}`,
    ],
    ["Any", (levels) => `{"sAny":${any(levels - 3)}}`],
  ])("%s", (_, nested) => {
    expect(kinds.encode(utf8(nested(100))).length).toBeGreaterThan(0);
    const error = errorOf(() => kinds.encode(utf8(nested(101))));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain("depth");
    expect(errorOf(() => kinds.encode(utf8(nested(50_000)))).rawMessage).toContain("depth");
  });

  it("unknown values", () => {
    expect(lenient.encode(utf8(`{"x":${wrap(99, "[", "", "]")}}`))).toHaveLength(0);
    expect(errorOf(() => lenient.encode(utf8(`{"x":${wrap(100, "[", "", "]")}}`))).rawMessage).toContain("depth");
  });
});

describe("encode does not take long over", () => {
  const seconds = (json: string, encoder = kinds) => {
    const text = utf8(json);
    const start = performance.now();
    encoder.encode(text);
    return (performance.now() - start) / 1000;
  };
  const many = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i)).join();

  // All of them are around 2 MB; whatever is quadratic in that takes minutes.
  it.each([
    ["a map of many keys", `{"mString":{${many(100_000, (i) => `"k${i}":"v"`)}}}`],
    ["a Struct of many keys", `{"sStruct":{${many(100_000, (i) => `"k${i}":1`)}}}`],
    ["many empty messages", `{"rKinds":[${many(300_000, () => "{}")}]}`],
    ["a long string of escapes", `{"fString":"${"\\u00e9".repeat(300_000)}"}`],
    ["a long string of line breaks", `{"fString":"${"\\n".repeat(1_000_000)}"}`],
    ["many digits", `{"fInt64":1.${"0".repeat(2_000_000)}}`],
    ["a large exponent", `{"fInt64":0e${"9".repeat(2_000_000)},"fDouble":1e-${"9".repeat(2_000_000)}}`],
    ["a mask of many paths", `{"tMask":"${"a,".repeat(500_000)}a"}`],
    [
      "long nested content",
      `{"fKinds":${'{"fKinds":'.repeat(90)}{"fString":"${"x".repeat(2_000_000)}"}${"}".repeat(91)}`,
    ],
    [
      "an Any in an Any with the type last",
      `{"sAny":${'{"value":'.repeat(90)}{"fString":"${"x".repeat(2_000_000)}","@type":"t/k.Kinds"}${',"@type":"t/google.protobuf.Any"}'.repeat(90)}}`,
    ],
  ])("%s", (_, json) => {
    expect(seconds(json)).toBeLessThan(5);
  });
});
