/** What a request costs beside its CPU time, as one figure. */
export const COST_WEIGHTS = { bandwidth: 0.5, memory: 0.3, gc: 0.2 } as const;

export interface Cost {
  readonly name: string;
  /** Up and down, heads included. */
  readonly bytesPerRequest: number;
  readonly peakBytes: number;
  /** Of the process's busy time, 0 to 1. */
  readonly gcShare: number;
}

/**
 * 1 is what the cheapest in everything would have. Shares of the collector are near 0, so not they are compared but the work
 * that is done with them in: 1 ÷ (1 − share).
 */
export function costIndex(costs: readonly Cost[]): Map<string, number> {
  const work = ({ gcShare }: Cost): number => 1 / (1 - gcShare);
  const least = {
    bandwidth: Math.min(...costs.map(({ bytesPerRequest }) => bytesPerRequest)),
    memory: Math.min(...costs.map(({ peakBytes }) => peakBytes)),
    gc: Math.min(...costs.map(work)),
  };
  return new Map(
    costs.map((cost) => [
      cost.name,
      (COST_WEIGHTS.bandwidth * cost.bytesPerRequest) / least.bandwidth +
        (COST_WEIGHTS.memory * cost.peakBytes) / least.memory +
        (COST_WEIGHTS.gc * work(cost)) / least.gc,
    ]),
  );
}
