/** Garbage, which only Node lets us see. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { median } from "./pace.ts";
import type { Run } from "./subjects.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/**
 * Bytes of JavaScript heap that one call takes. So few calls at a time that the collector does not come in between;
 * where it does, the sample is dropped.
 */
export function heapPerCall(run: Run, variants: number): number {
  const samples: number[] = [];
  for (let sample = 0; sample < 15; sample++) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < variants; i++) run(i);
    const taken = process.memoryUsage().heapUsed - before;
    if (taken > 0) samples.push(taken / variants);
  }
  return median(samples);
}
