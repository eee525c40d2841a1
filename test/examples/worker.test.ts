/** The smallest Worker, as wrangler would deploy it, run by workerd. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, it } from "vitest";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from "../../src/node/dev.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("is bundled by wrangler, and answers", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-worker-"));
  try {
    const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
    const args = ["deploy", "--dry-run", "-c", "examples/worker/wrangler.toml", "--outdir", folder];
    await promisify(execFile)(process.execPath, [wrangler, ...args], {
      cwd: ROOT,
      env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`, CI: "1" },
    });
    const image = (await readdir(folder)).find((name) => name.endsWith(".bin")) ?? "";
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modulesRoot: "/",
        modules: [
          { type: "ESModule", path: "/index.js", contents: await readFile(join(folder, "index.js"), "utf8") },
          { type: "Data", path: `/${image}`, contents: await readFile(join(folder, image)) },
        ],
        compatibilityDate: COMPATIBILITY_DATE,
        compatibilityFlags: COMPATIBILITY_FLAGS,
        cf: false,
        outboundService: () => new Response("", { headers: { "content-type": "application/proto" } }),
      }),
    );
    try {
      const response = await miniflare.dispatchFetch("http://gateway/v1/shelves/novels");
      expect([response.status, await response.text()]).toEqual([200, "{}"]);
    } finally {
      await miniflare.dispose();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
