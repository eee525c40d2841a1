/** How long calls take. Slices are long, because the clock of workerd ticks in whole milliseconds. */
import type { Run } from "./subjects.ts";

/** Milliseconds since some moment: of the wall, or of the processor where a runtime can tell. */
export type Clock = () => number;

/** How long one subject runs in one round, roughly. */
const SLICE_MS = 25;
const WARM_UP_MS = 120;

/** @returns how many calls fill a slice. */
export function warmUp(clock: Clock, run: Run, variants: number): number {
  const start = performance.now();
  let calls = 0;
  do run(calls++ % variants);
  while (performance.now() - start < WARM_UP_MS);
  // What was measured cold says little: the second half of the calls is taken for the pace.
  const us = usPerCall(clock, run, Math.max(1, calls >> 1), variants);
  return Math.max(1, Math.ceil((SLICE_MS * 1000) / us));
}

export function usPerCall(clock: Clock, run: Run, calls: number, variants: number): number {
  const start = clock();
  for (let i = 0, variant = 0; i < calls; i++) {
    run(variant);
    if (++variant === variants) variant = 0;
  }
  return ((clock() - start) * 1000) / calls;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
