/**
 * Cold start: from nothing to the first and to the hundredth transcoded call. What a Worker that does nothing takes for as
 * many calls is subtracted, and not shown.
 *
 * Three times over: of the codec alone, in fresh processes of Node, whose clock is fine; the same in fresh isolates of
 * workerd, timed from outside; and of requests and answers through whole Workers, where those of the runtime cost the most.
 */
import { loadFixtures } from "./cold/fixtures.ts";
import { measureIsolates } from "./cold/isolates.ts";
import { measureProcesses } from "./cold/processes.ts";
import { CALLS, type Round } from "./cold/round.ts";
import { createSubjects, type Start, type Subject, type Work } from "./cold/subject.ts";

const ROUNDS = 15;

interface Lane {
  readonly runtime: "node" | "workerd";
  readonly work: Work;
  readonly measure: (subjects: readonly Subject[], rounds: number) => Promise<void>;
}

const LANES: readonly Lane[] = [
  { runtime: "node", work: "codec", measure: measureProcesses },
  { runtime: "workerd", work: "codec", measure: measureIsolates },
  { runtime: "workerd", work: "gateway", measure: measureIsolates },
];

const SHOWN = ["wasm", "image", "descriptors", "protobuf-es"] as const satisfies readonly Start[];

export async function run(): Promise<void> {
  const fixtures = await loadFixtures();
  console.log(
    `cold: milliseconds, medians of ${ROUNDS}, an empty Worker subtracted; in brackets what wasm is faster by`,
  );
  console.log(
    "  wasm: ours, of a schema image; image: without WebAssembly; descriptors: ours, of descriptors; protobuf-es: its own codec, no gateway",
  );
  const results = [];
  for (const { runtime, work, measure } of LANES) {
    const subjects = await createSubjects(work, fixtures);
    await measure(subjects, ROUNDS);
    console.log(`  ${`${work}, ${runtime}`.padEnd(36)}${SHOWN.map((start) => start.padStart(15)).join("")}`);
    for (const fixture of fixtures) {
      const medians = mediansOf(subjects.filter((subject) => subject.fixture === fixture));
      for (const until of ["first", "hundredth"] as const) printRow(`${fixture.name}, ${until} call`, medians[until]);
      results.push({ runtime, work, schema: fixture.name, ms: medians });
    }
  }
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toFixed(2)) : value);
  console.log(`result ${JSON.stringify({ bench: "cold", rounds: ROUNDS, calls: CALLS, results }, rounded)}`);
}

type Medians = Readonly<Record<(typeof SHOWN)[number], number>>;

/** @param subjects of one fixture. */
function mediansOf(subjects: readonly Subject[]): { readonly first: Medians; readonly hundredth: Medians } {
  const roundsOf = (start: Start) => subjects.find((subject) => subject.start === start)?.rounds ?? [];
  const empty = roundsOf("empty");
  // Round by round against the empty Worker.
  const mediansOf = (ms: (round: Round) => number) =>
    Object.fromEntries(
      SHOWN.map((start) => [start, median(roundsOf(start).map((round, i) => ms(round) - ms(empty[i] ?? round)))]),
    ) as Medians;
  return { first: mediansOf(({ first }) => first), hundredth: mediansOf(({ first, rest }) => first + rest) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function printRow(label: string, medians: Medians): void {
  const cells = SHOWN.map((start) => {
    const ratio = start === "wasm" ? "" : ` (${(medians[start] / medians.wasm).toFixed(1)})`;
    return `${medians[start].toFixed(1)}${ratio}`.padStart(15);
  });
  console.log(`    ${label.padEnd(34)}${cells.join("")}`);
}
