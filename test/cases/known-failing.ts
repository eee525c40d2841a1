/** The list of cases that may fail for now: a line for each, its id, two spaces, and which part of the plan it needs. */
import { readFile } from "node:fs/promises";

/**
 * @returns id → reason.
 * @throws Error for a line without a reason, and for an id that stands twice.
 */
export async function readKnownFailing(file: string): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, string>();
  for (const [i, line] of (await readFile(file, "utf8")).split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, id, reason] = /^(\S+)\s+(\S.*)$/.exec(line) ?? [];
    if (id === undefined || reason === undefined) throw new Error(`${file}:${i + 1}: an id and a reason are due`);
    if (known.has(id)) throw new Error(`${file}:${i + 1}: ${id} stands twice`);
    known.set(id, reason);
  }
  return known;
}
