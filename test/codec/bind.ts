/** Bound values for tests, and the rule that their records must keep. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { expect } from "vitest";
import type { Bound, BoundValue } from "../../src/codec/codec.ts";
import { encodeText } from "../../src/codec/text.ts";
import type { Field, Message } from "../../src/schema/model.ts";
import { messageOf } from "../proto.ts";
import { fieldOf, schema } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");

/** `{"f_kinds.f_string": "a", "r_int32": ["1", "2"]}` as the binding would make it. */
export function bind(
  values: Readonly<Record<string, string | readonly string[]>>,
  from: "path" | "query" = "path",
): Bound {
  const root: Bound = { fields: new Map() };
  for (const [name, texts] of Object.entries(values)) {
    const steps = name.split(".");
    const leaf = steps.pop() as string;
    let bound = root;
    let message: Message = kinds;
    for (const step of steps) {
      const field = fieldOf(message, step);
      const known = bound.fields.get(field);
      const below: BoundValue = known ?? { kind: "message", bound: { fields: new Map() } };
      bound.fields.set(field, below);
      if (below.kind !== "message" || !field.message) throw new Error(`${step} has no fields`);
      bound = below.bound;
      message = field.message;
    }
    const field = fieldOf(message, leaf);
    const records = [texts].flat().map((text) => encodeText(field, text, name));
    bound.fields.set(field, { kind: "record", wire: concat(records), name, from });
  }
  return root;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** No singular message field stands twice, at any level. */
export function expectOneRecordEach(message: Message, wire: Uint8Array): void {
  const reader = new BinaryReader(wire);
  const seen = new Set<Field>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = message.fields.find((field) => field.number === number);
    if (!field?.message || field.repeated) {
      reader.skip(wireType, number);
      continue;
    }
    expect(seen.has(field), `${field.name} stands twice`).toBe(false);
    seen.add(field);
    if (wireType === WireType.LengthDelimited) expectOneRecordEach(field.message, reader.bytes());
    else reader.skip(wireType, number);
  }
}
