import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonReader } from "../../src/codec/json-reader.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Builds what JSON.parse builds, by walking. */
function read(reader: JsonReader): unknown {
  switch (reader.peek()) {
    case "null":
      reader.readNull();
      return null;
    case "boolean":
      return reader.readBoolean();
    case "number":
      return Number(reader.readNumber());
    case "string":
      return reader.readString();
    case "array": {
      const array: unknown[] = [];
      reader.openArray();
      for (let more = reader.firstElement(); more; more = reader.nextElement()) array.push(read(reader));
      return array;
    }
    case "object": {
      const entries: [string, unknown][] = [];
      reader.openObject();
      for (let key = reader.firstKey(); key !== undefined; key = reader.nextKey()) entries.push([key, read(reader)]);
      return Object.fromEntries(entries);
    }
  }
}

function readAll(text: string | Uint8Array): unknown {
  const reader = new JsonReader(typeof text === "string" ? bytes(text) : text);
  const value = read(reader);
  reader.end();
  return value;
}

function skipAll(text: string | Uint8Array, levels = 100): void {
  const reader = new JsonReader(typeof text === "string" ? bytes(text) : text);
  reader.skip(levels);
  reader.end();
}

function errorOf(run: () => unknown): ConnectError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("JsonReader", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(readAll(text)).toEqual(JSON.parse(text));
        skipAll(text);
      }),
    );
  });

  it("accepts and refuses as JSON.parse does", () => {
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ue+-.0129truefalsn \t\n') });
    fc.assert(
      fc.property(noise, (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(errorOf(() => readAll(text)).code).toBe(Code.InvalidArgument);
          expect(errorOf(() => skipAll(text)).code).toBe(Code.InvalidArgument);
          return;
        }
        expect(readAll(text)).toEqual(expected);
        skipAll(text);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["", "the text ends"],
    [" \n", "the text ends"],
    ["01", "expected the end"],
    ["+1", "expected a value"],
    ["-", "expected a digit"],
    ["1.", "expected a digit"],
    [".5", "expected a value"],
    ["1e", "expected a digit"],
    ["NaN", "expected a value"],
    ["True", "expected a value"],
    ["nul", "expected null"],
    ["[1,]", "expected a value"],
    ["[1 2]", "',' or ']'"],
    ['{"a":1,}', "double quotes"],
    ["{'a':1}", "double quotes"],
    ['{"a" 1}', "':'"],
    ['"a\nb"', "control character"],
    ['"\\x41"', "no such escape"],
    ['"\\u12g4"', "four hexadecimal digits"],
    ['"\\u12', "four hexadecimal digits"],
    ['"a', "does not end"],
    ['{"a":1', "the text ends"],
    ["1 2", "expected the end"],
    ["// no\n1", "expected a value"],
  ])("refuses %j", (text, reason) => {
    expect(errorOf(() => readAll(text)).rawMessage).toContain(reason);
    expect(errorOf(() => skipAll(text)).rawMessage).toContain(reason);
  });

  it("skips one byte order mark before the text, and keeps one inside a string", () => {
    expect(readAll("\ufeff[1]")).toEqual([1]);
    expect(readAll('"\ufeffa"')).toBe("\ufeffa");
    expect(errorOf(() => readAll("\ufeff\ufeff1")).code).toBe(Code.InvalidArgument);
  });

  it("refuses bytes that are not UTF-8, in values, keys and what is skipped", () => {
    for (const broken of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      const text = Uint8Array.from([0x22, ...broken, 0x22]);
      expect(errorOf(() => readAll(text)).rawMessage).toContain("UTF-8");
      expect(errorOf(() => skipAll(text)).rawMessage).toContain("UTF-8");
    }
  });

  it("keeps lone surrogates that were escaped, for the caller to judge", () => {
    expect(readAll('"a\\ud800"')).toBe("a\ud800");
    expect(readAll('"\\ud83d\\ude08"')).toBe("\u{1f608}");
  });

  it("keeps the text of a number", () => {
    expect(new JsonReader(bytes(" -12.50e+400 ")).readNumber()).toBe("-12.50e+400");
  });

  it("counts lines, and columns in characters", () => {
    expect(errorOf(() => readAll('{\n  "é😈": ?')).rawMessage).toContain("(line 2, column 9)");
    expect(errorOf(() => readAll("\ufeff?")).rawMessage).toContain("(line 1, column 1)");
  });

  it("skips up to a number of levels without recursing", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    skipAll(nested(100));
    expect(errorOf(() => skipAll(nested(101))).rawMessage).toContain("depth");
    skipAll(nested(1_000_000), Number.POSITIVE_INFINITY);
  });

  it("tells the keys that it skips, and where their objects are", () => {
    const found: [number, string, number][] = [];
    const reader = new JsonReader(bytes(' {"a":[{"b": {}}],"c":1}'));
    reader.skip(10, (object, key) => found.push([object, key, reader.offset]));
    expect(found).toEqual([
      [1, "a", 6],
      [7, "b", 12],
      [1, "c", 22],
    ]);
  });
});
