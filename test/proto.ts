/** Inline proto source for tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileProtos } from "../src/node/protos.ts";
import type { Message, Schema } from "../src/schema/model.ts";
import { readSchema } from "../src/schema/read.ts";

/**
 * @param source text of one file (`test.proto`), or of several by path. google/api and google/rpc may be imported.
 * @returns bytes of the FileDescriptorSet.
 */
export async function compileSet(source: string | Readonly<Record<string, string>>): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-test-"));
  try {
    for (const [path, text] of Object.entries(typeof source === "string" ? { "test.proto": source } : source)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return await compileProtos(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Await it at the top of a test file. */
export async function compileProto(source: string | Readonly<Record<string, string>>): Promise<Schema> {
  return readSchema(await compileSet(source));
}

/** @throws when the schema has no such message. */
export function messageOf(schema: Schema, fullName: string): Message {
  const message = schema.message(fullName);
  if (!message) throw new Error(`no message ${fullName}`);
  return message;
}
