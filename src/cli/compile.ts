/** `isthmus compile`: the descriptor set that a Worker bundles. The build command of wrangler.toml. */
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { formatFault } from "../config.ts";
import { ProtoError } from "../node/protos.ts";
import { compileRules } from "../route/rule.ts";
import { readSchema } from "../schema/read.ts";
import { loadSchema } from "./schema.ts";

export interface CompileArguments {
  readonly schema: string;
  readonly out: string;
  /** Faults in http rules: nothing is written, or a warning that `ISTHMUS_ON_FAULT=skip` has to follow. */
  readonly onFault: "throw" | "skip";
}

/** Writes the whole set or nothing: wrangler may read the file meanwhile. */
export async function compile({ schema, out, onFault }: CompileArguments): Promise<void> {
  try {
    const set = await loadSchema(schema);
    checkRules(set, onFault);
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

/** A Worker with a fault in its rules answers nothing at all: better that its build says so. */
function checkRules(set: Uint8Array, onFault: "throw" | "skip"): void {
  const schema = readSchema(set);
  const faults = compileRules(schema, schema.named).faults.filter(({ severity }) => severity === "error");
  if (faults.length === 0) return;
  const lines = faults.map(formatFault);
  if (onFault === "throw") throw new ProtoError(lines.join("\n"));
  for (const line of lines) console.error(`warning: ${line}`);
}
