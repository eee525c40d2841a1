import { expect, test } from "vitest";
import { parseParameters } from "../../src/protocol/parameters.ts";

test.each<[string, string, Record<string, string>]>([
  ["form-data", "form-data", {}],
  ['form-data; name="a"', "form-data", { name: "a" }],
  ["Form-Data;NAME=a", "form-data", { name: "a" }],
  [' \tform-data ; \tname="a b" ;; x=y ;', "form-data", { name: "a b", x: "y" }],
  // RFC 9110 §5.6.4: a backslash makes the next character plain.
  ['a; b="\\"c\\\\;d\\e"', "a", { b: '"c\\;de' }],
  // As browsers write a file name that ends in a backslash.
  ['a; b="c\\"; d="e\\"', "a", { b: "c\\", d: "e\\" }],
  ['a; b=""', "a", { b: "" }],
  ["multipart/form-data; boundary=----=_Part_1_2.3/4", "multipart/form-data", { boundary: "----=_Part_1_2.3/4" }],
  ["a; filename*=UTF-8''%e2%82%ac", "a", { "filename*": "UTF-8''%e2%82%ac" }],
  ["a; __proto__=b", "a", { ["__proto__"]: "b" }],
])("%j", (text, value, parameters) => {
  const parsed = parseParameters(text);
  expect(parsed?.value).toBe(value);
  expect([...(parsed?.parameters ?? [])]).toEqual(Object.entries(parameters));
});

test.each([
  "",
  ";",
  '"a"',
  "a b",
  "a; b",
  "a; b=",
  'a; b="',

  'a; b="c"d',
  "a; b=c d",
  "a; =c",
  "a; b=1; B=2",
  'a; b="\\"; c="d',
])("%j is none", (text) => {
  expect(parseParameters(text)).toBeUndefined();
});

test("takes time in proportion to the text, whatever is in it", () => {
  const long = 200_000;
  const startMs = performance.now();
  for (const part of ["a", " ", "\t;", "; ", '"', '\\"', '; a="', "\\"]) {
    parseParameters(`x; a="${part.repeat(long)}`);
    parseParameters(`x${part.repeat(long)}`);
  }
  // Some 0.05 s.
  expect(performance.now() - startMs).toBeLessThan(5_000);
});

test.each([
  ["white space", ";", "\t"],
  ["empty parameters", "", "; "],
  ["a value in quotes", ';b="', '\\"'],
])("%s without end is read once", (_, first, rest) => {
  expect(parseParameters(`a${first}${rest.repeat(1 << 20)}\0`)).toBeUndefined();
});
