/** A short soak; `npm run soak` is the long one. Memory needs longer to be judged, and Linux tells it. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { soak } from "./soak.ts";
import { judge, slopeOf } from "./verdict.ts";

test.skipIf(!existsSync("/proc/self/status"))(
  "good callers are served while others do wrong, are slow and leave, and nothing is left",
  {
    timeout: 90_000,
  },
  async () => {
    const report = await soak({ callers: 120, hostile: 0.5, quietSeconds: 4, attackSeconds: 8 });
    expect(report.faultTexts).toEqual([]);
    expect(Math.min(...Object.values(report.done))).toBeGreaterThan(100);
    expect(judge(report).filter(({ holds }) => !holds)).toEqual([]);
  },
);

test.each([
  [[1, 1, 1, 1], 0],
  [[0, 2, 4, 6, 8, 10], 2],
  [[3, 1, -1, -3], -2],
  [[1, 1, 1, 1, 1, 9, 1, 1, 1, 1], 0],
])("the slope of %j is %d", (values, slope) => {
  expect(slopeOf(values)).toBe(slope);
});
