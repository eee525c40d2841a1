/** What a soak promises, and whether it held. */
import type { SoakReport } from "./soak.ts";

export interface Verdict {
  readonly what: string;
  readonly seen: string;
  readonly holds: boolean;
}

const MAX_P99_RATIO = 5;
const MAX_MIB_A_MINUTE = 1;
const WARM_UP_SECONDS = 120;

/** What holds on every machine. */
export function judge(report: SoakReport): readonly Verdict[] {
  const { done, faults, handlesBefore, handlesAfter, openAfter, rssMiB } = report;
  const counts = Object.entries(done).map(([kind, count]) => `${count} ${kind}`);
  const verdict: Verdict[] = [
    { what: "every call has its right end", seen: `${counts.join(", ")}; ${faults} wrong`, holds: faults === 0 },
    { what: "no call is left open at the backend", seen: `${openAfter}`, holds: openAfter === 0 },
    {
      what: "no open file is left",
      seen: `${handlesAfter}, ${handlesBefore} before the attack`,
      holds: handlesAfter <= handlesBefore,
    },
  ];
  const warm = rssMiB.slice(WARM_UP_SECONDS);
  if (warm.length >= WARM_UP_SECONDS) verdict.push(judgeMemory(warm));
  return verdict;
}

/** What a busy machine may spoil. */
export function judgeSpeed({ quietP99Ms, attackP99Ms }: SoakReport): Verdict {
  const ratio = attackP99Ms / quietP99Ms;
  return {
    what: `p99 of good callers under attack at most ${MAX_P99_RATIO} times that without`,
    seen: `${attackP99Ms.toFixed(0)} ms, ${quietP99Ms.toFixed(0)} ms without, ${ratio.toFixed(1)} times`,
    holds: ratio <= MAX_P99_RATIO,
  };
}

function judgeMemory(rssMiB: readonly number[]): Verdict {
  const aMinute = 60 * slopeOf(rssMiB);
  return {
    what: `memory grows by less than ${MAX_MIB_A_MINUTE} MiB a minute after ${WARM_UP_SECONDS / 60} minutes`,
    seen: `${aMinute.toFixed(2)} MiB a minute, ${Math.max(...rssMiB).toFixed(0)} MiB at the most`,
    holds: aMinute < MAX_MIB_A_MINUTE,
  };
}

/**
 * Of the line through the values, one each second: the median of the slopes between all that lie half of them apart, which
 * a peak or two does not move (after Theil and Sen).
 */
export function slopeOf(values: readonly number[]): number {
  const apart = Math.ceil(values.length / 2);
  const slopes = values.slice(apart).map((value, i) => (value - (values[i] as number)) / apart);
  return slopes.toSorted((a, b) => a - b)[slopes.length >> 1] ?? Number.NaN;
}
