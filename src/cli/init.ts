/** `isthmus init`: a new project that runs. */
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProjectSettings, projectFiles } from "./project.ts";

/** The package that this command was run from: what the project depends on until Isthmus is published. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** @throws Error whose message is for people, before anything was written, when the folder is not empty. */
export async function init(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    if (error.code === "ENOTDIR") throw new Error(`${folder}: is a file; name a folder that is empty or not there yet`);
    throw error;
  });
  if (names.length > 0) throw new Error(`${folder}: is not empty; name a folder that is, or that is not there yet`);
  buildCheckout();
  await mkdir(folder, { recursive: true });
  const root = await realpath(folder);
  const files = Object.entries(projectFiles(await projectSettings(root)));
  for (const [path, text] of files) {
    const target = join(root, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  console.log(files.map(([path]) => join(folder, path)).join("\n"));
  const change = root === process.cwd() ? "" : `cd ${folder} && `;
  console.log(`\nNow: ${change}npm install && npm start\nIts README.md says what comes next.`);
}

async function projectSettings(root: string): Promise<ProjectSettings> {
  const manifest = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as Manifest;
  return {
    name: projectName(basename(root)),
    isthmus: `file:${relative(root, PACKAGE).replaceAll("\\", "/")}`,
    wrangler: manifest.devDependencies.wrangler ?? "latest",
    typescript: manifest.devDependencies.typescript ?? "latest",
    node: manifest.optionalDependencies,
  };
}

/** For npm, and for a Worker: lower-case letters, digits and "-", and it begins with a letter. */
function projectName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 50);
  return name || "gateway";
}

/**
 * In a checkout the library has to be built before a project can import it, since Node strips no types in
 * node_modules; and again, because what was built may be older than the sources.
 */
function buildCheckout(): void {
  if (!import.meta.url.endsWith(".ts")) return;
  console.log(`building the library in ${PACKAGE} (after changes there: npm run build)`);
  execFileSync(process.execPath, [join(PACKAGE, "src/node/build.ts")], { stdio: "inherit" });
}
