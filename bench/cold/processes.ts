/** Cold starts in Node: each round of each subject is a process of its own, which looks at a fine clock itself. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Subject } from "./subject.ts";

const PROCESS = fileURLToPath(new URL("process.ts", import.meta.url));

/** Subjects take turns, so that what else the machine does falls on all alike. */
export async function measureProcesses(subjects: readonly Subject[], rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-cold-"));
  try {
    const files = subjects.map((_, index) => ["mjs", "bin", "json"].map((type) => join(folder, `${index}.${type}`)));
    for (const [index, { module, schema, fixture }] of subjects.entries()) {
      const contents = [module, schema, JSON.stringify(fixture.call)];
      for (const [i, path] of (files[index] ?? []).entries()) await writeFile(path, contents[i] ?? "");
    }
    for (let round = 0; round < rounds; round++) {
      for (const [index, subject] of subjects.entries()) {
        const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, ...(files[index] ?? [])]);
        subject.rounds.push(JSON.parse(stdout));
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
