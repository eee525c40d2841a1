/** Compiles a folder of .proto files to a google.protobuf.FileDescriptorSet, with buf from npm. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Protos that a schema may import without shipping them: google/api and google/rpc. */
const INCLUDES = fileURLToPath(new URL("../../proto/google", import.meta.url));

/** The compiler refused the protos; the message holds its lines, `file:line:column: what`. */
export class ProtoError extends Error {}

/**
 * @param folder holds the .proto files; imports are relative to it. With a `buf.yaml` (or `buf.work.yaml`) in it, its
 *   own modules and dependencies count; without, google/api and google/rpc are supplied where the folder lacks them.
 * @returns bytes of a FileDescriptorSet with imports and source info. Files of the folder are marked as not imported.
 * @throws ProtoError with the compiler's lines.
 */
export async function compileProtos(folder: string): Promise<Uint8Array> {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw new ProtoError(`${folder}: no such folder`);
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-protos-"));
  try {
    const output = join(scratch, "set.binpb");
    const names = await readdir(folder);
    if (names.includes("buf.yaml") || names.includes("buf.work.yaml")) {
      await buf(["build", folder, "-o", output], folder);
      return await readFile(output);
    }
    const root = join(scratch, "protos");
    await cp(folder, root, { recursive: true, filter: isProtoOrFolder });
    if (!(await containsProto(root))) throw new ProtoError(`${folder}: no .proto file in it`);
    const supplied = await supplyIncludes(root);
    const exclude = supplied.flatMap((file) => ["--exclude-path", file]);
    await buf(["build", ".", "-o", output, ...exclude], root);
    return await readFile(output);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function isProtoOrFolder(source: string): Promise<boolean> {
  if (source.endsWith(".proto")) return true;
  return !source.includes("node_modules") && (await stat(source)).isDirectory();
}

async function containsProto(root: string): Promise<boolean> {
  return (await readdir(root, { recursive: true })).some((name) => name.endsWith(".proto"));
}

/** Copies the includes that `root` lacks; they stay imports, so they are excluded from what is named. */
async function supplyIncludes(root: string): Promise<string[]> {
  const supplied: string[] = [];
  for (const name of await readdir(INCLUDES, { recursive: true })) {
    if (!name.endsWith(".proto")) continue;
    const target = join(root, "google", name);
    if (await stat(target).catch(() => undefined)) continue;
    await cp(join(INCLUDES, name), target);
    supplied.push(relative(root, target));
  }
  return supplied;
}

async function buf(args: string[], cwd: string): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve("@bufbuild/buf/package.json");
  try {
    await run(process.execPath, [join(dirname(manifest), "bin", "buf"), ...args], { cwd, maxBuffer: 1 << 26 });
  } catch (error) {
    const lines = (error as { stderr?: string }).stderr?.trim();
    throw new ProtoError(lines || "buf could not be run");
  }
}
