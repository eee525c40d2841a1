import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { OPTION_TEXTS } from "../src/cli/option-texts.ts";
import { readConfig } from "../src/config.ts";
import { describeMismatch, PLAIN_OPTIONS, parseOption } from "../src/options.ts";

test("the README's table says of every option what --help says", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  for (const [option, { default: standard, about }] of Object.entries(OPTION_TEXTS)) {
    expect(readme).toContain(`| \`${option}\` | ${standard} | ${about} |`);
  }
});

test("the defaults that the table names are those that count", () => {
  const config = readConfig({ schema: new Uint8Array(0), backends: { "*": { url: "http://backend.example" } } });
  const named = new Map(Object.entries(config));
  for (const [option, { default: text }] of Object.entries(OPTION_TEXTS)) {
    const kind = PLAIN_OPTIONS[option as keyof typeof PLAIN_OPTIONS];
    const value = parseOption(kind, text);
    // The others are words: "none", "all", or the name of another option.
    if (kind !== "list" && text !== "none" && describeMismatch(kind, value) === undefined) {
      expect(named.get(option), option).toBe(value);
    }
  }
  expect(named.get("readMaxBytes")).toBe(4 * 1024 * 1024);
});

test.each([
  ["flag", "true", true],
  ["flag", "false", false],
  ["flag", "yes", "yes"],
  ["count", "010", 10],
  ["count", "1e3", "1e3"],
  ["count", "9999999999999999", "9999999999999999"],
  ["text", "a, b", "a, b"],
  ["list", "a, b", ["a", "b"]],
  [["x", "y"], "x", "x"],
] as const)("%j of %j", (kind, text, value) => {
  expect(parseOption(kind, text)).toEqual(value);
});
