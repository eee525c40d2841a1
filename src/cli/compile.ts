/** `isthmus compile`: the descriptor set that a Worker bundles. The build command of wrangler.toml. */
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ProtoError } from "../node/protos.ts";
import { loadSchema } from "./schema.ts";

export interface CompileArguments {
  readonly schema: string;
  readonly out: string;
}

/** Writes the whole set or nothing: wrangler may read the file meanwhile. */
export async function compile({ schema, out }: CompileArguments): Promise<void> {
  try {
    const set = await loadSchema(schema);
    await mkdir(dirname(out), { recursive: true });
    await writeFile(`${out}.next`, set);
    await rename(`${out}.next`, out);
  } catch (error) {
    // A build that fails makes `wrangler dev` hang until it is mended; a deploy must not go out with an old API.
    const keep = error instanceof ProtoError && process.env.WRANGLER_COMMAND === "dev" && existsSync(out);
    if (!keep) throw error;
    console.error(`${error.message}\nkeeping the last API that compiled`);
  }
}
