/** `npm run build`: the library and the command line as JavaScript with types, and the Worker that `isthmus dev` serves. */
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorker } from "./worker.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(ROOT, "dist");

await rm(DIST, { recursive: true, force: true });
try {
  execFileSync(process.execPath, [findCompiler(), "-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "inherit" });
  await writeFile(join(DIST, "worker.js"), await bundleWorker());
} catch (error) {
  // The compiler has told its own lines.
  if (!(error instanceof Error && "status" in error)) throw error;
  process.exitCode = 1;
}

function findCompiler(): string {
  return join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
}
