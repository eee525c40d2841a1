/** Medians, and how far they can be trusted. */

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * Between the quarters, as a part of the median: 0.1 means that half of all rounds were within about ±5 %. Not a number for
 * less than three, of which nothing can be told.
 */
export function spread(values: readonly number[]): number {
  if (values.length < 3) return Number.NaN;
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

export interface Interval {
  readonly low: number;
  readonly high: number;
  /** How surely the true median lies inside, at least 0.95 where there are enough values; 1 − 2 / 2ⁿ at best. */
  readonly confidence: number;
}

/**
 * Of the median, without any assumption about the distribution: how many of n values lie below the true median is
 * binomial with p = ½, so between the k-th smallest and the k-th largest it lies with 1 − 2 P(fewer than k).
 */
export function medianInterval(values: readonly number[], wanted = 0.95): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const n = sorted.length;
  let k = 1;
  let below = 0.5 ** n;
  for (let term = below; k < n / 2; k++) {
    term *= (n - k + 1) / k;
    if (1 - 2 * (below + term) < wanted) break;
    below += term;
  }
  return { low: sorted[k - 1] ?? Number.NaN, high: sorted[n - k] ?? Number.NaN, confidence: 1 - 2 * below };
}

/** How much y grows with x: the median over all pairs of points (Theil and Sen), which a few strange ones do not move. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  return median(points.flatMap(([x, y], i) => points.slice(i + 1).map((other) => (other[1] - y) / (other[0] - x))));
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = part * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
