import { expect, test } from "vitest";
import type { Load } from "../../../bench/peers/load.ts";
import type { Course } from "../../../bench/peers/measure.ts";
import { scores } from "../../../bench/peers/score.ts";

const LOADS: readonly Load[] = ["one", "two"].map((name) => ({ name, asks: [], connections: 1 }));

function course(name: string, at: 0 | 1, requests: number, p99Ms: number, peakBytes: number): Course {
  const start = () => Promise.reject(new Error("is not started"));
  const sample = { requests, seconds: 2, cpuSeconds: 1, p50Ms: 0, p99Ms, peakBytes, sentBytes: 0, receivedBytes: 0 };
  const load = LOADS[at] as Load;
  return { subject: { name, dialect: "rest", lacks: {}, start }, load, samples: [sample], spec: "" };
}

test("a subject that is best in everything has 1, and another its share of each part, by the weights of the report", () => {
  const all = [course("best", 0, 100, 2, 16), course("half", 0, 50, 8, 128)];
  const [best, half] = scores(all);
  expect(best?.score).toBeCloseTo(1, 12);
  expect(half?.parts).toEqual({ throughput: 0.5, latency: 0.25, memory: 0.125 });
  expect(half?.score).toBeCloseTo(0.4 * 0.5 + 0.35 * 0.25 + 0.25 * 0.125, 12);
});

test("a load that a subject has no answer to does not count against it", () => {
  const all = [course("a", 0, 100, 2, 10), course("b", 0, 100, 2, 10), course("b", 1, 1, 1, 1)];
  expect(scores(all).map(({ score, loads }) => [Number(score.toFixed(9)), loads])).toEqual([
    [1, 1],
    [1, 2],
  ]);
});
