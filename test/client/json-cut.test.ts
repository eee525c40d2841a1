import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cutArray, cutLines, type JsonCutter } from "../../src/client/json-cut.ts";
import { failure } from "../failure.ts";
import { cut, cuts } from "../protocol/cut.ts";

const BIG = 1 << 20;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const bytesOf = (text: string | Uint8Array) => (typeof text === "string" ? encoder.encode(text) : text);

/** The texts that come out, and what was thrown after them. */
function run(cutter: JsonCutter, pieces: readonly Uint8Array[]): { texts: string[]; fault?: unknown } {
  const texts: Uint8Array[] = [];
  try {
    for (const piece of pieces) {
      const chunk = piece.slice();
      for (const text of cutter.push(chunk)) texts.push(text);
      // Whoever reads may use its buffer again: the texts must not be views of it.
      chunk.fill(0x21);
    }
    for (const text of cutter.end()) texts.push(text);
  } catch (fault) {
    return { texts: texts.map((text) => decoder.decode(text)), fault };
  }
  return { texts: texts.map((text) => decoder.decode(text)) };
}

function everyCut(bytes: Uint8Array): Uint8Array[][] {
  const halves = Array.from(bytes, (_, at) => [bytes.slice(0, at), bytes.slice(at)]);
  return [[bytes], Array.from(bytes, (byte) => Uint8Array.of(byte)), ...halves];
}

const json = fc.jsonValue({ maxDepth: 4 });
const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });
const spaceInLine = fc.string({ unit: fc.constantFrom(" ", "\t", "\r"), maxLength: 3 });

describe("an array", () => {
  test.each<[string, unknown[]]>([
    ["[]", []],
    ["[ ]", []],
    ["", []],
    [" \r\n\t", []],
    ["[1]", [1]],
    ["\uFEFF[1]", [1]],
    ["\uFEFF", []],
    ["\uFEFF \n[ 1 ]\n", [1]],
    [' [ {"a":1} , {"b":[2,3]} ] ', [{ a: 1 }, { b: [2, 3] }]],
    ['["]","[","{","}",",","\\"","\\\\","\\\\\\"]"]', ["]", "[", "{", "}", ",", '"', "\\", '\\"]']],
    ['[{"a\\"]":["}",{"\\\\":"\\\\"}]},[[[]]],{}]', [{ 'a"]': ["}", { "\\": "\\" }] }, [[[]]], {}]],
    ['["\u00e9\u4e2d\ud83d\ude00","\\u005d\\u0022"]', ["\u00e9\u4e2d\ud83d\ude00", ']"']],
    ["[null,true,-1.5e3]", [null, true, -1500]],
  ])("%j has the elements %j, cut anywhere", (text, elements) => {
    for (const pieces of everyCut(bytesOf(text))) {
      const { texts, fault } = run(cutArray(BIG), pieces);
      expect(fault).toBeUndefined();
      expect(texts.map((one) => JSON.parse(one))).toEqual(elements);
    }
  });

  it("of any values, with any white space, cut anywhere, has the elements that JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.array(json), fc.constantFrom(0, 1, 2), space, cuts, (values, indent, white, at) => {
        const inner = values.map((value) => white + JSON.stringify(value, undefined, indent) + white).join(",");
        const text = `${white}[${inner}]${white}`;
        const { texts, fault } = run(cutArray(BIG), cut(bytesOf(text), at));
        expect(fault).toBeUndefined();
        expect(texts.map((one) => JSON.parse(one))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("that breaks off anywhere is refused, after the elements that were whole", () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1 }), fc.nat(), cuts, (values, at, where) => {
        const text = bytesOf(JSON.stringify(values));
        const part = text.slice(0, 1 + (at % (text.length - 1)));
        const { texts, fault } = run(cutArray(BIG), cut(part, where));
        expect(fault).toEqual(failure(Code.InvalidArgument, `after ${texts.length} whole`));
        expect(texts.map((one) => JSON.parse(one))).toEqual(JSON.parse(JSON.stringify(values.slice(0, texts.length))));
      }),
    );
  });

  test.each<[string | Uint8Array, string[], string]>([
    ["{}", [], "expected ["],
    ["1", [], "expected ["],
    ['"[]"', [], "expected ["],
    ["x[1]", [], "expected ["],
    [Uint8Array.of(0xef), [], "expected ["],
    [Uint8Array.of(0xef, 0xbb), [], "expected ["],
    [Uint8Array.of(0xef, 0xbb, 0x5b, 0x5d), [], "expected ["],
    [Uint8Array.of(0x20, 0xef, 0xbb, 0xbf, 0x5b, 0x5d), [], "expected ["],
    ["\uFEFF\uFEFF[1]", [], "expected ["],
    ["[", [], "after 0 whole"],
    ["[1", [], "after 0 whole"],
    ["[1,", ["1"], "after 1 whole"],
    ['["]', [], "after 0 whole"],
    ['["\\"]', [], "after 0 whole"],
    ["[{]", ["{]"], "after 1 whole"],
    ["[}", [], "expected , or ]"],
    ["[1}", ["1"], "expected , or ]"],
    ["[{}{}]", ["{}"], "expected , or ]"],
    ["[[]x]", ["[]"], "expected , or ]"],
    ["[,]", [], "element 1 of the array is missing"],
    ["[1,]", ["1"], "element 2 of the array is missing"],
    ["[1,,2]", ["1"], "element 2 of the array is missing"],
    ["[1]1", ["1"], "text follows"],
    ["[1] []", ["1"], "text follows"],
    ["[]\uFEFF", [], "text follows"],
  ])("%j is refused after %j", (text, whole, mention) => {
    for (const pieces of everyCut(bytesOf(text))) {
      const { texts, fault } = run(cutArray(BIG), pieces);
      expect(texts).toEqual(whole);
      expect(fault).toEqual(failure(Code.InvalidArgument, mention));
    }
  });

  it("has an object or array out as soon as that is closed, before its comma has come", () => {
    const cutter = cutArray(BIG);
    const push = (text: string) => [...cutter.push(bytesOf(text))].map((one) => decoder.decode(one));
    expect(push('[{"a":[1]}')).toEqual(['{"a":[1]}']);
    expect(push(" \n")).toEqual([]);
    expect(push(",[2]")).toEqual(["[2]"]);
    expect(push(",3")).toEqual([]);
    expect(push(",{}]")).toEqual(["3", "{}"]);
  });

  it.each([-1, 0, 1])("holds elements at their limit, %i", (over) => {
    const element = `"${"a".repeat(50)}"`;
    const text = `[${[element, element].join()}]`;
    for (const pieces of everyCut(bytesOf(text))) {
      const { texts, fault } = run(cutArray(element.length - over), pieces);
      if (over <= 0) expect({ texts, fault }).toEqual({ texts: [element, element], fault: undefined });
      else expect(fault).toEqual(failure(Code.ResourceExhausted));
    }
  });

  it("refuses an endless element at its limit, not at its end", () => {
    const cutter = cutArray(1000);
    const push = () => [...cutter.push(bytesOf(`["${"a".repeat(98)}`))];
    for (let i = 0; i < 9; i++) push();
    expect(() => [push(), push()]).toThrow(failure(Code.ResourceExhausted));
  });

  it("is read in time linear in its length, however deep and however cut", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const { texts, fault } = run(cutArray(BIG), cut(bytesOf(`[${deep},"${"\\\\".repeat(200_000)}"]`), [0.1, 0.5, 0.9]));
    expect(fault).toBeUndefined();
    expect(texts.map((text) => text.length)).toEqual([400_000, 400_002]);
  });
});

