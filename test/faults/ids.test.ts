/** Every fault that was collected is looked at in one place: as data, in a test of its own, or with the feature that will need it. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readFaults } from "./fault.ts";

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const lines = (name: string): string[] => read(name).trimEnd().split("\n");

test("each of the 157 ids stands in exactly one place", async () => {
  const tested = readdirSync(new URL(".", import.meta.url))
    .filter((name) => name.endsWith(".test.ts"))
    .flatMap((name) => read(name).match(/\bBUG-\d{3}\b/g) ?? []);
  const waiting = lines("not-built.jsonl").map((line) => (JSON.parse(line) as { id: string }).id);
  const faults = (await readFaults()).map(({ id }) => id);
  const ids = lines("ids.txt");
  expect(ids).toHaveLength(157);
  expect([...faults, ...tested, ...waiting].sort()).toEqual(ids.sort());
});
