/**
 * The codec in workerd and in Node: against @bufbuild/protobuf and against text coding with JSON.parse or
 * JSON.stringify, which know no schema; and hostile bodies against ordinary ones.
 *
 * `--write` puts the figures into the README.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { useWasm } from "../src/codec/wasm-engine.ts";
import { compileProtos } from "../src/node/protos.ts";
import { buildWasm } from "../src/node/wasm.ts";
import { Core, type HostileFigures } from "./codec/core.ts";
import { hostileJson } from "./codec/hostile-json.ts";
import { hostileWire } from "./codec/hostile-wire.ts";
import { geometricMean } from "./codec/pace.ts";
import { payloadClasses } from "./codec/payloads.ts";
import { cpuMs, nodeRuntime, type Runtime, type RuntimeFigures } from "./codec/runtime.ts";
import type { Operation } from "./codec/subjects.ts";
import { startWorkerd } from "./codec/workerd.ts";
import { writeNumbers } from "./figures/readme.ts";

const OPERATIONS = ["encode", "decode"] as const;

interface Mean {
  readonly operation: Operation;
  readonly timesScript: number;
  readonly timesProtobufEs: number;
  readonly ofBare: number;
}

interface Report {
  readonly runtime: string;
  readonly means: readonly Mean[];
  readonly results: readonly RuntimeFigures[];
}

export async function run({ write }: { readonly write: boolean }): Promise<void> {
  useWasm(new WebAssembly.Module(await readFile(await buildWasm())));
  const set = await compileProtos(fileURLToPath(new URL("codec", import.meta.url)));
  const runtimes = [await startWorkerd(set), nodeRuntime(new Core(set, cpuMs))];
  try {
    const reports: Report[] = [];
    const hostile: object[] = [];
    // One runtime after the other: while Node measures it lets connections to workerd time out.
    for (const runtime of runtimes) {
      reports.push(await measure(runtime));
      hostile.push({ runtime: nameOf(runtime), results: await measureHostile(runtime) });
    }
    if (write) await writeNumbers("codec", table(reports));
    const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toFixed(2)) : value);
    console.log(`result ${JSON.stringify({ bench: "codec", runtimes: reports, hostile }, rounded)}`);
  } finally {
    for (const runtime of runtimes) await runtime.stop();
  }
}

function nameOf({ name, version }: Runtime): string {
  return `${name} ${version}`;
}

async function measure(runtime: Runtime): Promise<Report> {
  console.log(`\ncodec in ${nameOf(runtime)}: median of rounds`);
  printRow("", ["us/call", "x without wasm", "x protobuf-es", "of bare JSON", "heap B/call", "a JSON byte"]);
  const results: RuntimeFigures[] = [];
  for (const operation of OPERATIONS) {
    for (const payload of payloadClasses) {
      if (payload.order && operation === "encode") continue;
      const result = await runtime.payload(operation, payload.name);
      results.push(result);
      const { us, timesScript, timesProtobufEs, ofBare, heapB, heapBPerJsonByte } = result;
      printRow(`${operation} ${payload.name}`, [us, timesScript, timesProtobufEs, ofBare, heapB, heapBPerJsonByte]);
    }
  }
  const means = OPERATIONS.map((operation) => meanOf(operation, results));
  for (const { operation, timesScript, timesProtobufEs, ofBare } of means) {
    printRow(`${operation}, geometric mean`, [undefined, timesScript, timesProtobufEs, ofBare]);
  }
  return { runtime: nameOf(runtime), means, results };
}

async function measureHostile(runtime: Runtime): Promise<HostileFigures[]> {
  console.log(`\nhostile bodies in ${nameOf(runtime)}: median of rounds`);
  printRow("", ["ns/byte", "x ordinary"]);
  const results: HostileFigures[] = [];
  for (const operation of OPERATIONS) {
    for (const { name } of operation === "encode" ? hostileJson : hostileWire) {
      const result = await runtime.hostile(operation, name);
      results.push(result);
      const { nsPerByte, timesOrdinary, refused } = result;
      printRow(`hostile/${operation} ${name}${refused ? " (refused)" : ""}`, [nsPerByte, timesOrdinary]);
    }
  }
  return results;
}

/** Over wire as protobuf-es itself writes it. */
function meanOf(operation: Operation, results: readonly RuntimeFigures[]): Mean {
  const ordered = new Set(payloadClasses.filter(({ order }) => !order).map(({ name }) => name));
  const own = results.filter((result) => result.operation === operation && ordered.has(result.payload));
  return {
    operation,
    timesScript: geometricMean(own.map((result) => result.timesScript)),
    timesProtobufEs: geometricMean(own.map((result) => result.timesProtobufEs)),
    ofBare: geometricMean(own.map((result) => result.ofBare)),
  };
}

function printRow(name: string, columns: readonly (number | string | undefined)[]): void {
  const texts = columns.map((column = "") => (typeof column === "number" ? column.toFixed(2) : column));
  console.log(name.padEnd(56) + texts.map((text) => text.padStart(14)).join(""));
}

/** For the README: one line for each direction and runtime. */
function table(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ runtime, means, results }) =>
    means.map(({ operation, timesProtobufEs, ofBare }) => {
      const times = results.filter((each) => each.operation === operation).map((each) => each.timesProtobufEs);
      const direction = operation === "encode" ? "JSON to protobuf" : "protobuf to JSON";
      const figures = [timesProtobufEs, Math.min(...times), Math.max(...times)].map((each) => `${each.toFixed(1)}×`);
      return `| ${direction}, ${runtime} | ${figures.join(" | ")} | ${ofBare.toFixed(2)}× |`;
    }),
  );
  return [
    "| | speed of @bufbuild/protobuf | at the least | at the most | time of JSON alone |",
    "|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
