/** The codec against protobuf-es over many schemas, in short; `npm run fuzz` asks the same at length. */
import { describe, expect, it } from "vitest";
import { PROPERTIES, questions, type Tally } from "./oracle-properties.ts";
import { EXAMINEES } from "./oracle-schemas.ts";

const SEED = 20_260_401;
const RUNS = 150;

describe.each(["conformance", "catalogue", "Pub/Sub", "Firestore"])("%s", async (name) => {
  const { oracle, descs } = (await EXAMINEES[name]?.()) ?? expect.fail(`no ${name}`);

  it.each(PROPERTIES)("%s: as protobuf-es has it", (property) => {
    const tally: Tally = new Map();
    expect(questions(oracle, descs, tally)[property](SEED, RUNS)).toBeUndefined();
    expect(tally.get("same")).toBeGreaterThan(property.endsWith("damaged") ? RUNS / 15 : RUNS / 3);
  });
});
