/**
 * `npm run cases -- [FILE.jsonl…] [--area a,b] [--id x] [--known-failing FILE] [--log]`
 *
 * Prints each failure, then `N passed, N failed`. Exit code 1 when a case failed; 2 when the run itself did.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Case, readCases } from "./case.ts";
import { readDescriptors } from "./descriptors.ts";
import { readKnownFailing } from "./known-failing.ts";
import { openSession } from "./session.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

interface Totals {
  passed: number;
  failed: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only cases of these areas, separated by commas. */
    area: { type: "string" },
    /** Only cases with these ids, separated by commas. */
    id: { type: "string" },
    /** Cases that must fail; one that passes counts as failed. */
    "known-failing": { type: "string" },
    /** Print what workerd wrote. */
    log: { type: "boolean", default: false },
    /** Another Worker than the gateway's. */
    worker: { type: "string" },
  },
});

async function main(): Promise<number> {
  const known = values["known-failing"] ? await readKnownFailing(values["known-failing"]) : new Map<string, string>();
  const totals: Totals = { passed: 0, failed: 0 };
  const files = positionals.length > 0 ? positionals : [join(HERE, "catalog.jsonl")];
  for (const file of files) await runFile(file, known, totals);
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
  return totals.failed > 0 ? 1 : 0;
}

async function runFile(file: string, known: ReadonlyMap<string, string>, totals: Totals): Promise<void> {
  const cases = (await readCases(file)).filter(isWanted);
  const session = await openSession(cases, await readDescriptors(schemaFor(file)), values.worker);
  try {
    for (const test of cases) report(test, await session.run(test), known.get(test.id), totals);
    if (values.log) console.log(session.log());
  } finally {
    await session.stop();
  }
}

/** catalog.proto beside the file, else the one beside the runner. */
function schemaFor(file: string): string {
  const beside = join(dirname(resolve(file)), "catalog.proto");
  return existsSync(beside) ? beside : join(HERE, "catalog.proto");
}

function isWanted(test: Case): boolean {
  const lists = (list: string | undefined, value: string): boolean =>
    list === undefined || list.split(",").includes(value);
  return lists(values.area, test.area) && lists(values.id, test.id);
}

function report(test: Case, failures: readonly string[], reason: string | undefined, totals: Totals): void {
  const bad =
    reason === undefined ? failures : failures.length > 0 ? [] : [`passes, but is listed as failing: ${reason}`];
  if (bad.length === 0) {
    totals.passed++;
    return;
  }
  totals.failed++;
  console.log(`FAIL ${test.area} ${test.id}`);
  for (const line of bad) console.log(`  ${line}`);
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error);
  return 2;
});
