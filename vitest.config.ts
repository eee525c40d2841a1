import { defineConfig } from "vitest/config";

/** Two lanes: "plain" runs in Node, "workerd" (files named *.workerd.test.ts) inside the runtime itself. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "plain",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.workerd.test.ts"],
        },
      },
    ],
  },
});
