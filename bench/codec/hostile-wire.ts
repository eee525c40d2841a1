/** Hostile wire. */
import { HOSTILE_BYTES, type HostileInput } from "./hostile.ts";

type Bytes = readonly number[];

const VARINT = 0;
const I64 = 1;
const LEN = 2;
const SGROUP = 3;
const EGROUP = 4;

function varint(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

const tag = (number: number, wireType: number): Bytes => varint(number * 8 + wireType);
const len = (number: number, ...content: readonly Bytes[]): Bytes => {
  const bytes = content.flat();
  return [...tag(number, LEN), ...varint(bytes.length), ...bytes];
};
const ascii = (text: string): Bytes => Array.from(text, (character) => character.charCodeAt(0));
const int = (number: number, value: number): Bytes => [...tag(number, VARINT), ...varint(value)];
const double = (value: number): Bytes => [...new Uint8Array(new Float64Array([value]).buffer)];

/** The pieces in turn, as often as it takes to fill the body. */
function filled(piece: Bytes | ((index: number) => Bytes), after: Bytes = []): Uint8Array {
  const wire = new Uint8Array(HOSTILE_BYTES);
  let at = 0;
  for (let i = 0; ; i++) {
    const next = typeof piece === "function" ? piece(i) : piece;
    if (at + next.length + after.length > wire.length) break;
    wire.set(next, at);
    at += next.length;
  }
  wire.set(after, at);
  return wire.subarray(0, at + after.length);
}

/** One field that is all the body. */
function one(number: number, content: Uint8Array): Uint8Array {
  const head = [...tag(number, LEN), ...varint(content.length)];
  const wire = new Uint8Array(head.length + content.length);
  wire.set(head);
  wire.set(content, head.length);
  return wire;
}

function nested(number: number, levels: number, inner: Uint8Array): Uint8Array {
  let wire = inner;
  for (let i = 0; i < levels; i++) wire = one(number, wire);
  return wire;
}

const asBytes = (wire: Uint8Array): Bytes => [...wire];
const text = (piece: Bytes, after: Bytes = []): Uint8Array => one(4, filled(piece, after));

const DEFAULTS = { emitDefaults: true } as const;
/** Five members, as backends send them, in order. */
const MEMBERS: readonly Bytes[] = [
  len(4, ascii("Ada Lovelace")),
  len(7, len(1, ascii("theme")), len(2, ascii("dark"))),
  len(9, double(51.5), double(-0.1276)),
  int(14, 36),
  len(16, ascii("London")),
];
const PLAIN = len(2, ...MEMBERS);

export const hostileWire: readonly HostileInput[] = [
  { name: "tiny unknown fields", create: () => filled(int(15, 0)) },
  { name: "unknown groups", create: () => filled([...tag(15, SGROUP), ...tag(15, EGROUP)]) },
  {
    name: "unknown groups, deep",
    create: () => filled([tag(15, SGROUP), tag(15, EGROUP)].flatMap((each) => Array(90).fill(each).flat())),
  },
  { name: "unknown groups that only begin", create: () => filled(tag(15, SGROUP)), refused: true },
  { name: "wrong wire types", create: () => filled([...tag(4, I64), ...double(1)]) },
  { name: "empty messages", create: () => filled(len(2)) },
  { name: "empty messages, emitDefaults", create: () => filled(len(2)), options: DEFAULTS },
  { name: "one message in many records", create: () => filled(len(1)) },
  { name: "one message in many records, deep", create: () => filled(asBytes(nested(1, 90, new Uint8Array()))) },
  { name: "one message in many records, of lists", create: () => filled(len(1, len(5, ascii("a")))) },
  { name: "ordinary", create: () => filled(PLAIN) },
  { name: "ordinary, members descending", create: () => filled(len(2, ...MEMBERS.toReversed())) },
  { name: "ordinary, a wrong record last", create: () => filled(PLAIN, int(0, 0)), refused: true },
  { name: "ordinary, a list goes on at the end", create: () => filled(PLAIN, [...len(5), ...len(2)]) },
  { name: "ordinary, one byte missing", create: () => filled(PLAIN, [...tag(4, LEN), 1]), refused: true },
  { name: "one number over and over", create: () => filled(int(14, 1)) },
  { name: "members of a oneof in turn", create: () => filled([...len(16), ...len(17)]) },
  { name: "integers, one to a record", create: () => filled(int(11, 1)) },
  { name: "integers, packed and not, in turn", create: () => filled([...int(11, 1), ...len(11, [1])]) },
  { name: "two lists in turn", create: () => filled([...int(11, 1), ...int(12, 1)]) },
  { name: "map and list in turn", create: () => filled((i) => [...len(5), ...len(7, len(1, ascii(`${i}`)))]) },
  { name: "many map keys", create: () => filled((i) => len(7, len(1, ascii(`${i}`)))) },
  { name: "one map key over and over", create: () => filled(len(7, len(1, ascii("a")))) },
  { name: "map entries, value first", create: () => filled((i) => len(7, len(2), len(1, ascii(`${i}`)))) },
  { name: "empty map entries", create: () => filled((i) => [...len(8), ...len(8, int(1, i))]) },
  { name: "deep, a long text inside", create: () => nested(1, 98, text(ascii("x"))) },
  { name: "deep, often", create: () => filled(len(2, asBytes(nested(1, 90, new Uint8Array())))) },
  {
    name: "too deep at the end",
    create: () => filled(PLAIN, len(17, asBytes(nested(1, 99, new Uint8Array())))),
    refused: true,
  },
  { name: "control characters", create: () => text([1]) },
  { name: "characters of three bytes", create: () => text([0xe6, 0x95, 0xb0]) },
  { name: "not UTF-8 at the end", create: () => text(ascii("x"), [0xff]), refused: true },
  { name: "empty texts", create: () => filled(len(5)) },
  {
    name: "doubles of 17 digits",
    create: () =>
      one(
        9,
        filled((i) => double(1 / (i + 3))),
      ),
  },
  {
    name: "doubles, subnormal",
    create: () =>
      one(
        9,
        filled((i) => double((i + 1) * 5e-324)),
      ),
  },
  {
    name: "doubles, large",
    create: () =>
      one(
        9,
        filled((i) => double(1e300 / (i + 3))),
      ),
  },
  { name: "varints of ten bytes", create: () => one(12, filled([...Array(9).fill(0xff), 1])) },
  { name: "varints, longer than they need", create: () => one(11, filled([...Array(9).fill(0x80), 0])) },
  { name: "a varint that does not end", create: () => one(11, filled([0x80])), refused: true },
  { name: "enum numbers without a name", create: () => one(13, filled([9])) },
  { name: "times", create: () => filled((i) => len(20, int(1, 1.7e9 + i), int(2, 123_456_789))) },
  { name: "times out of range at the end", create: () => filled(len(20), len(20, int(2, 1e9))), refused: true },
  {
    name: "Any",
    create: () => filled(len(19, len(1, ascii("/google.protobuf.Duration")), len(2, int(1, 1)))),
  },
  { name: "Any in Any", create: () => filled(len(19, asBytes(anyInAny(45)))) },
  { name: "deep lists of Value", create: () => one(18, one(6, filled(listOfLists(40)))) },
  { name: "field masks", create: () => filled(len(21, len(1, ascii("a_b")), len(1, ascii("c")))) },
];

function anyInAny(levels: number): Uint8Array {
  let value = len(1, ascii("/google.protobuf.Empty"));
  for (let i = 0; i < levels; i++) value = [...len(1, ascii("/google.protobuf.Any")), ...len(2, value)];
  return Uint8Array.from(value);
}

/** One element of a ListValue: a Value that holds a list, and so on. */
function listOfLists(levels: number): Bytes {
  let value: Bytes = len(6);
  for (let i = 0; i < levels; i++) value = len(6, len(1, value));
  return len(1, value);
}
