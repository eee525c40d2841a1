/** The catalogue's cases and schema, for what can be asked of the route room alone. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCases } from "../cases/case.ts";
import { compileProto } from "../proto.ts";

const file = (name: string) => fileURLToPath(new URL(`../cases/${name}`, import.meta.url));

export const catalogue = await readCases(file("catalog.jsonl"));

export function compileCatalogue() {
  return compileProto({ "catalog.proto": readFileSync(file("catalog.proto"), "utf8") });
}
