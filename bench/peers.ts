/**
 * `npm run bench -- peers [--quick | --full]`: what a request costs here and at the peers, with the same backend, the same
 * messages and the same load, on loopback. Main figure: CPU seconds of the proxy's process per request, as the kernel
 * counts them. `--quick`, the default, takes at most 15 minutes. `--smoke` takes two, and its figures mean nothing. `--write`
 * puts the report and its charts into bench/results.
 */
import { load as machineLoad } from "./figures/machine.ts";
import { writeResults } from "./figures/results.ts";
import { withBed } from "./peers/bed.ts";
import { FULL, type Load, QUICK, TAXED } from "./peers/load.ts";
import { type Course, checkSubject, measure, type Times, writeSpec } from "./peers/measure.ts";
import type { Started } from "./peers/process.ts";
import { drawCharts, formatReport } from "./peers/report.ts";
import type { Shop } from "./peers/shop.ts";
import { createSubjects, PASSTHROUGH, REST, type Subject } from "./peers/subject.ts";
import { installEnvoy } from "./peers/toolchain.ts";

interface Size {
  readonly loads: readonly Load[];
  /** Rounds of all, and more of them for the transcoding tax alone. */
  readonly rounds: number;
  readonly taxRounds: number;
  readonly times: Times;
}

const SIZES = {
  "--smoke": { loads: QUICK, rounds: 1, taxRounds: 0, times: { warmUpSeconds: 0.1, seconds: 0.2 } },
  "--quick": { loads: QUICK, rounds: 5, taxRounds: 15, times: { warmUpSeconds: 0.3, seconds: 0.7 } },
  "--full": { loads: FULL, rounds: 15, taxRounds: 15, times: { warmUpSeconds: 1, seconds: 3 } },
} as const satisfies Record<string, Size>;

export async function run({
  write,
  flags,
}: {
  readonly write: boolean;
  readonly flags: readonly string[];
}): Promise<void> {
  const name = (Object.keys(SIZES) as (keyof typeof SIZES)[]).find((size) => flags.includes(size)) ?? "--quick";
  const size: Size = SIZES[name];
  const envoy = await installEnvoy();
  if (typeof envoy === "string") console.log(`Envoy cannot be had here and is left out: ${envoy}`);
  await withBed(async (bed) => {
    const { go, shop, scratch } = bed;
    const courses: Course[] = [];
    for (const subject of createSubjects({ ...bed, envoy })) {
      const started = bed.keep(await subject.start());
      courses.push(...(await prepare(subject, started, shop, size, scratch)));
    }
    const loadBefore = machineLoad();
    await measureInTurn(courses, size, go.program.load);
    const versions = { ...go.versions, ...(typeof envoy === "string" ? {} : { Envoy: envoy.version }) };
    const report = formatReport({ courses, size: name, rounds: size.rounds, versions, loadBefore, envoy });
    console.log(report);
    if (write) await writeResults({ "peers.md": report, ...(await drawCharts(courses)) });
  });
}

/** Checks the subject's answers, once for each load that it has an answer to. */
async function prepare(subject: Subject, started: Started, shop: Shop, size: Size, scratch: string): Promise<Course[]> {
  const courses: Course[] = [];
  for (const load of size.loads) {
    if (load.asks.some(({ method }) => subject.lacks[method] !== undefined)) continue;
    await checkSubject(shop, subject, started, load);
    const spec = await writeSpec(scratch, shop, subject, started, load, size.times);
    courses.push({ subject, load, samples: [], spec });
  }
  return courses;
}

/** A B C A B C …, load by load, so that whatever else the machine does falls on all alike. */
async function measureInTurn(courses: readonly Course[], size: Size, program: string): Promise<void> {
  for (const load of size.loads) {
    const taxed = TAXED.includes(load);
    for (let round = 0; round < Math.max(size.rounds, taxed ? size.taxRounds : 0); round++) {
      for (const course of courses) {
        const counts = round < size.rounds || course.subject.name === PASSTHROUGH || course.subject.name === REST;
        if (course.load === load && counts) course.samples.push(await measure(program, course.spec));
      }
    }
  }
}
