/** Regular expressions: none that meets what comes from outside takes more than linear time, as recheck judges it. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { check } from "recheck";
import { parseAst } from "vite";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Those see only what stands in the options of who runs the gateway. */
const OF_THE_OPERATOR = ["config.ts /\\/+$/"];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  // At the desk of a developer, or between two ends that the operator owns.
  .filter((path) => path.endsWith(".ts") && !/^(?:cli|node)\b/.test(path));

interface Found {
  readonly pattern: string;
  readonly flags: string;
}

function* literalsIn(node: unknown): Generator<Found> {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node && node.regex) yield node.regex as Found;
  for (const child of Object.values(node)) yield* literalsIn(child);
}

/** Those that are put together when their file is loaded. */
async function builtIn(path: string): Promise<Found[]> {
  const built: RegExp[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags]) {
      const one = new target(pattern, flags);
      built.push(one);
      return one;
    },
  });
  try {
    await import(`${SRC}${path}`);
  } finally {
    globalThis.RegExp = original;
  }
  return built.map(({ source, flags }) => ({ pattern: source, flags }));
}

async function regexesOf(path: string): Promise<readonly Found[]> {
  const text = readFileSync(SRC + path, "utf8");
  const literals = [...literalsIn(parseAst(text, { lang: "ts" }))];
  const built = /\bnew RegExp\(/.test(text) ? await builtIn(path) : [];
  expect(built.length).toBe(text.match(/\bnew RegExp\(/g)?.length ?? 0);
  return [...literals, ...built];
}

async function complexityOf({ pattern, flags }: Found): Promise<string> {
  const found = await check(pattern, flags, { timeout: 30_000, randomSeed: 1 });
  return found.status === "unknown" ? `unknown, ${found.error.kind}` : `${found.status}, ${found.complexity.summary}`;
}

test("all of them are safe", { timeout: 120_000 }, async () => {
  const unsafe: string[] = [];
  let count = 0;
  for (const path of files) {
    for (const found of await regexesOf(path)) {
      count++;
      const complexity = await complexityOf(found);
      if (!complexity.startsWith("safe")) unsafe.push(`${path} /${found.pattern}/${found.flags}`);
    }
  }
  expect(unsafe).toEqual(OF_THE_OPERATOR);
  expect(count).toBeGreaterThan(50);
});

test("one that is not would be seen", async () => {
  expect(await complexityOf({ pattern: "^(a|a)*$", flags: "" })).toMatch(/^vulnerable, exponential/);
  expect(await complexityOf({ pattern: String.raw`\s+$`, flags: "" })).toMatch(/^vulnerable, 2nd degree/);
});
