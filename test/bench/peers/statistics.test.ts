import { expect, test } from "vitest";
import { medianInterval, slope, spread } from "../../../bench/peers/statistics.ts";

// Tables of the sign test's interval for the median, at least 95 %: n, place of the lower end, confidence.
test.each([
  [6, 1, 0.9688],
  [10, 2, 0.9785],
  [15, 4, 0.9648],
  [20, 6, 0.9586],
  [25, 8, 0.9567],
])("the interval of the median of %i values begins at place %i", (n, place, confidence) => {
  const values = Array.from({ length: n }, (_, i) => (i * 7) % n);
  const sorted = values.toSorted((a, b) => a - b);
  const interval = medianInterval(values);
  expect(interval.low).toBe(sorted[place - 1]);
  expect(interval.high).toBe(sorted[n - place]);
  expect(interval.confidence).toBeCloseTo(confidence, 4);
});

test("too few values have less confidence than was wanted", () => {
  expect(medianInterval([3, 1, 2])).toEqual({ low: 1, high: 3, confidence: 0.75 });
});

test("of less than three values no spread can be told", () => {
  expect(spread([1, 2])).toBeNaN();
  expect(spread([1, 2, 3])).toBe(0.5);
});

test("the slope of a line is its slope, with one point far off as well", () => {
  const line = [0, 1, 2, 3, 4, 5].map((x) => [x, 7 + 2 * x] as const);
  expect(slope(line)).toBe(2);
  expect(slope([...line, [6, 1000]])).toBe(2);
});
