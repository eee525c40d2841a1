/** The suite: a Go module, whose programs and protos are taken from Go's own caches. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const MODULE = "connectrpc.com/conformance";
/** Its go.mod pins the suite, and names the programs as tools. */
const FOLDER = fileURLToPath(new URL("go", import.meta.url));

export interface Suite {
  /** Paths of the programs. */
  readonly runner: string;
  readonly client: string;
  readonly server: string;
  /** Our own, beside them: it stands before the Worker. */
  readonly front: string;
  /** Folder of the module, which buf knows how to compile. */
  readonly protos: string;
}

/**
 * @returns the suite; or why it cannot be had here. The first time Go loads and builds it, which takes a minute or two.
 */
export async function openSuite(): Promise<Suite | string> {
  if (!(await go("version").catch(() => undefined))) return "there is no Go on this machine";
  try {
    // One after the other: they are built of the same packages.
    const runner = await go("tool", "-n", "connectconformance");
    const client = await go("tool", "-n", "referenceclient");
    const server = await go("tool", "-n", "referenceserver");
    const front = await go("tool", "-n", "front");
    return { runner, client, server, front, protos: await go("list", "-m", "-f", "{{.Dir}}", MODULE) };
  } catch (error) {
    return `the suite cannot be had: ${error instanceof Error ? error.message : error}`;
  }
}

async function go(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, GOTOOLCHAIN: "local" };
  const { stdout } = await promisify(execFile)("go", args, { cwd: FOLDER, env });
  return stdout.trim();
}
