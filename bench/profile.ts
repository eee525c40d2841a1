/**
 * `npm run bench -- profile [--smoke]`: where a request's time goes in the Worker, and what it allocates, as V8's own
 * profilers see it in workerd under the load of the bench of the peers. About three minutes. `--write` puts the report and
 * flame graphs into bench/results.
 */
import { startWorkerd } from "../test/cases/workerd.ts";
import { formatMachine, load as machineLoad } from "./figures/machine.ts";
import { writeResults } from "./figures/results.ts";
import { formatTable } from "./figures/table.ts";
import { type Bed, withBed } from "./peers/bed.ts";
import { type Load, QUICK } from "./peers/load.ts";
import { checkSubject, measure, type Sample, writeSpec } from "./peers/measure.ts";
import { CORE, freePort, pin } from "./peers/process.ts";
import { createWorkers, REST, type WorkerSubject } from "./peers/subject.ts";
import { COST_WEIGHTS, type Cost, costIndex } from "./profile/cost.ts";
import { drawFlame } from "./profile/flame.ts";
import { type HeapNode, openInspector } from "./profile/inspector.ts";
import { type Frame, ROOMS, readFrames, sharesOf } from "./profile/shares.ts";
import { readSources } from "./profile/sources.ts";

const SECONDS = { "--smoke": 0.5, usual: 4 } as const;
/** One at a time: the loads of which a stack is worth looking at. */
const LOADS: readonly Load[] = QUICK.filter(({ name }) => !name.startsWith("mixed") && name !== "error");

interface Profile {
  readonly worker: WorkerSubject;
  readonly load: Load;
  /** Without any profiler. */
  readonly plain: Sample;
  readonly frames: Frame;
  /** All that the profiler saw, idle time apart. */
  readonly seenMicrosPerRequest: number;
  readonly gcMicrosPerRequest: number;
  readonly bytesPerRequest: number;
}

export async function run({
  write,
  flags,
}: {
  readonly write: boolean;
  readonly flags: readonly string[];
}): Promise<void> {
  const seconds = flags.includes("--smoke") ? SECONDS["--smoke"] : SECONDS.usual;
  const loadBefore = machineLoad();
  await withBed(async (bed) => {
    const profiles: Profile[] = [];
    for (const worker of createWorkers(bed.backendPort, bed.set)) {
      profiles.push(...(await profileWorker(bed, worker, seconds)));
    }
    const report = formatReport(profiles, loadBefore);
    console.log(report);
    if (!write) return;
    const files: Record<string, string> = { "profile.md": report };
    for (const { load, frames } of profiles.filter(isOurs)) {
      files[flameOf(load)] = await drawFlame(`${REST}: ${load.name}`, frames);
    }
    await writeResults(files);
  });
}

async function profileWorker(bed: Bed, worker: WorkerSubject, seconds: number): Promise<Profile[]> {
  const inspectorPort = await freePort();
  const started = await startWorkerd(worker.entry, bed.set, [worker.options], undefined, inspectorPort);
  try {
    await pin(CORE.measured, started.pid);
    const findFile = await readSources(started.folder);
    const inspector = await openInspector(inspectorPort);
    const at = { pid: started.pid, port: started.ports[0] ?? 0 };
    const profiles: Profile[] = [];
    for (const load of LOADS) {
      if (load.asks.some(({ method }) => worker.lacks[method] !== undefined)) continue;
      await checkSubject(bed.shop, worker, at, load);
      const spec = async (warmUpSeconds: number): Promise<string> =>
        writeSpec(bed.scratch, bed.shop, worker, at, load, { warmUpSeconds, seconds });
      const plain = await measure(bed.go.program.load, await spec(seconds / 4));
      // All that the generator sends is counted from here on: no warm-up of its own.
      const bare = await spec(0);
      let requests = 0;
      const send = async (): Promise<void> => {
        requests = (await measure(bed.go.program.load, bare)).requests;
      };
      const frames = readFrames(await inspector.cpu(send), findFile);
      const gc = (sharesOf(frames).get("garbage collection") ?? 0) * frames.total;
      const gcMicrosPerRequest = gc / requests;
      const seenMicrosPerRequest = frames.total / requests;
      const bytesPerRequest = sizeOf(await inspector.heap(send)) / requests;
      profiles.push({ worker, load, plain, frames, seenMicrosPerRequest, gcMicrosPerRequest, bytesPerRequest });
    }
    inspector.close();
    return profiles;
  } finally {
    await started.stop();
  }
}

