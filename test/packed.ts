/** The package as `npm pack` makes it, built in a copy of the checkout so that tests side by side do not share `dist`. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What the build and the package are made of. */
const SOURCES = "bin src proto package.json tsconfig.json tsconfig.build.json README.md LICENSE CHANGELOG.md".split(
  " ",
);

export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** @param folder where the tarball is put. */
export async function packPackage(folder: string): Promise<Packed> {
  const copy = await mkdtemp(join(tmpdir(), "isthmus-pack-"));
  try {
    for (const name of SOURCES) await cp(join(ROOT, name), join(copy, name), { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
    await run("npm", ["run", "build"], { cwd: copy });
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: copy });
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
