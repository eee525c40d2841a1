/** SECURITY.md names a test for each promise: there must be one, and package.json no dependency that it does not explain. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GRPC_FAULTS } from "./network/grpc-faults.ts";
import { HTTP_FAULTS } from "./network/http-faults.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const text = read("SECURITY.md");
const rows = text.split("\n").filter((line) => /^\| (?!what )[^-]/.test(line));

test.each(rows)("%s", (row) => {
  const shown =
    row
      .split("|")
      .at(-2)
      ?.match(/test\/[\w./-]+\.ts/g) ?? [];
  expect(shown).not.toEqual([]);
  expect(shown.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
});

test("there are rows", () => {
  expect(rows.length).toBeGreaterThan(10);
});

test("the figures of faults are those of the tests", () => {
  const lines = (path: string) => read(path).trimEnd().split("\n").length;
  const [all, waiting] = [lines("test/faults/ids.txt"), lines("test/faults/not-built.jsonl")];
  expect(text).toContain(`${all - waiting} of ${all}; the other ${waiting} are of features that are not there`);
  expect(text).toContain(`| ${HTTP_FAULTS.length + GRPC_FAULTS.length}, each told to every kind of caller`);
});

test("each command is one of package.json", () => {
  const { scripts } = JSON.parse(read("package.json"));
  for (const [, script] of text.matchAll(/`npm run (\w+)/g)) expect(scripts).toHaveProperty(String(script));
});

test("each dependency has its reason", () => {
  const { dependencies } = JSON.parse(read("package.json"));
  for (const name of Object.keys(dependencies)) expect(text).toContain(`\`${name}\``);
});