function sizeOf({ selfSize, children }: HeapNode): number {
  return children.reduce((sum, child) => sum + sizeOf(child), selfSize);
}

function isOurs({ worker }: Profile): boolean {
  return worker.name === REST;
}

function flameOf({ name }: Load): string {
  return `flame-${name.replaceAll(/\W+/g, "-").toLowerCase()}.svg`;
}

function formatReport(profiles: readonly Profile[], loadBefore: number): string {
  const ours = profiles.filter(isOurs);
  const percent = (part: number): string => `${(part * 100).toFixed(1)} %`;
  const shares = ROOMS.map((room) => [room, ...ours.map(({ frames }) => percent(sharesOf(frames).get(room) ?? 0))]);
  const seen = ["µs a request, as profiled", ...ours.map((one) => one.seenMicrosPerRequest.toFixed(0))];
  const micros = ({ cpuSeconds, requests }: Sample): string => ((cpuSeconds / requests) * 1e6).toFixed(0);
  const counted = ["CPU µs a request, by the kernel, unprofiled", ...ours.map(({ plain }) => micros(plain))];
  const garbage = profiles.map(({ worker, load, bytesPerRequest, gcMicrosPerRequest, frames }) => [
    `${worker.name}, ${load.name}`,
    (bytesPerRequest / 1024).toFixed(1),
    gcMicrosPerRequest.toFixed(1),
    percent(sharesOf(frames).get("garbage collection") ?? 0),
  ]);
  return [
    "# Where the time goes in the Worker\n",
    `\`npm run bench -- profile\`, ${formatMachine(loadBefore)}.\n`,
    "V8's sampling profilers in workerd, unminified, while the generator of the bench of the peers loads it. One run each: " +
      "shares of a part below one per cent mean little, and a profiler costs time itself.\n",
    `## Shares of the busy time, ${REST}\n`,
    "By the room of src/ whose function was on top. Headers are protocol/metadata.ts and what it calls of the runtime. The " +
      "runtime outside JavaScript is what it does natively as far as the profiler " +
      "sees it. It may not see all of that: the last two rows have what it saw beside what the kernel counted.\n",
    formatTable([["", ...ours.map(({ load }) => load.name)], ...shares, seen, counted]),
    "## Flame graphs\n",
    ...ours.map(({ load }) => `![${load.name}](${flameOf(load)})\n`),
    "## Garbage\n",
    "Allocated in the JavaScript heap per request (sampled, with what was collected meanwhile; bytes outside the heap, as " +
      "those of array buffers, are not in it), and the collector's time on the isolate's own thread.\n",
    formatTable([["", "KiB allocated", "GC µs", "GC share"], ...garbage]),
    "## Cost index\n",
    formatCosts(profiles),
  ].join("\n");
}

function formatCosts(profiles: readonly Profile[]): string {
  const { bandwidth, memory, gc } = COST_WEIGHTS;
  const names = [...new Set(profiles.map(({ worker }) => worker.name))];
  const indexes = LOADS.map((load) => {
    const costs = profiles
      .filter((one) => one.load === load)
      .map(({ worker, plain, frames }): Cost => {
        const bytesPerRequest = (plain.sentBytes + plain.receivedBytes) / plain.requests;
        const gcShare = sharesOf(frames).get("garbage collection") ?? 0;
        return { name: worker.name, bytesPerRequest, peakBytes: plain.peakBytes, gcShare };
      });
    return costIndex(costs);
  });
  return (
    `${bandwidth} × bytes on the caller's wire + ${memory} × peak of resident memory + ${gc} × 1 ÷ (1 − GC share), each as ` +
    "a multiple of the least under that load: 1 is the best in everything. Workers only, since the collectors of the other " +
    "peers cannot be read in the same way. All Workers start afresh and have their loads in this order, so a peak of memory " +
    "holds what the loads before left behind.\n\n" +
    formatTable([
      ["", ...LOADS.map(({ name }) => name)],
      ...names.map((name) => [name, ...indexes.map((index) => index.get(name)?.toFixed(2) ?? "")]),
    ])
  );
}
