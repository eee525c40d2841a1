/** Reports lie in bench/results, charts beside them. */
import { mkdir, writeFile } from "node:fs/promises";

const RESULTS = new URL("../results/", import.meta.url);

/** @param files name → text. */
export async function writeResults(files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(RESULTS, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(new URL(name, RESULTS), text);
}
