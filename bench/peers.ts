/**
 * `npm run bench -- peers [--quick | --full]`: what a request costs here and at the peers, with the same backend, the same
 * messages and the same load, on loopback. Main figure: CPU seconds of the proxy's process per request, as the kernel
 * counts them. `--quick`, the default, takes at most 15 minutes. `--smoke` takes one, and its figures mean nothing. `--write`
 * puts the report into bench/results/peers.md.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { compileProtos } from "../src/node/protos.ts";
import { FULL, type Load, QUICK, TAXED } from "./peers/load.ts";
import { type Course, checkSubject, measure, type Times, writeSpec } from "./peers/measure.ts";
import { CORE, type Started, start } from "./peers/process.ts";
import { formatReport } from "./peers/report.ts";
import { ITEM, readShop, type Shop } from "./peers/shop.ts";
import { createSubjects, PASSTHROUGH, REST, type Subject } from "./peers/subject.ts";
import { buildGo, installEnvoy, layProtos } from "./peers/toolchain.ts";

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

const RESULTS = new URL("results/peers.md", import.meta.url);

export async function run({
  write,
  flags,
}: {
  readonly write: boolean;
  readonly flags: readonly string[];
}): Promise<void> {
  const name = (Object.keys(SIZES) as (keyof typeof SIZES)[]).find((size) => flags.includes(size)) ?? "--quick";
  const size: Size = SIZES[name];
  const protos = await layProtos();
  const go = await buildGo(protos);
  const envoy = await installEnvoy();
  if (typeof envoy === "string") console.log(`Envoy cannot be had here and is left out: ${envoy}`);
  const set = await compileProtos(protos);
  const shop = readShop(set);
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-peers-"));
  const running: Started[] = [];
  // Each of the processes is ended when this one is.
  process.setMaxListeners(20);
  try {
    const item = join(scratch, "item.bin");
    await writeFile(item, shop.toWire("Item", ITEM));
    const backend = await start(CORE.others, go.program.backend, [item]);
    running.push(backend);
    const subjects = createSubjects({ go, envoy, backendPort: backend.port, item, set, scratch });
    const courses: Course[] = [];
    for (const subject of subjects) {
      const started = await subject.start();
      running.push(started);
      courses.push(...(await prepare(subject, started, shop, size, scratch)));
    }
    const loadBefore = loadavg()[0] ?? 0;
    await measureInTurn(courses, size, go.program.load);
    const versions = { ...go.versions, ...(typeof envoy === "string" ? {} : { Envoy: envoy.version }) };
    const report = formatReport({ courses, size: name, rounds: size.rounds, versions, loadBefore, envoy });
    console.log(report);
    if (!write) return;
    await mkdir(new URL(".", RESULTS), { recursive: true });
    await writeFile(RESULTS, report);
  } finally {
    for (const { stop } of running) await stop();
    await rm(scratch, { recursive: true, force: true });
  }
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
