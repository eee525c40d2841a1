import { expect, test } from "vitest";
import { bundleWorker } from "../src/node/worker.ts";

/** Bytes of the minified Worker, its schema apart. It is loaded in every isolate, before its first answer. */
const MAX_BYTES = 200_000;

test("the Worker is small", async () => {
  const script = await bundleWorker();
  expect(script).toContain("healthz");
  expect(Buffer.byteLength(script)).toBeLessThan(MAX_BYTES);
});

test("the Worker does not touch the global that workerd takes 5 ms to make", async () => {
  expect(await bundleWorker()).not.toMatch(/\btypeof process\b|\bprocess\./);
});
