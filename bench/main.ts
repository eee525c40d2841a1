/**
 * `npm run bench -- route`: runs the benches named, or all. A bench is a file beside this one that exports `run`.
 * `--write` has them write their figures down, those that have a place for them in the README or in results/. Other flags are
 * for the bench that is named.
 */
import { readdir } from "node:fs/promises";

interface Bench {
  run(options: { readonly write: boolean; readonly flags: readonly string[] }): void | Promise<void>;
}

const files = await readdir(new URL(".", import.meta.url));
const names = files.filter((file) => file.endsWith(".ts") && file !== "main.ts").map((file) => file.slice(0, -3));
const args = process.argv.slice(2);
const write = args.includes("--write");
const flags = args.filter((arg) => arg.startsWith("--") && arg !== "--write");
const wanted = args.filter((arg) => !arg.startsWith("--"));
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(", ")}; there are: ${names.join(", ")}`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : names) {
  const bench: Bench = await import(new URL(`${name}.ts`, import.meta.url).href);
  await bench.run({ write, flags });
}
