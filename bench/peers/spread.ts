/** What a course cost in each round, and whether its rounds agree. */
import type { Course } from "./measure.ts";
import { spread } from "./statistics.ts";

/** Where half of the rounds are further apart than this part of the median, no ratio is given. */
export const TOO_NOISY = 0.15;

/** Of too few rounds nothing can be told, and so they are noisy too. */
export function isNoisy(values: readonly number[]): boolean {
  return !(spread(values) <= TOO_NOISY);
}

/** CPU seconds per request, round by round. */
export function costs({ samples }: Pick<Course, "samples">): number[] {
  return samples.map(({ cpuSeconds, requests }) => cpuSeconds / requests);
}
