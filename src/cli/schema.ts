/** Reads what `--schema` names. */
import { readFile, stat } from "node:fs/promises";
import { compileProtos } from "../node/protos.ts";

/**
 * @param path a FileDescriptorSet, or a folder of .proto files.
 * @returns bytes of a FileDescriptorSet, unchecked.
 * @throws Error or ProtoError whose message is for people.
 */
export async function loadSchema(path: string): Promise<Uint8Array> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) throw new Error(`${path}: there is no such file or folder; --schema takes either`);
  if (stats.isDirectory()) return compileProtos(path);
  if (path.endsWith(".proto"))
    throw new Error(`${path}: is one .proto file; give --schema the folder that imports count from`);
  return readFile(path);
}
