/** One figure for each subject, for readers who want one; its parts stand beside it, for those with other weights. */
import { formatTable } from "../figures/table.ts";
import type { Load } from "./load.ts";
import type { Course, Sample } from "./measure.ts";
import { median } from "./statistics.ts";

export const WEIGHTS = { throughput: 0.4, latency: 0.35, memory: 0.25 } as const;

type Part = keyof typeof WEIGHTS;

/** Each where more is better. */
const PARTS: Readonly<Record<Part, (sample: Sample) => number>> = {
  throughput: ({ requests, seconds }) => requests / seconds,
  latency: ({ p99Ms }) => 1 / p99Ms,
  memory: ({ peakBytes }) => 1 / peakBytes,
};

export interface Score {
  readonly name: string;
  /** 0 to 1, means over the loads; 1 is the best subject of each load. */
  readonly parts: Readonly<Record<Part, number>>;
  readonly score: number;
  readonly loads: number;
}

export function scores(courses: readonly Course[]): Score[] {
  const names = [...new Set(courses.map(({ subject }) => subject.name))];
  const best = new Map<Load, Record<Part, number>>();
  for (const load of new Set(courses.map((course) => course.load))) {
    const rivals = courses.filter((course) => course.load === load);
    best.set(
      load,
      mapParts((part) => Math.max(...rivals.map(({ samples }) => median(samples.map(PARTS[part]))))),
    );
  }
  return names.map((name) => {
    const own = courses.filter(({ subject }) => subject.name === name);
    const parts = mapParts((part) => {
      const ratios = own.map(({ load, samples }) => {
        return median(samples.map(PARTS[part])) / (best.get(load)?.[part] ?? Number.NaN);
      });
      return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
    });
    const score = Object.values(mapParts((part) => WEIGHTS[part] * parts[part])).reduce((sum, one) => sum + one, 0);
    return { name, parts, score, loads: own.length };
  });
}

export function formatScore(courses: readonly Course[]): string {
  const { throughput, latency, memory } = WEIGHTS;
  const rows = scores(courses)
    .toSorted((a, b) => b.score - a.score)
    .map(({ name, parts, score, loads }) => [
      name,
      ...[parts.throughput, parts.latency, parts.memory, score].map((value) => value.toFixed(2)),
      `${loads}`,
    ]);
  return (
    `score = ${throughput} × throughput + ${latency} × latency + ${memory} × memory. Of each load: throughput is requests ` +
    "per second ÷ those of the best subject, latency the shortest p99 ÷ the subject's own, memory the least peak of resident " +
    "memory ÷ the subject's own; then the mean over the loads that the subject has an answer to. The sum is linear: with " +
    "other weights, multiply the columns by them. Loads that are too noisy for a ratio are in it all the same.\n\n" +
    formatTable([["", "throughput", "latency", "memory", "score", "loads"], ...rows])
  );
}

function mapParts(of: (part: Part) => number): Record<Part, number> {
  return { throughput: of("throughput"), latency: of("latency"), memory: of("memory") };
}
