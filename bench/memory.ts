/**
 * `npm run bench -- memory [--smoke | --full]`: whether the Worker's memory stays flat. `--full` sends a million requests,
 * some ten minutes; else there are 100,000. `--write` puts the report into bench/results.
 */
import { readFile } from "node:fs/promises";
import { formatMachine, load as machineLoad } from "./figures/machine.ts";
import { writeResults } from "./figures/results.ts";
import { formatTable } from "./figures/table.ts";
import { withBed } from "./peers/bed.ts";
import { TAXED } from "./peers/load.ts";
import { checkSubject, measure, writeSpec } from "./peers/measure.ts";
import { slope } from "./peers/statistics.ts";
import { createWorkers, REST, startWorker } from "./peers/subject.ts";

const SIZES = {
  "--smoke": { requests: 5000, seconds: 0.3 },
  "--quick": { requests: 100_000, seconds: 1 },
  "--full": { requests: 1_000_000, seconds: 5 },
} as const;

/** Requests so far, and bytes resident. */
type Reading = readonly [requests: number, bytes: number];

export async function run({
  write,
  flags,
}: {
  readonly write: boolean;
  readonly flags: readonly string[];
}): Promise<void> {
  const name = (Object.keys(SIZES) as (keyof typeof SIZES)[]).find((size) => flags.includes(size)) ?? "--quick";
  const { requests, seconds } = SIZES[name];
  const loadBefore = machineLoad();
  await withBed(async (bed) => {
    const worker = createWorkers(bed.backendPort, bed.set).find((one) => one.name === REST);
    const [load] = TAXED;
    if (!worker || !load) throw new Error("there is nothing to measure");
    const started = bed.keep(await startWorker(worker.entry, bed.set, worker.options));
    await checkSubject(bed.shop, worker, started, load);
    const times = { warmUpSeconds: 0, seconds };
    const spec = await writeSpec(bed.scratch, bed.shop, worker, started, load, times);
    const readings: Reading[] = [];
    for (let sent = 0; sent < requests; ) {
      sent += (await measure(bed.go.program.load, spec)).requests;
      readings.push([sent, await residentBytes(started.pid)]);
    }
    const intro = `\`npm run bench -- memory ${name}\`, ${formatMachine(loadBefore)}. ${REST}, ${load.name}`;
    const report = formatReport(readings, `${intro}, ${load.connections} at once.\n`);
    console.log(report);
    if (write) await writeResults({ "memory.md": report });
  });
}

/** VmRSS of proc_pid_status(5). */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The first half is left out of the slope: the heap finds its size there. */
function formatReport(readings: readonly Reading[], intro: string): string {
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
  const later = readings.slice(Math.floor(readings.length / 2));
  const sizes = later.map(([, bytes]) => bytes);
  const every = Math.ceil(readings.length / 20);
  const rows = readings
    .filter((_, i) => i % every === 0 || i === readings.length - 1)
    .map(([sent, bytes]) => [`${sent}`, mib(bytes)]);
  return [
    "# Memory over many requests\n",
    intro,
    "Resident memory of workerd's process after so many requests. The slope is the median of the slopes between all pairs of " +
      "readings of the second half.\n",
    formatTable([["requests", "MiB"], ...rows]),
    `Second half: ${mib(Math.min(...sizes))} to ${mib(Math.max(...sizes))} MiB, slope ${slope(later).toFixed(1)} bytes ` +
      "per request.\n",
  ].join("\n");
}
