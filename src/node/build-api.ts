/** The build command of wrangler.toml: compiles proto/ to gen/api.binpb, the descriptor set that the Worker bundles. */
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compileProtos, ProtoError } from "./protos.ts";

const PROTOS = fileURLToPath(new URL("../../proto", import.meta.url));
const GEN = new URL("../../gen/", import.meta.url);
const API = new URL("api.binpb", GEN);

try {
  const set = await compileProtos(PROTOS);
  await mkdir(GEN, { recursive: true });
  // Whole or not at all: wrangler may read it meanwhile.
  const next = new URL("api.next.binpb", GEN);
  await writeFile(next, set);
  await rename(next, API);
} catch (error) {
  if (!(error instanceof ProtoError)) throw error;
  console.error(error.message);
  // A build that fails makes `wrangler dev` hang until it is mended; a deploy must not go out with an old API.
  const keep = process.env.WRANGLER_COMMAND === "dev" && existsSync(API);
  if (keep) console.error("keeping the last API that compiled");
  else process.exitCode = 1;
}
