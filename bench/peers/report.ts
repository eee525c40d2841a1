/** The report, in Markdown. */
import { readFileSync } from "node:fs";
import { drawBars, type Point } from "../figures/chart.ts";
import { formatMachine } from "../figures/machine.ts";
import { formatTable } from "../figures/table.ts";
import { formatAhead, type LoadCosts } from "./ahead.ts";
import { type Load, TAXED } from "./load.ts";
import type { Course, Sample } from "./measure.ts";
import { formatScore } from "./score.ts";
import { costs, isNoisy, TOO_NOISY } from "./spread.ts";
import { median, medianInterval, spread } from "./statistics.ts";
import { FETCH_ONLY, PASSTHROUGH, REST } from "./subject.ts";
import type { Envoy } from "./toolchain.ts";

export interface Findings {
  readonly courses: readonly Course[];
  readonly size: string;
  readonly rounds: number;
  readonly versions: Readonly<Record<string, string>>;
  /** The machine's load average (one minute) before the first round. */
  readonly loadBefore: number;
  /** Or why it was not there. */
  readonly envoy: Envoy | string;
}

/** Charts beside the report: name of the file → what it shows. */
const CHARTS = {
  "peers-cpu.svg": { title: "CPU per request", unit: "µs", of: (s: Sample) => (s.cpuSeconds / s.requests) * 1e6 },
  "peers-p50.svg": { title: "Latency, median", unit: "ms", of: (s: Sample) => s.p50Ms },
  "peers-p99.svg": { title: "Latency, 99th percentile", unit: "ms", of: (s: Sample) => s.p99Ms },
} as const;

/** @returns name of the file → SVG. */
export async function drawCharts(courses: readonly Course[]): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [name, { title, unit, of }] of Object.entries(CHARTS)) {
    const points = courses.map(({ subject, load, samples }): Point => {
      const values = samples.map(of);
      return { series: subject.name, at: nameOf(load), value: median(values), noisy: isNoisy(values) };
    });
    files[name] = await drawBars(title, unit, points);
  }
  return files;
}

export function formatReport(findings: Findings): string {
  const { courses, size, rounds, loadBefore, envoy } = findings;
  const loads = [...new Set(courses.map(({ load }) => load))];
  const parts = [
    "# Isthmus and its peers\n",
    `\`npm run bench -- peers ${size}\`, ${formatMachine(loadBefore)}; ${rounds} rounds in turn, medians.\n`,
    `Versions: ${formatVersions(findings.versions)}.\n`,
    "What is measured has one core to itself, backend and load generator share the other. CPU: user and system time of " +
      "the proxy's process, per request. Spread: from the first to the third quarter of all rounds, as a part of the " +
      `median; beyond ${TOO_NOISY * 100} % no ratio is given. Ratios are to “${REST}”: above 1, the peer costs more.\n`,
  ];
  if (typeof envoy === "string") parts.push("Envoy could not be had on this machine.\n");
  const pictures = Object.entries(CHARTS).map(([file, { title }]) => `![${title}](${file})\n`);
  parts.push("A pale bar is one of rounds that are too far apart.\n", ...pictures);
  for (const load of loads) {
    parts.push(
      `## ${nameOf(load)}\n`,
      formatLoad(courses.filter((one) => one.load === load)),
      formatLacks(load, courses),
    );
  }
  parts.push(
    "## Where others are ahead\n",
    formatAhead(
      loads.map((load) => costsOf(load, courses)),
      REST,
      FETCH_ONLY,
    ),
  );
  parts.push("## The transcoding tax\n", formatTax(courses), "## One figure\n", formatScore(courses));
  return parts.join("\n");
}

function costsOf(load: Load, courses: readonly Course[]): LoadCosts {
  const own = courses.filter((one) => one.load === load);
  return { load: nameOf(load), micros: new Map(own.map((one) => [one.subject.name, median(costs(one)) * 1e6])) };
}

function nameOf({ name, connections }: Load): string {
  return `${name}, ${connections} at once`;
}

function formatLoad(courses: readonly Course[]): string {
  const ours = courses.find(({ subject }) => subject.name === REST);
  const rows = courses.map((course) => {
    const { samples } = course;
    const cost = costs(course);
    const of = (value: (sample: (typeof samples)[number]) => number): number => median(samples.map(value));
    return [
      course.subject.name,
      (median(cost) * 1e6).toFixed(0),
      `${(spread(cost) * 100).toFixed(0)} %`,
      formatRatio(cost, ours ? costs(ours) : []),
      of(({ requests, seconds }) => requests / seconds).toFixed(0),
      of(({ p50Ms }) => p50Ms).toFixed(2),
      of(({ p99Ms }) => p99Ms).toFixed(2),
      (of(({ peakBytes }) => peakBytes) / 2 ** 20).toFixed(0),
      of(({ sentBytes, requests }) => sentBytes / requests).toFixed(0),
      of(({ receivedBytes, requests }) => receivedBytes / requests).toFixed(0),
    ];
  });
  const head = [
    "",
    "CPU µs",
    "spread",
    "ratio",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "peak MiB",
    "bytes up",
    "bytes down",
  ];
  return formatTable([head, ...rows]);
}

/** Who is missing from the table, and why. */
function formatLacks(load: Load, courses: readonly Course[]): string {
  const subjects = new Set(courses.map(({ subject }) => subject));
  const reasons = [...subjects].flatMap(({ name, lacks }) => {
    const reason = load.asks.map(({ method }) => lacks[method]).find((text) => text !== undefined);
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
  return reasons.length === 0 ? "" : `Without an answer to it: ${reasons.join("; ")}.\n`;
}

/** Round by round, since both had the same machine then. */
function formatRatio(cost: readonly number[], ours: readonly number[]): string {
  if (isNoisy(cost) || isNoisy(ours)) return "too noisy";
  const pairs = cost.slice(0, ours.length).map((value, round) => value / (ours[round] ?? Number.NaN));
  return median(pairs).toFixed(2);
}

function formatTax(courses: readonly Course[]): string {
  const rows = TAXED.map((load) => {
    const of = (name: string): number[] => {
      const course = courses.find((one) => one.load === load && one.subject.name === name);
      return course ? costs(course) : [];
    };
    const plain = of(PASSTHROUGH);
    const taxes = of(REST).map((cost, round) => cost / (plain[round] ?? Number.NaN) - 1);
    const { low, high, confidence } = medianInterval(taxes);
    if (!(confidence >= 0.95)) return [load.name, "too few rounds", "", "", `${taxes.length}`];
    const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
    return [
      load.name,
      percent(median(taxes)),
      `${percent(low)} … ${percent(high)}`,
      percent(confidence),
      `${taxes.length}`,
    ];
  });
  const head = ["", "tax", "interval", "confidence", "pairs"];
  const text =
    "CPU per REST request ÷ CPU per request that passes through in binary, with the same header rules, − 1. The interval is " +
    "one of the median, from the order of the paired rounds alone.\n\n";
  return text + formatTable([head, ...rows]);
}

/** The npm packages are pinned exactly, and so their manifest tells what was measured. */
function formatVersions(others: Readonly<Record<string, string>>): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const npm = { ...manifest.dependencies, ...manifest.devDependencies };
  const ours = ["workerd", "@bufbuild/protobuf", "@connectrpc/connect-web"].map((name) => [name, npm[name]]);
  return [...ours, ...Object.entries(others)].map((pair) => pair.join(" ")).join(", ");
}
