/** What is compared: our codec, @bufbuild/protobuf, and text coding with JSON.parse or JSON.stringify alone. */
import { type DescMessage, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { Codec } from "../../src/codec/codec.ts";
import { compileScriptCodec } from "../../src/codec/compile.ts";
import { createCodec } from "../../src/codec-api.ts";
import { JSON_DEFAULTS } from "../../src/config.ts";
import { builtinMessage } from "../../src/schema/builtin.ts";
import { createMessageReader } from "../../src/schema/read-message.ts";
import { type Order, reordered } from "./wire-order.ts";

export type Operation = "encode" | "decode";
/** `script` is ours without WebAssembly; `bare` is the JSON half alone, without a schema. */
export const SUBJECTS = ["ours", "script", "protobufEs", "bare"] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Converts the variant of that number. */
export type Run = (variant: number) => unknown;

export interface Subjects {
  readonly runs: Readonly<Record<Subject, Run>>;
  /** Bytes of the JSON of one variant, in the mean. */
  readonly jsonBytes: number;
}

const messages = createMessageReader();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param order of the fields in the wire. @throws Error when our output means something else than that of protobuf-es. */
export function createSubjects(
  operation: Operation,
  desc: DescMessage,
  values: readonly unknown[],
  order?: Order,
): Subjects {
  const texts = values.map((value) => encoder.encode(JSON.stringify(value)));
  const jsonBytes = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
  return { runs: operation === "encode" ? encoders(desc, texts) : decoders(desc, values, order), jsonBytes };
}

function encoders(desc: DescMessage, inputs: readonly Uint8Array[]): Record<Subject, Run> {
  const input = (variant: number) => inputs[variant] as Uint8Array;
  const codec = createCodec(desc);
  const script = createScriptCodec(desc);
  const runs = {
    ours: (variant: number) => codec.encode(input(variant)),
    script: (variant: number) => script.encode(input(variant)),
    protobufEs: (variant: number) => toBinary(desc, fromJson(desc, JSON.parse(decoder.decode(input(variant))))),
    bare: (variant: number) => JSON.parse(decoder.decode(input(variant))),
  };
  for (const variant of inputs.keys()) {
    const [ours, theirs] = [runs.ours(variant), runs.protobufEs(variant)].map((wire) => show(desc, wire));
    if (ours !== theirs) throw new Error(`${desc.typeName}: our wire differs from that of protobuf-es`);
  }
  return runs;
}

function decoders(desc: DescMessage, values: readonly unknown[], order?: Order): Record<Subject, Run> {
  const tidy = values.map((value) => toBinary(desc, fromJson(desc, JSON.parse(JSON.stringify(value)))));
  const inputs = order ? tidy.map((wire) => reordered(desc, wire, order)) : tidy;
  const objects = inputs.map((wire) => toJson(desc, fromBinary(desc, wire)));
  const input = (variant: number) => inputs[variant] as Uint8Array;
  const codec = createCodec(desc);
  const script = createScriptCodec(desc);
  for (const [variant, wire] of inputs.entries()) {
    const ours = toBinary(desc, fromJson(desc, JSON.parse(decoder.decode(codec.decode(input(variant))))));
    if (show(desc, ours) !== show(desc, wire)) {
      throw new Error(`${desc.typeName}: our JSON differs from that of protobuf-es`);
    }
  }
  return {
    ours: (variant) => codec.decode(input(variant)),
    script: (variant) => script.decode(input(variant)),
    protobufEs: (variant) => encoder.encode(JSON.stringify(toJson(desc, fromBinary(desc, input(variant))))),
    bare: (variant) => encoder.encode(JSON.stringify(objects[variant])),
  };
}

function show(desc: DescMessage, wire: Uint8Array): string {
  return JSON.stringify(toJson(desc, fromBinary(desc, wire)));
}

function createScriptCodec(desc: DescMessage): Pick<Codec, "encode" | "decode"> {
  return compileScriptCodec(messages.read(desc), {
    registry: { message: builtinMessage },
    options: JSON_DEFAULTS,
  });
}
