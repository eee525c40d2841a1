import { expect, test } from "vitest";
import { formatAhead } from "../../../bench/peers/ahead.ts";

const costs = (load: string, ours: number, floor: number, envoy: number) => ({
  load,
  micros: new Map([
    ["ours", ours],
    ["floor", floor],
    ["Envoy", envoy],
  ]),
});

test("names who costs less, by how much, and what the runtime takes of ours", () => {
  const text = formatAhead([costs("small", 300, 150, 120), costs("large", 900, 200, 3000)], "ours", "floor");
  expect(text).toContain("| small | Envoy (2.5 times) | 0.50 |");
  expect(text).not.toContain("large");
});

test("says so where nobody does", () => {
  expect(formatAhead([costs("large", 900, 200, 3000)], "ours", "floor")).toBe("Nowhere.\n");
});
