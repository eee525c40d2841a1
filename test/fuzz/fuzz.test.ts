/** Each target in short, the same inputs each time; `npm run fuzz` is without end. The codec's is test/codec/oracle.test.ts. */
import { expect, test } from "vitest";
import { run } from "./target.ts";
import { TARGETS } from "./targets.ts";

test.each(Object.entries(TARGETS))("%s holds", async (name, target) => {
  expect(await run(name, target, 1, 500)).toBeUndefined();
});
