import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { decodeForm, decodeFormBytes, decodePercent, parseParameters, parseQuery } from "../../src/client/query.ts";
import { failure } from "../failure.ts";

const VALID = [
  "",
  "a=1",
  "a",
  "a=",
  "=1",
  "a=1&b=2",
  "a=1&a=2",
  "&&a=1&&",
  "a=b=c",
  "a+b=c+d",
  "a%2Bb=c%2bd",
  "a%20b=%C3%A9",
  "a=%26&b=%3D",
  "a=;b",
  "x=%F0%9F%98%80",
  "caf\u00e9=\u00e9",
];

// WHATWG form parsing is the peer: for queries that are well-formed, both read the same.
test.each(VALID)("%j is what URLSearchParams reads", (query) => {
  expect(parseQuery(query).map(({ name, value }) => [name, value])).toEqual([...new URLSearchParams(query)]);
});

test.each([
  ["a=%", "a"],
  ["a=%4", "a"],
  ["a=%zz", "a"],
  ["a=%FF", "a"],
  ["a=%C3", "a"],
  ["a=%ED%A0%80", "a"],
  ["%=1", "a name"],
  ["ok=1&bad=%G1", "bad"],
])("%j is refused, naming %s", (query, name) => {
  expect(() => parseQuery(query)).toThrow(failure(Code.InvalidArgument, name));
});

test("the first value of each name counts where one is wanted", () => {
  expect([...parseParameters("a=1&b=2&a=3&c=5&__proto__=4", ["a", "b", "__proto__"])]).toEqual([
    ["a", "1"],
    ["b", "2"],
    ["__proto__", "4"],
  ]);
});

test("a parameter that nobody asks for may hold anything", () => {
  expect(parseParameters("a=%FF&b=%zz&c=1", ["c"]).get("c")).toBe("1");
  expect(() => decodeForm("%FF", "a")).toThrow(failure(Code.InvalidArgument, "a"));
});

test.each([
  ["", []],
  ["a+b", [0x61, 0x20, 0x62]],
  ["%00%ff%2B%25", [0, 0xff, 0x2b, 0x25]],
  ["\u00e9%C3", [0xc3, 0xa9, 0xc3]],
])("%j are bytes, text or not", (encoded, bytes) => {
  expect([...decodeFormBytes(encoded, "a")]).toEqual(bytes);
});

test.each(["%", "%4", "%4g", "a%zzb"])("%j has a broken escape", (encoded) => {
  expect(() => decodeFormBytes(encoded, "message")).toThrow(failure(Code.InvalidArgument, "message"));
});

test("a plus is data outside of queries", () => {
  expect(decodePercent("a+b%2B", "here")).toBe("a+b+");
});
