import { expect, test } from "vitest";
import { costIndex } from "../../../bench/profile/cost.ts";

test("the cheapest in everything has 1, and another the weighted sum of its multiples", () => {
  const index = costIndex([
    { name: "a", bytesPerRequest: 100, peakBytes: 1000, gcShare: 0 },
    { name: "b", bytesPerRequest: 200, peakBytes: 3000, gcShare: 0.5 },
  ]);
  expect(index.get("a")).toBeCloseTo(1, 12);
  expect(index.get("b")).toBeCloseTo(0.5 * 2 + 0.3 * 3 + 0.2 * 2, 12);
});
