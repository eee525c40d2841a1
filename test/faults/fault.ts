/** One public fault of a system that does this job, as cases that show what is right: its form, and reading it. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Case } from "../cases/case.ts";

export interface Fault {
  /** `BUG-005`: stands in `ids.txt`. */
  readonly id: string;
  readonly area: string;
  /** What is right, in one line. */
  readonly why: string;
  /** What was reported, and others of its kind. Each name stands once; `id` and `area` come from the fault. */
  readonly cases: readonly (Omit<Case, "id" | "area"> & { readonly name: string })[];
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The schema of the cases, `faults.v1`. */
export const FAULTS_PROTO = path("faults.proto");

/** @returns the faults of `faults.jsonl`, in order. */
export async function readFaults(): Promise<readonly Fault[]> {
  const lines = (await readFile(path("faults.jsonl"), "utf8")).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Fault);
}

/**
 * The cases of a fault as the runner of `test/cases` takes them.
 *
 * @throws Error when a name stands twice, or there are none.
 */
export function casesOf({ id, area, cases }: Fault): readonly Case[] {
  if (cases.length === 0 || new Set(cases.map(({ name }) => name)).size < cases.length) {
    throw new Error(`${id}: no cases, or two of one name`);
  }
  return cases.map(({ name, ...rest }) => ({ id: `${id}: ${name}`, area, ...rest }));
}
