/**
 * `npm run fuzz [-- --seconds 60] [--seed N] [--only conformance,encode]`: the oracle at length, over all its schemas.
 *
 * Prints its seed first; the same seed asks the same questions in the same order. A failure is shrunk, printed, and
 * ends the run with exit code 1.
 */
import { parseArgs } from "node:util";
import { PROPERTIES, questions, type Tally } from "../codec/oracle-properties.ts";
import { EXAMINEES } from "../codec/oracle-schemas.ts";

const RUNS_A_ROUND = 200;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    /** Names of schemas and of properties, separated by commas; of either kind all, where none is named. */
    only: { type: "string", default: "" },
  },
});
const seed = Number(values.seed);
const end = performance.now() + Number(values.seconds) * 1000;
const only = values.only.split(",").filter((name) => name !== "");
const wanted = <T extends string>(all: readonly T[]): readonly T[] => {
  const named = all.filter((name) => only.includes(name));
  return named.length > 0 ? named : all;
};

console.log(`seed ${seed}`);
const tallies = new Map<string, Tally>();
const examinees = await Promise.all(
  wanted(Object.keys(EXAMINEES)).map(async (name) => ({ name, ...(await EXAMINEES[name]?.()) })),
);

function ask(): number {
  for (let round = 0; performance.now() < end; round++) {
    for (const { name, oracle, descs } of examinees) {
      if (!oracle || !descs) throw new Error(`no schema ${name}`);
      for (const property of wanted(PROPERTIES)) {
        const tally: Tally = tallies.get(property) ?? new Map();
        tallies.set(property, tally);
        const fault = questions(oracle, descs, tally)[property]((seed + round) | 0, RUNS_A_ROUND);
        if (fault !== undefined) {
          console.log(`${name}, ${property}, round ${round}\n${fault}`);
          return 1;
        }
      }
    }
  }
  for (const [property, tally] of tallies) {
    console.log(`${property}: ${[...tally].map(([verdict, count]) => `${count} ${verdict}`).join(", ")}`);
  }
  return 0;
}

process.exitCode = ask();
