import { WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { decoder, decodeText, field, peerText } from "./kitchen.ts";
import { bytes, concat, group, int64, len, text, varint, wire } from "./wire.ts";

const KITCHEN = "kitchen.Kitchen";
const LEGACY = "kitchen.Legacy";

const kitchen = (...parts: Uint8Array[]) => decodeText(KITCHEN, concat(...parts));

describe("decode", () => {
  it("writes nothing for nothing", () => {
    expect(kitchen()).toBe("{}");
  });

  it("omits a zero without presence and writes one with presence", () => {
    expect(
      kitchen(varint(3, 0), text(14, ""), varint(16, 0), varint(21, 0), text(23, ""), varint(24, 0), varint(85, 0)),
    ).toBe('{"oInt32":0,"oString":"","oBool":false,"cFlag":false}');
  });

  it("writes -0, which is not the default", () => {
    expect(kitchen(wire((w) => w.tag(1, WireType.Bit64).double(-0).tag(2, WireType.Bit32).float(-0)))).toBe(
      '{"fDouble":-0,"fFloat":-0}',
    );
  });

  it("omits an int32 that is zero in its 32 bits", () => {
    expect(kitchen(wire((w) => w.tag(3, WireType.Varint).int64(1n << 32n)))).toBe("{}");
  });

  it("writes 64-bit integers as strings, the others as numbers", () => {
    const all = wire((w) =>
      w
        .tag(4, WireType.Varint)
        .int64(-9223372036854775808n)
        .tag(6, WireType.Varint)
        .uint64(18446744073709551615n)
        .tag(8, WireType.Varint)
        .sint64(-1n)
        .tag(10, WireType.Bit64)
        .fixed64(9007199254740993n)
        .tag(12, WireType.Bit64)
        .sfixed64(-2n)
        .tag(5, WireType.Varint)
        .uint32(4294967295),
    );
    expect(kitchen(all)).toBe(
      '{"fInt64":"-9223372036854775808","fUint32":4294967295,"fUint64":"18446744073709551615","fSint64":"-1",' +
        '"fFixed64":"9007199254740993","fSfixed64":"-2"}',
    );
  });

  it("writes NaN and the infinities as strings, floats with their own digits", () => {
    const list = wire((w) =>
      w.tag(35, WireType.LengthDelimited).fork().float(Number.NaN).float(Infinity).float(-Infinity).float(0.1).join(),
    );
    expect(kitchen(list)).toBe('{"rFloat":["NaN","Infinity","-Infinity",0.1]}');
  });

  it("writes bytes as padded standard base64", () => {
    expect(kitchen(len(15, bytes(0xfb, 0xff, 0xbf)), len(27, bytes(1)))).toBe('{"fBytes":"+/+/","oBytes":"AQ=="}');
  });

  it("names enums as declared first, and writes numbers that have no name", () => {
    expect(kitchen(varint(16, 99), varint(17, 1), len(36, bytes(0, 1, 5)))).toBe(
      '{"fGenre":99,"fShade":"GREY","rGenre":["GENRE_UNSPECIFIED","NOVEL",5]}',
    );
  });

  it("writes enums as numbers when told to, and NullValue as null all the same", () => {
    expect(decodeText(KITCHEN, concat(varint(16, -1), varint(84, 0)), { enumAsInteger: true })).toBe(
      '{"fGenre":-1,"cNull":null}',
    );
  });

  it("writes 64-bit integers as numbers when told to and where these are exact; keys of maps never", () => {
    const [most, more] = [2n ** 53n - 1n, 2n ** 53n];
    const wide = concat(int64(4, most), int64(6, more), int64(22, -most), int64(82, -more));
    const inside = concat(len(53, int64(1, 7n)), len(54), len(45, int64(1, 8n)), len(47, varint(1, 9), len(2)));
    expect(decodeText(KITCHEN, concat(wide, inside), { int64AsNumber: true })).toBe(
      '{"fInt64":9007199254740991,"fUint64":"9007199254740992","oInt64":-9007199254740991,' +
        '"mGenre":{"4":"GENRE_UNSPECIFIED"},"mWrapped":{"9":0},"wInt64":7,"wUint64":0,"cNumber":"-9007199254740992"}',
    );
    const unset = decoder(KITCHEN, { int64AsNumber: true }).decodeField(new Uint8Array(), field(KITCHEN, "f_int64"));
    expect(new TextDecoder().decode(unset)).toBe("0");
  });

  it("writes json_name, or the name in the .proto file", () => {
    const both = concat(varint(3, 1), text(91, "x"));
    expect(kitchen(both)).toBe('{"fInt32":1,"@own":"x"}');
    expect(decodeText(KITCHEN, both, { useProtoFieldName: true })).toBe('{"f_int32":1,"own_name":"x"}');
  });

  it("writes fields in order of their numbers, whatever their order on the wire", () => {
    expect(kitchen(text(14, "x"), varint(3, 1), varint(5, 2))).toBe('{"fInt32":1,"fUint32":2,"fString":"x"}');
  });

  it("skips unknown fields of every wire type", () => {
    const unknown = concat(
      varint(1000, 1),
      wire((w) => w.tag(1001, WireType.Bit64).fixed64(1n).tag(1002, WireType.Bit32).fixed32(1)),
      text(1003, "x"),
      wire((w) => w.tag(1004, WireType.StartGroup).tag(1, WireType.Varint).int32(1).tag(1004, WireType.EndGroup)),
    );
    expect(kitchen(unknown, varint(3, 7))).toBe('{"fInt32":7}');
  });

  it("takes a known field of another wire type for an unknown one", () => {
    expect(kitchen(text(3, "x"), varint(14, 1), varint(18, 1), varint(38, 1), varint(41, 1), text(21, "a"))).toBe("{}");
  });
});

describe("emitDefaults", () => {
  const written = JSON.parse(decodeText(KITCHEN, bytes(), { emitDefaults: true }));

  it("writes what protobuf-es writes", () => {
    expect(written).toEqual(JSON.parse(peerText(KITCHEN, bytes(), { emitDefaults: true })));
  });

  it("leaves out messages, optional fields and members of a oneof", () => {
    expect(written).toMatchObject({ fInt64: "0", fGenre: "GENRE_UNSPECIFIED", rString: [], mChild: {}, sNull: null });
    for (const key of ["fChild", "oInt32", "wInt32", "tTime", "cText", "cNull"])
      expect(written).not.toHaveProperty(key);
  });

  it("does so in every message", () => {
    expect(JSON.parse(decodeText(KITCHEN, len(18, bytes()), { emitDefaults: true })).fChild).toEqual({
      text: "",
      count: 0,
      words: [],
    });
  });
});

describe("order and repetition on the wire", () => {
  it("takes the last of a singular scalar, a zero included", () => {
    expect(kitchen(varint(3, 1), varint(21, 1), varint(3, 2), varint(21, 0))).toBe('{"fInt32":2,"oInt32":0}');
    expect(kitchen(varint(3, 1), varint(3, 0))).toBe("{}");
  });

  it("merges a singular message that came in parts", () => {
    const part = (...content: Uint8Array[]) => len(18, concat(...content));
    expect(
      kitchen(part(text(1, "a"), text(5, "x")), varint(3, 1), part(varint(2, 2)), part(text(1, "b"), text(5, "y"))),
    ).toBe('{"fInt32":1,"fChild":{"text":"b","count":2,"words":["x","y"]}}');
  });

  it("merges at every level", () => {
    const inner = (content: Uint8Array) => len(18, len(3, content));
    expect(kitchen(inner(text(1, "a")), inner(varint(2, 2)))).toBe('{"fChild":{"child":{"text":"a","count":2}}}');
  });

  it("reads packed and unpacked, mixed and interleaved with others", () => {
    expect(
      kitchen(varint(31, 1), varint(3, 9), len(31, bytes(2, 3)), text(33, "a"), len(31, bytes()), varint(31, 4)),
    ).toBe('{"fInt32":9,"rInt32":[1,2,3,4],"rString":["a"]}');
    expect(kitchen(len(34, bytes(1, 0)))).toBe('{"rBool":[true,false]}');
  });

  it("omits a list that is packed and empty", () => {
    expect(kitchen(len(31, bytes()))).toBe("{}");
  });

  it("keeps the last member of a oneof only", () => {
    expect(kitchen(text(81, "a"), varint(82, 5))).toBe('{"cNumber":"5"}');
    expect(kitchen(varint(82, 5), text(81, ""))).toBe('{"cText":""}');
  });

  it("merges a member of a oneof with itself, not across another member", () => {
    expect(kitchen(len(83, text(1, "a")), len(83, varint(2, 2)))).toBe('{"cChild":{"text":"a","count":2}}');
    expect(kitchen(len(83, text(1, "a")), varint(82, 5), len(83, varint(2, 2)))).toBe('{"cChild":{"count":2}}');
  });
});

describe("proto2", () => {
  const legacy = (...parts: Uint8Array[]) => decodeText(LEGACY, concat(...parts));

  it("reads groups, merges them and lists them", () => {
    expect(legacy(group(6, text(1, "a")), group(7, varint(1, 1)), group(6, len(2, varint(1, 5))), group(7))).toBe(
      '{"part":{"name":"a","inner":{"number":5}},"item":[{"n":1},{}]}',
    );
  });

  it("takes a group where a message is due for an unknown field, and the reverse", () => {
    expect(legacy(len(6, text(1, "a")))).toBe("{}");
    expect(kitchen(group(18, text(1, "a")))).toBe("{}");
  });

  it("leaves a closed enum as it was when the number has no name", () => {
    expect(legacy(varint(4, 99))).toBe("{}");
    expect(legacy(varint(4, 6), varint(4, 99))).toBe('{"closed":"SIX"}');
    expect(legacy(varint(9, 1), varint(8, 99))).toBe('{"two":1}');
  });

  // Conformance suite: unknown numbers are unknown fields.
  it("leaves unknown numbers of closed enums out of lists", () => {
    const lists = (...parts: Uint8Array[]) => decodeText("kitchen.ClosedLists", concat(...parts));
    expect(lists(varint(1, 5), varint(1, 99), len(1, bytes(99, 6)))).toBe('{"list":["FIVE","SIX"]}');
    expect(lists(varint(1, 99))).toBe("{}");
  });

  it("reads a string that is not UTF-8, with U+FFFD for what is none", () => {
    expect(legacy(len(2, bytes(0x61, 0xff, 0x22)))).toBe('{"text":"a\ufffd\\""}');
  });
});

describe("decodeField", () => {
  const one = (fullName: string, name: string, content: Uint8Array) =>
    new TextDecoder().decode(decoder(fullName).decodeField(content, field(fullName, name)));

  it.each([
    ["f_int64", '"0"'],
    ["f_int32", "0"],
    ["f_double", "0"],
    ["f_bool", "false"],
    ["f_string", '""'],
    ["f_bytes", '""'],
    ["f_genre", '"GENRE_UNSPECIFIED"'],
    ["o_int32", "0"],
    ["f_child", "null"],
    ["w_int64", "null"],
    ["t_time", "null"],
    ["s_null", "null"],
    ["r_int32", "[]"],
    ["r_child", "[]"],
    ["m_child", "{}"],
    ["c_text", '""'],
    ["c_child", "null"],
  ])("unset %s is %s", (name, json) => {
    expect(one(KITCHEN, name, varint(5, 1))).toBe(json);
  });

  it.each([
    ["number", "7"],
    ["text", '"a\\"b"'],
    ["raw", '"AQI="'],
    ["closed", '"SIX"'],
    ["plain", '"FIVE"'],
    ["big", '"18446744073709551615"'],
    ["part", "null"],
  ])("unset %s with a default is %s", (name, json) => {
    expect(one(LEGACY, name, bytes())).toBe(json);
  });

  it("writes the value alone", () => {
    const content = concat(text(33, "a"), varint(4, 12), text(33, ""), len(18, text(1, "x")), varint(3, 0));
    expect(one(KITCHEN, "r_string", content)).toBe('["a",""]');
    expect(one(KITCHEN, "f_int64", content)).toBe('"12"');
    expect(one(KITCHEN, "f_child", content)).toBe('{"text":"x"}');
    expect(one(KITCHEN, "f_int32", content)).toBe("0");
  });

  it("names the field in an error", () => {
    expect(() => one(KITCHEN, "f_string", len(14, bytes(0xff)))).toThrow("at f_string: ");
  });
});
