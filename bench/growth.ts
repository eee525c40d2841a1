/**
 * `npm run bench -- growth [--smoke | --full]`: how the cost of a request grows with the number of routes, the size of its
 * messages, their nesting, and the streams that are open. Some ten minutes; `--full` takes half an hour. `--write` puts the report
 * and its charts into bench/results.
 */
import { drawLines, type Point } from "./figures/chart.ts";
import { formatMachine, load as machineLoad } from "./figures/machine.ts";
import { writeResults } from "./figures/results.ts";
import { formatTable } from "./figures/table.ts";
import { CURVES, type Curve, type Step } from "./growth/curves.ts";
import { compileRoutes } from "./growth/routes.ts";
import { type Bed, withBed } from "./peers/bed.ts";
import { checkSubject, measure, type Sample, type Times, writeSpec } from "./peers/measure.ts";
import { CORE, type Started, start } from "./peers/process.ts";
import { costs, isNoisy } from "./peers/spread.ts";
import { median, spread } from "./peers/statistics.ts";
import { createWorkers, REST, startWorker } from "./peers/subject.ts";

const SIZES = {
  "--smoke": { rounds: 1, times: { warmUpSeconds: 0.1, seconds: 0.2 } },
  "--quick": { rounds: 5, times: { warmUpSeconds: 0.2, seconds: 0.6 } },
  "--full": { rounds: 15, times: { warmUpSeconds: 0.5, seconds: 1.5 } },
} as const satisfies Record<string, { readonly rounds: number; readonly times: Times }>;

/** Its routes are compiled into it, so it has no curve of those. */
const PEER = "grpc-gateway";

interface Line {
  readonly series: string;
  readonly step: Step;
  readonly spec: string;
  readonly samples: Sample[];
}

export async function run({
  write,
  flags,
}: {
  readonly write: boolean;
  readonly flags: readonly string[];
}): Promise<void> {
  const name = (Object.keys(SIZES) as (keyof typeof SIZES)[]).find((size) => flags.includes(size)) ?? "--quick";
  const { rounds, times } = SIZES[name];
  const loadBefore = machineLoad();
  await withBed(async (bed) => {
    const ours = bed.keep(await startOurs(bed, bed.set));
    const peer = bed.keep(await start(CORE.measured, bed.go.program.gateway, [`127.0.0.1:${bed.backendPort}`]));
    const lines: Line[] = [];
    const prepare = async (series: string, started: Started, step: Step): Promise<void> => {
      const subject = { name: series, dialect: "rest" } as const;
      await checkSubject(bed.shop, subject, started, step.load);
      const spec = await writeSpec(bed.scratch, bed.shop, subject, started, step.load, times);
      lines.push({ series, step, spec, samples: [] });
    };
    for (const step of CURVES.flatMap(({ steps }) => steps)) {
      if (step.routes === undefined) {
        await prepare(REST, ours, step);
        await prepare(PEER, peer, step);
      } else {
        const set = await compileRoutes(step.routes, bed.scratch);
        await prepare(REST, bed.keep(await startOurs(bed, set)), step);
      }
    }
    for (let round = 0; round < rounds; round++) {
      for (const line of lines) line.samples.push(await measure(bed.go.program.load, line.spec));
    }
    const report = formatReport(lines, `\`npm run bench -- growth ${name}\`, ${formatMachine(loadBefore)}`, rounds);
    console.log(report);
    if (!write) return;
    const files: Record<string, string> = { "growth.md": report };
    for (const curve of CURVES) files[chartOf(curve)] = await draw(curve, lines);
    await writeResults(files);
  });
}

async function startOurs({ backendPort }: Bed, set: Uint8Array): Promise<Started> {
  const worker = createWorkers(backendPort, set).find(({ name }) => name === REST);
  if (!worker) throw new Error(`there is no ${REST}`);
  return startWorker(worker.entry, set, worker.options);
}

function chartOf({ name }: Curve): string {
  return `growth-${name}.svg`;
}

function draw(curve: Curve, lines: readonly Line[]): Promise<string> {
  const points = lines
    .filter(({ step }) => curve.steps.includes(step))
    .map(({ series, step, samples }): Point => {
      const cost = costs({ samples });
      return { series, at: step.at, value: median(cost) * 1e6, noisy: isNoisy(cost) };
    });
  return drawLines(`CPU per request by ${curve.name}`, curve.axis, "µs", points);
}

function formatReport(lines: readonly Line[], intro: string, rounds: number): string {
  const parts = [
    "# How the cost of a request grows\n",
    `${intro}; ${rounds} rounds in turn, medians of CPU µs per request, as in the bench of the peers. After ± the spread: from ` +
      "the first to the third quarter of the rounds, as a part of the median. Pale points have rounds that are too far apart.\n",
  ];
  for (const curve of CURVES) {
    const cell = (series: string, step: Step): string => {
      const line = lines.find((one) => one.series === series && one.step === step);
      if (!line) return "";
      const cost = costs(line);
      const micros = (median(cost) * 1e6).toFixed(0);
      const wide = spread(cost);
      if (Number.isNaN(wide)) return `${micros}, too few rounds`;
      return `${micros} ± ${(wide * 100).toFixed(0)} %${isNoisy(cost) ? ", too noisy" : ""}`;
    };
    const names = [REST, PEER].filter((series) =>
      lines.some((line) => line.series === series && curve.steps.includes(line.step)),
    );
    const rows = curve.steps.map((step) => [`${step.at}`, ...names.map((series) => cell(series, step))]);
    parts.push(
      `## ${curve.axis}\n`,
      `${curve.note}\n`,
      `![${curve.axis}](${chartOf(curve)})\n`,
      formatTable([["", ...names], ...rows]),
    );
  }
  return parts.join("\n");
}
