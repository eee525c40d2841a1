/** Hostile JSON. */
import type { CodecOptions } from "../../src/codec-api.ts";
import { HOSTILE_BYTES, type HostileInput } from "./hostile.ts";

const encoder = new TextEncoder();

/** The piece, as often as it takes to fill the body, with commas between. @param piece may depend on its number. */
function filled(piece: string | ((index: number) => string), before: string, after: string): string {
  const pieces: string[] = [];
  for (let length = 0, i = 0; length < HOSTILE_BYTES; i++) {
    const next = typeof piece === "string" ? piece : piece(i);
    pieces.push(next);
    length += next.length + 1;
  }
  return before + pieces.join(",") + after;
}

const list = (field: string, piece: string | ((index: number) => string), after = "]}"): string =>
  filled(piece, `{"${field}":[`, after);
const text = (piece: string, after = '"}'): string => `{"text":"${piece.repeat(HOSTILE_BYTES / piece.length)}${after}`;
const nested = (before: string, levels: number, inner: string, after: string): string =>
  before.repeat(levels) + inner + after.repeat(levels);

interface Line {
  readonly name: string;
  readonly json: () => string;
  readonly refused?: true;
  readonly options?: CodecOptions;
}

const IGNORE = { unknownFields: "ignore" } as const;
/** Ten members, as callers send them. */
const PLAIN = '{"text":"Ada Lovelace","level":36,"doubles":[51.5,-0.1276],"labels":{"theme":"dark"},"left":"London"}';

const lines: readonly Line[] = [
  { name: "deep, a long text inside", json: () => nested('{"child":', 99, text("x"), "}") },
  { name: "deep, often", json: () => list("children", nested('{"child":', 97, "{}", "}")) },
  { name: "deep lists of Value", json: () => `{"value":${filled(nested("[", 45, "", "]"), "[", "]}")}` },
  { name: "deep objects of Value", json: () => `{"value":${filled(nested('{"":', 30, "0", "}"), "[", "]}")}` },
  {
    name: "too deep at the end",
    json: () => list("children", PLAIN, `,${nested('{"child":', 99, "{}", "}")}]}`),
    refused: true,
  },
  { name: "brackets that only open", json: () => `{"value":${"[".repeat(HOSTILE_BYTES)}`, refused: true },
  { name: "empty messages", json: () => list("children", "{}") },
  { name: "ordinary, a key with an escape last", json: () => list("children", PLAIN, '],"te\\u0078t":""}') },
  { name: "ordinary, 1e0 for an integer last", json: () => list("children", PLAIN, '],"level":1e0}') },
  { name: "ordinary, one byte missing", json: () => list("children", PLAIN, "]"), refused: true },
  { name: "ordinary, a field twice", json: () => list("children", PLAIN, '],"text":"","text":""}'), refused: true },
  { name: "ordinary, an unknown key last", json: () => list("children", PLAIN, '],"nope":0}'), refused: true },
  { name: "ordinary, unknown keys skipped", json: () => list("children", `{"nope":${PLAIN}}`), options: IGNORE },
  { name: "one unknown key, all the body", json: () => filled(PLAIN, '{"nope":[', "]}"), options: IGNORE },
  { name: "many unknown keys", json: () => filled((i) => `"n${i}":0`, "{", "}"), options: IGNORE },
  { name: "unknown enum names", json: () => list("kinds", (i) => `"NOPE_${i}"`), options: IGNORE },
  { name: "many map keys", json: () => filled((i) => `"${i}":""`, '{"labels":{', "}}") },
  {
    name: "many map keys, one twice",
    json: () => filled((i) => `"${i}":""`, '{"labels":{', ',"0":""}}'),
    refused: true,
  },
  { name: "many integers for map keys", json: () => filled((i) => `"${i}":true`, '{"flags":{', "}}") },
  { name: "many maps of one key", json: () => list("children", '{"labels":{"":""}}') },
  { name: "many keys of a Struct", json: () => filled((i) => `"${i}":0`, '{"value":{', "}}") },
  { name: "one number of all digits", json: () => `{"doubles":[0.${"1".repeat(HOSTILE_BYTES)}]}` },
  { name: "doubles of 800 digits", json: () => list("doubles", `0.${"0".repeat(20)}${"123456789".repeat(87)}`) },
  { name: "doubles of 30 digits", json: () => list("doubles", (i) => `1.00000000000000011102230246${i}`) },
  { name: "doubles, halfway cases", json: () => list("doubles", "9007199254740993") },
  { name: "doubles, subnormal", json: () => list("doubles", (i) => `${(i % 1000) + 2}.2250738585072011e-311`) },
  { name: "floats, halfway cases", json: () => list("floats", (i) => `1.00000005960464477539062${i % 10}`) },
  { name: "an integer of all zeros", json: () => `{"ints":[1.${"0".repeat(HOSTILE_BYTES)}]}` },
  { name: "integers as 1.0e1", json: () => list("ints", "1.0e1") },
  { name: "integers in quotes", json: () => list("longs", '"-9223372036854775808"') },
  { name: "an integer too large, all digits", json: () => `{"longs":[${"9".repeat(HOSTILE_BYTES)}]}`, refused: true },
  { name: "\\u of ASCII", json: () => text("\\u0041") },
  { name: "\\u of surrogate pairs", json: () => text("\\ud83d\\ude00") },
  { name: "\\u, a lone surrogate last", json: () => text("\\u0041", '\\ud800"}'), refused: true },
  { name: "short escapes", json: () => text("\\n\\/") },
  { name: "escapes between letters", json: () => text("abc\\n") },
  { name: "many short texts with \\u", json: () => list("texts", '"\\u0041"') },
  { name: "characters of three bytes", json: () => text("数") },
  { name: "a text that does not end", json: () => text("x", ""), refused: true },
  { name: "a control character last", json: () => text("x", '\n"}'), refused: true },
  { name: "white space, one run", json: () => `{"text":${" ".repeat(HOSTILE_BYTES)}""}` },
  { name: "white space everywhere", json: () => list("ints", " \n\t 1 \r\n ") },
  { name: "white space, then an error", json: () => `{"text":${" \n".repeat(HOSTILE_BYTES / 2)}0}`, refused: true },
  { name: "base64, short", json: () => list("blobs", '"_-8"') },
  { name: "base64, long, both alphabets", json: () => `{"blobs":["${"_-+/".repeat(HOSTILE_BYTES / 4)}"]}` },
  { name: "base64, wrong at the end", json: () => `{"blobs":["${"AAAA".repeat(HOSTILE_BYTES / 4)}*"]}`, refused: true },
  { name: "empty texts", json: () => list("texts", '""') },
  { name: "null for fields", json: () => list("children", '{"child":null,"text":null,"labels":null}') },
  { name: "Any, @type last", json: () => list("details", '{"value":"1s","@type":"a/google.protobuf.Duration"}') },
  {
    name: "Any in Any, @type last",
    json: () => {
      const type = '"@type":"/google.protobuf.Any"';
      return list(
        "details",
        nested('{"value":', 45, '{"value":"1s","@type":"/google.protobuf.Duration"}', `,${type}}`),
      );
    },
  },
  { name: "times with offsets", json: () => list("times", '"2026-12-01T12:00:00.123456789-07:30"') },
  { name: "field masks, short", json: () => list("masks", '"a,bC"') },
  { name: "one long field mask", json: () => `{"masks":["${"aB,".repeat(HOSTILE_BYTES / 3)}a"]}` },
];

export const hostileJson: readonly HostileInput[] = lines.map(({ json, ...line }) => ({
  ...line,
  create: () => encoder.encode(json()),
}));
