import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const WORKERD_TESTS = "test/**/*.workerd.test.ts";

/** Tests that go through the whole codec. */
const CODEC_TESTS = [
  ...["codec", "compile", "encode-request", "extension", "merge-wire", "oracle"].map(
    (name) => `test/codec/${name}.test.ts`,
  ),
  "test/codec-api.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/gateway.test.ts",
  "test/rest-streams.test.ts",
];

/** Lanes: "plain" runs in Node, "wasm" too, with the codec's WebAssembly engine, "workerd" inside the runtime itself. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "plain",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: [WORKERD_TESTS],
          // Tests that start workerd or a compiler take their time on a busy machine.
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: "wasm",
          environment: "node",
          include: CODEC_TESTS,
          setupFiles: "test/wasm-lane.ts",
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        plugins: [
          cloudflareTest({
            miniflare: { compatibilityDate: "2026-10-01", compatibilityFlags: ["enable_request_signal"] },
          }),
        ],
        test: { name: "workerd", include: [WORKERD_TESTS], globalSetup: "test/workerd-lane.ts" },
      },
    ],
  },
});
