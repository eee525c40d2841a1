/**
 * `npm run build`: the library and the command line as JavaScript with types, the codec's WebAssembly engine, and the Worker
 * that `isthmus dev` serves.
 */
import { execFileSync } from "node:child_process";
import { copyFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWasm } from "./wasm.ts";
import { bundleWorker } from "./worker.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(ROOT, "dist");

/** What users import. Where WebAssembly can be had, each has the engine before it (package.json, "exports"). */
const ENTRIES = ["gateway", "image-gateway", "codec-api"];
const ENGINES = { workerd: "use-wasm", node: "node/use-wasm" };

await rm(DIST, { recursive: true, force: true });
try {
  execFileSync(process.execPath, [findCompiler(), "-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "inherit" });
  await copyFile(await buildWasm(), join(DIST, "codec.wasm"));
  for (const [runtime, engine] of Object.entries(ENGINES)) {
    for (const entry of ENTRIES) {
      const source = `import "./${engine}.js";\nexport * from "./${entry}.js";\n`;
      await writeFile(join(DIST, `${entry}.${runtime}.js`), source);
    }
  }
  await writeFile(join(DIST, "worker.js"), await bundleWorker());
} catch (error) {
  // The compiler has told its own lines.
  if (!(error instanceof Error && "status" in error)) throw error;
  process.exitCode = 1;
}

function findCompiler(): string {
  return join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
}
