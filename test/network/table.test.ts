import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { GRPC_FAULTS } from "./grpc-faults.ts";
import { HTTP_FAULTS } from "./http-faults.ts";
import { formatTable } from "./table.ts";

const page = await readFile(new URL("../../docs/faults.md", import.meta.url), "utf8");

test.each([
  ["http", HTTP_FAULTS],
  ["grpc", GRPC_FAULTS],
])("docs/faults.md says what is tested: %s", (name, faults) => {
  const [, table] = new RegExp(`<!-- ${name} -->\n(.*?)\n<!-- /${name} -->`, "s").exec(page) ?? [];
  expect(table).toBe(formatTable(faults));
});

test("no words of the gateway tell where its backend is", () => {
  const verdicts = [...HTTP_FAULTS, ...GRPC_FAULTS].flatMap(({ unary, unaryInEnvelopes, stream }) => [
    unary,
    unaryInEnvelopes,
    stream,
  ]);
  for (const verdict of verdicts) expect(verdict?.message ?? "").not.toMatch(/\d+\.\d+\.\d+\.\d+|localhost|:\d{2,}/);
});
