/** Where another gateway costs less than ours, and why. */
import { formatTable } from "../figures/table.ts";

/** Medians of one load, CPU microseconds a request, by subject. */
export interface LoadCosts {
  readonly load: string;
  readonly micros: ReadonlyMap<string, number>;
}

/** What answers REST for a backend of its own, as we do. */
const GATEWAYS = ["grpc-gateway", "vanguard-go", "Envoy"];

/** @param floor the Worker that only fetches. */
export function formatAhead(costs: readonly LoadCosts[], ours: string, floor: string): string {
  const rows = costs.flatMap(({ load, micros }) => {
    const own = micros.get(ours) ?? Number.NaN;
    const ahead = GATEWAYS.flatMap((name) => {
      const peer = micros.get(name);
      return peer !== undefined && peer < own ? [`${name} (${(own / peer).toFixed(1)} times)`] : [];
    });
    return ahead.length > 0 ? [[load, ahead.join(", "), `${((micros.get(floor) ?? 0) / own).toFixed(2)}`]] : [];
  });
  if (rows.length === 0) return "Nowhere.\n";
  return [
    formatTable([
      ["", "who costs less, and how many times ours is theirs", "of ours, what the runtime takes"],
      ...rows,
    ]),
    "The last column is the Worker that only fetches: what workerd itself takes for a request from outside and one to the",
    "backend. Where that alone is more than what the other gateway takes, no Worker can be ahead of it; the rest is what",
    "Isthmus adds, of which it could save some.\n",
  ].join("\n");
}
