import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { projectFiles } from "../../src/cli/project.ts";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from "../../src/node/dev.ts";

const files = projectFiles({ name: "shop", isthmus: "file:../isthmus", wrangler: "1", typescript: "2", node: {} });

test("runs in the same runtime as the Worker of this package", async () => {
  const own = await readFile(new URL("../../wrangler.toml", import.meta.url), "utf8");
  for (const toml of [own, files["wrangler.toml"]]) {
    expect(toml).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`);
    expect(toml).toContain(`compatibility_flags = ${JSON.stringify(COMPATIBILITY_FLAGS)}`);
  }
});

test("starts without what asks the runtime for a global that takes 5 ms to make", () => {
  expect(files["wrangler.toml"]).toMatch(/^\[define\]\nprocess = "undefined"$/m);
});

test("is named and depends as it is told", () => {
  expect(JSON.parse(files["package.json"] ?? "")).toMatchObject({
    name: "shop",
    dependencies: { isthmus: "file:../isthmus" },
    devDependencies: { wrangler: "1", typescript: "2" },
  });
  expect(files["wrangler.toml"]).toMatch(/^name = "shop"$/m);
});
