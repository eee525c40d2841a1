/**
 * The codec against @bufbuild/protobuf, and against text coding with JSON.parse or JSON.stringify, which know no schema.
 *
 * Ratios are taken within a round, where all subjects meet the same neighbours; the median over the rounds counts.
 */
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createFileRegistry, type DescMessage, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createCodec } from "../src/codec-api.ts";
import { compileProtos } from "../src/node/protos.ts";
import { type PayloadClass, payloadClasses } from "./codec/payloads.ts";

const ROUNDS = 15;
/** How long one subject runs in one round, and before the first, roughly. */
const SLICE_MS = 12;
const WARM_UP_MS = 120;

const OPERATIONS = ["encode", "decode"] as const;
/** `bare` is the JSON half alone, without a schema. */
const SUBJECTS = ["ours", "protobufEs", "bare"] as const;
type Operation = (typeof OPERATIONS)[number];
type Subject = (typeof SUBJECTS)[number];

/** Converts the variant of that number. */
type Run = (variant: number) => unknown;

interface Result {
  readonly operation: Operation;
  readonly payload: string;
  /** One call of ours, median. */
  readonly us: number;
  /** How many times faster than @bufbuild/protobuf. */
  readonly timesProtobufEs: number;
  /** Time of ours over that of bare JSON. */
  readonly ofBare: number;
  /** JavaScript heap taken by one call of ours; the bytes of the output lie outside of it. */
  readonly heapB: number;
}

const text = { encoder: new TextEncoder(), decoder: new TextDecoder() };

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

export async function run(): Promise<void> {
  const set = await compileProtos(fileURLToPath(new URL("codec", import.meta.url)));
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  const results: Result[] = [];
  console.log(
    "codec: median of rounds\n                             us/call  x protobuf-es  of bare JSON  heap B/call",
  );
  for (const operation of ["encode"] as const) {
    for (const payload of payloadClasses) {
      const desc = registry.getMessage(payload.message);
      if (!desc) throw new Error(`no message ${payload.message}`);
      const result = measure(operation, payload, desc);
      results.push(result);
      print(`${operation} ${payload.name}`, result);
    }
  }
  const means = OPERATIONS.map((operation) => {
    const own = results.filter((result) => result.operation === operation);
    const timesProtobufEs = geometricMean(own.map((result) => result.timesProtobufEs));
    const ofBare = geometricMean(own.map((result) => result.ofBare));
    print(`${operation}, geometric mean`, { timesProtobufEs, ofBare });
    return { operation, timesProtobufEs, ofBare };
  });
  console.log(`result ${JSON.stringify({ bench: "codec", runtime: `node ${process.version}`, means, results })}`);
}

function print(name: string, { us, timesProtobufEs, ofBare, heapB }: Partial<Result>): void {
  const columns = [us?.toFixed(2), timesProtobufEs?.toFixed(2), ofBare?.toFixed(2), heapB?.toFixed(0)];
  const widths = [8, 15, 14, 13];
  console.log(name.padEnd(28) + columns.map((column = "", i) => column.padStart(widths[i] ?? 0)).join(""));
}

function measure(operation: Operation, payload: PayloadClass, desc: DescMessage): Result {
  const random = createRandom(1);
  const values = Array.from({ length: payload.variants }, () => payload.create(random));
  const runs = operation === "encode" ? encoders(desc, values) : decoders(desc, values);
  const calls = {} as Record<Subject, number>;
  for (const subject of SUBJECTS) calls[subject] = warmUp(runs[subject], values.length);
  const times: Record<Subject, number>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const time = {} as Record<Subject, number>;
    for (let i = 0; i < SUBJECTS.length; i++) {
      const subject = SUBJECTS[(i + round) % SUBJECTS.length] as Subject;
      time[subject] = usPerCall(runs[subject], calls[subject], values.length);
    }
    times.push(time);
  }
  return {
    operation,
    payload: payload.name,
    us: median(times.map(({ ours }) => ours)),
    timesProtobufEs: median(times.map(({ ours, protobufEs }) => protobufEs / ours)),
    ofBare: median(times.map(({ ours, bare }) => ours / bare)),
    heapB: heapPerCall(runs.ours, values.length),
  };
}

/** @throws Error when protobuf-es does not read in our wire what it reads in the JSON. */
function encoders(desc: DescMessage, values: readonly unknown[]): Record<Subject, Run> {
  const inputs = values.map((value) => text.encoder.encode(JSON.stringify(value)));
  const input = (variant: number) => inputs[variant] as Uint8Array;
  const codec = createCodec(desc);
  const runs: Record<Subject, (variant: number) => Uint8Array | unknown> = {
    ours: (variant) => codec.encode(input(variant)),
    protobufEs: (variant) => toBinary(desc, fromJson(desc, JSON.parse(text.decoder.decode(input(variant))))),
    bare: (variant) => JSON.parse(text.decoder.decode(input(variant))),
  };
  for (const [variant] of values.entries()) {
    const shown = [runs.ours(variant), runs.protobufEs(variant)].map((wire) =>
      JSON.stringify(toJson(desc, fromBinary(desc, wire as Uint8Array))),
    );
    if (shown[0] !== shown[1]) throw new Error(`${desc.typeName}: our wire differs from that of protobuf-es`);
  }
  return runs;
}

/** @throws Error when our JSON is another value than that of protobuf-es. */
function decoders(desc: DescMessage, values: readonly unknown[]): Record<Subject, Run> {
  const messages = values.map((value) => fromJson(desc, JSON.parse(JSON.stringify(value))));
  const inputs = messages.map((message) => toBinary(desc, message));
  const objects = messages.map((message) => toJson(desc, message));
  const input = (variant: number) => inputs[variant] as Uint8Array;
  const codec = createCodec(desc);
  for (const [variant, object] of objects.entries()) {
    const ours = fromJson(desc, JSON.parse(text.decoder.decode(codec.decode(input(variant)))));
    if (JSON.stringify(toJson(desc, ours)) !== JSON.stringify(object)) {
      throw new Error(`${desc.typeName}: our JSON differs from that of protobuf-es`);
    }
  }
  return {
    ours: (variant) => codec.decode(input(variant)),
    protobufEs: (variant) => text.encoder.encode(JSON.stringify(toJson(desc, fromBinary(desc, input(variant))))),
    bare: (variant) => text.encoder.encode(JSON.stringify(objects[variant])),
  };
}

/** @returns how many calls fill a slice. */
function warmUp(run: Run, variants: number): number {
  const start = performance.now();
  let calls = 0;
  do run(calls++ % variants);
  while (performance.now() - start < WARM_UP_MS);
  // What was measured cold says little: the second half of the calls is taken for the pace.
  const us = usPerCall(run, Math.max(1, calls >> 1), variants);
  return Math.max(variants, Math.ceil((SLICE_MS * 1000) / us));
}

function usPerCall(run: Run, calls: number, variants: number): number {
  const start = performance.now();
  for (let i = 0, variant = 0; i < calls; i++) {
    run(variant);
    if (++variant === variants) variant = 0;
  }
  return ((performance.now() - start) * 1000) / calls;
}

/** So few calls at a time that the collector does not come in between; where it does, the sample is dropped. */
function heapPerCall(run: Run, variants: number): number {
  const samples: number[] = [];
  for (let sample = 0; sample < 15; sample++) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < variants; i++) run(i);
    const taken = process.memoryUsage().heapUsed - before;
    if (taken > 0) samples.push(taken / variants);
  }
  return median(samples);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** Seeded, so that every run measures the same payloads (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
