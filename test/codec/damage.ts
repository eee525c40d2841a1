/** What may befall JSON text and wire: cut, flipped, shuffled, repeated. Places are fractions of the length. */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { concat } from "./wire-arbitrary.ts";

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const byte = fc.integer({ min: 0, max: 255 });
const index = (at: number, { length }: { readonly length: number }) => Math.floor(at * length);

type Damage<T> = fc.Arbitrary<(whole: T) => T>;

/** One to three damages, one after another. */
function some<T>(one: Damage<T>): Damage<T> {
  return fc
    .array(one, { minLength: 1, maxLength: 3 })
    .map((damages) => (whole) => damages.reduce((damaged, damage) => damage(damaged), whole));
}

/** Cuts off the end, changes a byte, puts one in, takes one out. */
export const damage: fc.Arbitrary<(wire: Uint8Array) => Uint8Array> = fc.oneof(
  place.map((at) => (wire: Uint8Array) => wire.subarray(0, Math.floor(at * wire.length))),
  fc.tuple(place, byte).map(([at, byte]) => (wire: Uint8Array) => {
    const damaged = wire.slice();
    damaged[Math.floor(at * wire.length)] = byte;
    return damaged;
  }),
  fc.tuple(place, byte).map(([at, byte]) => (wire: Uint8Array) => {
    const index = Math.floor(at * wire.length);
    return new Uint8Array([...wire.subarray(0, index), byte, ...wire.subarray(index)]);
  }),
  place.map((at) => (wire: Uint8Array) => wire.filter((_, i) => i !== Math.floor(at * wire.length))),
);

export const wireDamage: Damage<Uint8Array> = some<Uint8Array>(
  fc.oneof(
    damage,
    fc.tuple(place, fc.nat(7)).map(([at, bit]) => (wire: Uint8Array) => {
      const flipped = wire.slice();
      const i = index(at, wire);
      flipped[i] = (wire[i] ?? 0) ^ (1 << bit);
      return flipped;
    }),
    fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 5 })).map(([at, more]) => (wire: Uint8Array) => {
      const i = index(at, wire);
      return concat([wire.subarray(0, i), more, wire.subarray(i)]);
    }),
    fc.tuple(place, place).map(
      ([a, b]) =>
        (wire: Uint8Array) =>
          concat([wire, slice(wire, a, b)]),
    ),
    fc.array(place, { minLength: 16, maxLength: 16 }).map((order) => (wire: Uint8Array) => {
      const keyed = records(wire).map((record, i) => ({ record, key: order[i % order.length] ?? 0 }));
      return concat(keyed.sort((a, b) => a.key - b.key).map(({ record }) => record));
    }),
    place.map((at) => (wire: Uint8Array) => {
      const all = records(wire);
      return concat([wire, ...all.slice(index(at, all), index(at, all) + 1)]);
    }),
  ),
);

function slice(wire: Uint8Array, a: number, b: number): Uint8Array {
  return wire.subarray(index(Math.min(a, b), wire), index(Math.max(a, b), wire));
}

/** The records of a message, tag and value; bytes that are none are one record. */
function records(wire: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(wire);
  let start = 0;
  try {
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      reader.skip(wireType, number);
      found.push(wire.subarray(start, reader.pos));
      start = reader.pos;
    }
  } catch {
    found.push(wire.subarray(start));
  }
  return found;
}

/** Tokens and parts of tokens, that stand well or badly anywhere. */
const BITS = [...'01-eE+."\\{}[],: _Z=\t\u0001', "null", "true", "NaN", "\\u0041", "\\ud800", "\\/", "00", "1e400"];
BITS.push("9223372036854775807", "18446744073709551616", "4294967296", "-2147483649", "0.1", "\ud83d\ude00", "\ufeff");
const bit = fc.constantFrom(...BITS);

/** @param others texts of the same message, whose members may come in. */
export function jsonDamage(others: fc.Arbitrary<string>): Damage<string> {
  return some<string>(
    fc.oneof(
      place.map((at) => (text: string) => text.slice(0, index(at, text))),
      fc.tuple(place, bit).map(
        ([at, bit]) =>
          (text: string) =>
            replaced(text, index(at, text), 0, bit),
      ),
      fc.tuple(place, bit).map(
        ([at, bit]) =>
          (text: string) =>
            replaced(text, index(at, text), 1, bit),
      ),
      place.map((at) => (text: string) => replaced(text, index(at, text), 1, "")),
      // Repeats or drops what stands between two places.
      fc.tuple(place, place).map(([a, b]) => (text: string) => {
        const [from, to] = [index(a, text), index(b, text)];
        return text.slice(0, from) + text.slice(Math.min(from, to));
      }),
      others.map((other) => (text: string) => `${text.slice(0, -1)},${other.slice(1)}`),
      // Exchanges the values of two members, most often of different types.
      fc.tuple(place, place).map(
        ([a, b]) =>
          (text: string) =>
            exchanged(text, a, b),
      ),
    ),
  );
}

function replaced(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

function exchanged(text: string, a: number, b: number): string {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return text;
  const entries = Object.entries(whole);
  const [one, other] = [entries[index(a, entries)], entries[index(b, entries)]];
  if (one && other) [one[1], other[1]] = [other[1], one[1]];
  return JSON.stringify(Object.fromEntries(entries));
}