describe("lines", () => {
  test.each<[string, unknown[]]>([
    ["", []],
    ["\n\n", []],
    [" \r\n\t\n", []],
    ["1\n2\n", [1, 2]],
    ["1\n2", [1, 2]],
    ["1\r\n2\r\n", [1, 2]],
    ["\n 1 \n\n\t2\n\n", [1, 2]],
    ['{"a":"\\n"}\n"\\u000a"\n', [{ a: "\n" }, "\n"]],
    ['"\u00e9\u4e2d\ud83d\ude00"\n[1]', ["\u00e9\u4e2d\ud83d\ude00", [1]]],
  ])("%j are the texts %j, cut anywhere", (text, values) => {
    for (const pieces of everyCut(bytesOf(text))) {
      const { texts, fault } = run(cutLines(BIG), pieces);
      expect(fault).toBeUndefined();
      expect(texts.map((one) => JSON.parse(one))).toEqual(values);
    }
  });

  it("of any values, with any white space, cut anywhere, are what JSON.parse reads of each", () => {
    fc.assert(
      fc.property(fc.array(json), spaceInLine, fc.boolean(), cuts, (values, white, isEnded, at) => {
        const lines = values.map((value) => white + JSON.stringify(value) + white);
        const text = lines.join(`\n${white}\n`) + (isEnded ? "\n" : "");
        const { texts, fault } = run(cutLines(BIG), cut(bytesOf(text), at));
        expect(fault).toBeUndefined();
        expect(texts.map((one) => JSON.parse(one))).toEqual(lines.map((line) => JSON.parse(line)));
      }),
    );
  });

  it("are not looked at inside: a line that is no JSON, and a byte order mark, come out as they are", () => {
    for (const pieces of everyCut(bytesOf("\uFEFF1\n}{\n"))) {
      expect(run(cutLines(BIG), pieces)).toEqual({ texts: ["\uFEFF1", "}{"] });
    }
  });

  it.each([-1, 0, 1])("are held at their limit, %i", (over) => {
    const line = `"${"a".repeat(50)}"`;
    for (const end of ["", "\n"]) {
      for (const pieces of everyCut(bytesOf(`${line}\n${line}${end}`))) {
        const { texts, fault } = run(cutLines(line.length - over), pieces);
        if (over <= 0) expect({ texts, fault }).toEqual({ texts: [line, line], fault: undefined });
        else expect(fault).toEqual(failure(Code.ResourceExhausted));
      }
    }
  });

  it("that do not end are refused at the limit", () => {
    const cutter = cutLines(1000);
    const push = () => [...cutter.push(bytesOf("a".repeat(100)))];
    for (let i = 0; i < 10; i++) push();
    expect(push).toThrow(failure(Code.ResourceExhausted));
  });
});
