import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../src/codec/text.ts";
import { hasTextForm } from "../../src/schema/special.ts";
import { messageOf } from "../proto.ts";
import { errorOf, fieldOf, schema, shown, shownJson } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");
const encode = (name: string, text: string) => encodeText(fieldOf(kinds, name), text, name);

describe("encodeText", () => {
  // The text, and the JSON of the same message.
  it.each([
    ["f_int32", "-2147483648", { fInt32: -2147483648 }],
    ["f_int32", "1e3", { fInt32: 1000 }],
    ["f_int64", "9223372036854775807", { fInt64: "9223372036854775807" }],
    ["f_uint32", "4294967295", { fUint32: 4294967295 }],
    ["f_uint64", "18446744073709551615", { fUint64: "18446744073709551615" }],
    ["f_sint32", "-5", { fSint32: -5 }],
    ["f_sint64", "-9223372036854775808", { fSint64: "-9223372036854775808" }],
    ["f_fixed32", "7", { fFixed32: 7 }],
    ["f_fixed64", "7.0", { fFixed64: "7" }],
    ["f_sfixed32", "-1", { fSfixed32: -1 }],
    ["f_sfixed64", "-9007199254740993", { fSfixed64: "-9007199254740993" }],
    ["f_double", "-Infinity", { fDouble: "-Infinity" }],
    ["f_float", "2.5", { fFloat: 2.5 }],
    ["f_bool", "true", { fBool: true }],
    ["f_string", '"null"', { fString: '"null"' }],
    ["f_string", "null", { fString: "null" }],
    ["f_bytes", "-_-_", { fBytes: "+/+/" }],
    ["f_color", "RED", { fColor: "RED" }],
    ["f_color", "-1", { fColor: "MINUS" }],
    ["f_color", "99", { fColor: 99 }],
    ["o_string", "", { oString: "" }],
    ["o_int32", "0", { oInt32: 0 }],
    ["r_int32", "3", { rInt32: [3] }],
    ["r_string", "a,b", { rString: ["a,b"] }],
    ["w_int32", "0", { wInt32: 0 }],
    ["w_int64", "-9007199254740993", { wInt64: "-9007199254740993" }],
    ["w_string", "", { wString: "" }],
    ["w_bool", "true", { wBool: true }],
    ["w_bytes", "aGk", { wBytes: "aGk=" }],
    ["t_time", "1969-12-31T23:59:59.5Z", { tTime: "1969-12-31T23:59:59.500Z" }],
    ["t_span", "-1.5s", { tSpan: "-1.500s" }],
    ["t_mask", "fString,fChild.text", { tMask: "fString,fChild.text" }],
    ["t_mask", "", { tMask: "" }],
    ["c_null", "NULL_VALUE", { cNull: null }],
    ["c_text", "", { cText: "" }],
  ])("%s: %s", (name, text, json) => {
    expect(shown("k.Kinds", encode(name, text))).toEqual(shownJson("k.Kinds", JSON.stringify(json)));
  });

  it("writes a zero that was said", () => {
    expect(encode("f_int32", "0")).toEqual(Uint8Array.of(3 << 3, 0));
    expect(encode("f_string", "")).toEqual(Uint8Array.of((14 << 3) | 2, 0));
    expect(encode("f_bool", "false")).toEqual(Uint8Array.of(13 << 3, 0));
  });

  it("writes an element of a list unpacked", () => {
    // r_int32 = 31: tag 31 << 3 = 248 as a varint.
    expect(encode("r_int32", "1")).toEqual(Uint8Array.of(0xf8, 0x01, 1));
  });

  it("frames a delimited Timestamp as a group", () => {
    const wire = encodeText(fieldOf(messageOf(schema, "k.New"), "time"), "1970-01-01T00:00:01Z", "time");
    expect(shown("k.New", wire)).toEqual({ time: "1970-01-01T00:00:01Z" });
  });

  it.each([
    ["f_int32", ""],
    ["f_int32", "2147483648"],
    ["f_int32", "seven"],
    ["f_uint64", "-1"],
    ["f_double", ""],
    ["f_double", "1e309"],
    ["f_float", "3.5e38"],
    ["f_bool", ""],
    ["f_bool", "TRUE"],
    ["f_bool", "1"],
    ["f_bytes", "a*b"],
    ["f_color", "SONG"],
    ["f_color", "red"],
    ["f_color", ""],
    ["f_color", "2147483648"],
    ["w_int32", "null"],
    ["w_bool", "1"],
    ["t_time", "2024-02-29"],
    ["t_span", "3"],
    ["t_mask", "f_string"],
    ["t_mask", "a,,b"],
    ["c_null", "null"],
  ])("refuses %s: %j", (name, text) => {
    const error = errorOf(() => encodeText(fieldOf(kinds, name), text, `in.${name}`));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain(`in.${name}`);
    expect(error.rawMessage).toContain(JSON.stringify(text));
    expect(error.details).toMatchObject([{ type: "google.rpc.BadRequest" }]);
  });

  it("knows the numbers of a closed enum", () => {
    const closed = fieldOf(messageOf(schema, "k.Old"), "closed");
    expect(encodeText(closed, "2", "closed")).toEqual(encodeText(closed, "TWO", "closed"));
    expect(errorOf(() => encodeText(closed, "9", "closed")).rawMessage).toContain(
      '"9" is not a value of type k.Closed',
    );
  });

  it("refuses fields without a text form", () => {
    for (const name of ["f_kinds", "m_string", "s_struct", "s_value", "s_list", "s_any", "s_empty", "r_kinds"]) {
      expect(hasTextForm(fieldOf(kinds, name))).toBe(false);
      expect(errorOf(() => encode(name, "{}")).rawMessage).toContain(name);
    }
    for (const name of [
      "f_int32",
      "f_color",
      "r_string",
      "w_bytes",
      "t_time",
      "t_span",
      "t_mask",
      "s_null",
      "c_text",
    ]) {
      expect(hasTextForm(fieldOf(kinds, name))).toBe(true);
    }
  });
});
