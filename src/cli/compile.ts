/** `isthmus compile`: the schema image that a Worker bundles. The build command of wrangler.toml. */
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { formatFault } from "../config.ts";
import { ProtoError } from "../node/protos.ts";
import { markChecked } from "../route/mark-checked.ts";
import { compileRules } from "../route/rule.ts";
import { writeImage } from "../schema/image-write.ts";
import type { Fault, Schema } from "../schema/model.ts";
import { readSchema } from "../schema/read.ts";
import { applyServiceConfigFile, loadSchema } from "./schema.ts";

export interface CompileArguments {
  readonly schema: string;
  readonly out: string;
  /** Path of a YAML or JSON file: its rules go into the image. Those of a variable wait for the Worker's start. */
  readonly serviceConfig?: string;
  readonly serviceConfigMode?: "replace" | "add";
  /** Faults in http rules: nothing is written, or a warning that `ISTHMUS_ON_FAULT=skip` has to follow. */
  readonly onFault: "throw" | "skip";
}

/** Writes the whole image or nothing: wrangler may read the file meanwhile. */
export async function compile({ out, onFault, ...source }: CompileArguments): Promise<void> {
  try {
    const image = writeImage(markChecked(await readChecked(source, onFault)));
    await mkdir(dirname(out), { recursive: true });
    await writeFile(`${out}.next`, image);
    await rename(`${out}.next`, out);
  } catch (error) {
    // A build that fails makes `wrangler dev` hang until it is mended; a deploy must not go out with an old API.
    const keep = error instanceof ProtoError && process.env.WRANGLER_COMMAND === "dev" && existsSync(out);
    if (!keep) throw error;
    console.error(`${error.message}\nkeeping the last API that compiled`);
  }
}

/** A Worker with a fault in its rules answers nothing at all: better that its build says so. */
async function readChecked(
  { schema: path, serviceConfig, serviceConfigMode }: Omit<CompileArguments, "out" | "onFault">,
  onFault: "throw" | "skip",
): Promise<Schema> {
  const annotated = readSchema(await loadSchema(path));
  const { schema, faults } =
    serviceConfig === undefined
      ? { schema: annotated, faults: [] }
      : await applyServiceConfigFile(annotated, serviceConfig, serviceConfigMode);
  const isError = ({ severity }: Fault) => severity === "error";
  const told = [...faults, ...compileRules(schema, schema.named).faults.filter(isError)];
  const errors = told.filter(isError);
  if (errors.length > 0 && onFault === "throw") throw new ProtoError(errors.map(formatFault).join("\n"));
  for (const fault of told) console.error(`warning: ${formatFault(fault)}`);
  return schema;
}
