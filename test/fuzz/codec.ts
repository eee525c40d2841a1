/** The oracle at length, over all its schemas. */
import { PROPERTIES, questions, type Tally } from "../codec/oracle-properties.ts";
import { EXAMINEES } from "../codec/oracle-schemas.ts";

const RUNS_A_ROUND = 200;

/**
 * @param only names of schemas and of properties, separated by commas; of either kind all, where none is named.
 * @returns false when something did not hold; it is printed.
 */
export async function fuzzCodec(seed: number, seconds: number, only: string): Promise<boolean> {
  const named = only.split(",").filter((name) => name !== "");
  const wanted = <T extends string>(all: readonly T[]): readonly T[] => {
    const some = all.filter((name) => named.includes(name));
    return some.length > 0 ? some : all;
  };
  const examinees = await Promise.all(
    wanted(Object.keys(EXAMINEES)).map(async (name) => ({ name, ...(await EXAMINEES[name]?.()) })),
  );
  const tallies = new Map<string, Tally>();
  const end = performance.now() + seconds * 1000;
  for (let round = 0; performance.now() < end; round++) {
    for (const { name, oracle, descs } of examinees) {
      if (!oracle || !descs) throw new Error(`no schema ${name}`);
      for (const property of wanted(PROPERTIES)) {
        const tally: Tally = tallies.get(property) ?? new Map();
        tallies.set(property, tally);
        const fault = questions(oracle, descs, tally)[property]((seed + round) | 0, RUNS_A_ROUND);
        if (fault === undefined) continue;
        console.log(`codec: ${name}, ${property}, round ${round}\n${fault}`);
        return false;
      }
    }
  }
  for (const [property, tally] of tallies) {
    console.log(`codec, ${property}: ${[...tally].map(([verdict, count]) => `${count} ${verdict}`).join(", ")}`);
  }
  return true;
}
