/**
 * `npm run fuzz [-- TARGET…] [--seconds 60] [--seed N]`: inputs without end for what the network reaches, or for some of
 * it; all targets share the time. `codec` is the oracle, with `--only conformance,encode` for some of its schemas and
 * properties; with `--script` without WebAssembly.
 *
 * Prints its seed first; the same seed asks the same questions in the same order. What did not hold is shrunk, printed,
 * and ends the run with exit code 1.
 */
import { parseArgs } from "node:util";
import { useWasm } from "../../src/codec/wasm-engine.ts";
import { wasmModule } from "../wasm.ts";
import { fuzzCodec } from "./codec.ts";
import { run } from "./target.ts";
import { TARGETS } from "./targets.ts";

const INPUTS_A_ROUND = 500;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: "string", default: "" },
    script: { type: "boolean", default: false },
  },
});
if (!values.script) useWasm(wasmModule);
const all = ["codec", ...Object.keys(TARGETS)];
const names = positionals.length > 0 ? positionals : all;
const stranger = names.find((name) => !all.includes(name));

async function main(): Promise<number> {
  if (stranger !== undefined) {
    console.error(`there is no target ${stranger}; there are ${all.join(", ")}`);
    return 2;
  }
  const seed = Number(values.seed);
  const seconds = Number(values.seconds) / names.length;
  console.log(`seed ${seed}`);
  for (const name of names) {
    const isRight = name === "codec" ? await fuzzCodec(seed, seconds, values.only) : await fuzz(name, seed, seconds);
    if (!isRight) return 1;
  }
  return 0;
}

async function fuzz(name: string, seed: number, seconds: number): Promise<boolean> {
  const target = TARGETS[name];
  if (!target) return false;
  const end = performance.now() + seconds * 1000;
  let inputs = 0;
  for (let round = 0; performance.now() < end; round++) {
    const fault = await run(name, target, (seed + round) | 0, INPUTS_A_ROUND);
    if (fault !== undefined) {
      console.log(`${name}, round ${round}\n${fault}`);
      return false;
    }
    inputs += INPUTS_A_ROUND;
  }
  console.log(`${name}: ${inputs} inputs`);
  return true;
}

process.exitCode = await main();
