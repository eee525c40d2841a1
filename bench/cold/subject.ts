/** What is started cold: a file of `gateway/` or `codec/`, with the schema of a fixture. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Fixture } from "./fixtures.ts";
import type { Round } from "./round.ts";

/** What a call is: a request and its answer, or JSON → wire → JSON of one message. */
export type Work = "gateway" | "codec";

/**
 * `image`: ours, from a schema image. `descriptors`: ours, from a descriptor set. `protobuf-es`: @bufbuild/protobuf's own
 * JSON and wire, from a descriptor set. `empty`: a Worker that does nothing, which is subtracted from the others.
 */
export const STARTS = ["image", "descriptors", "protobuf-es", "empty"] as const;
export type Start = (typeof STARTS)[number];

export interface Subject {
  readonly work: Work;
  readonly start: Start;
  readonly fixture: Fixture;
  readonly schema: Uint8Array;
  /** Exports `open`. */
  readonly module: string;
  readonly rounds: Round[];
}

/** Of one kind of work: every start with every fixture. */
export async function createSubjects(work: Work, fixtures: readonly Fixture[]): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const start of STARTS) {
    const module = await bundle(`export * from "./${work}/${start}.ts";`);
    for (const fixture of fixtures) {
      subjects.push({ work, start, fixture, schema: schemaOf(start, fixture), module, rounds: [] });
    }
  }
  return subjects;
}

function schemaOf(start: Start, { schemas }: Fixture): Uint8Array {
  if (start === "empty") return new Uint8Array();
  return start === "image" ? schemas.image : schemas.descriptors;
}

/** @param source of a module in this folder. @returns it and all that it imports but its schema, minified. */
export async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["./schema.bin"],
    // As in wrangler.toml. Without it both ours and protobuf-es start 5 ms later in workerd.
    define: { process: "undefined" },
    logLevel: "silent",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
