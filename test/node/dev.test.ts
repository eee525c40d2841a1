import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { expect, test } from "vitest";
import { startBackend } from "../../examples/library/backend.ts";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, startDevServer } from "../../src/node/dev.ts";
import { compileProtos } from "../../src/node/protos.ts";

test("runs as wrangler.toml deploys", async () => {
  const toml = await readFile(new URL("../../wrangler.toml", import.meta.url), "utf8");
  expect(toml).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`);
  expect(toml).toContain(`compatibility_flags = ${JSON.stringify(COMPATIBILITY_FLAGS)}`);
});

const EVAL = `export default { fetch() {
  try { return new Response(new Function("return 'made'")()); } catch (error) { return new Response(error.name); }
} }`;

test("no code is made while requests are served: here it would be refused", { timeout: 30_000 }, async () => {
  const premise = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "index.js", contents: EVAL }],
      compatibilityDate: COMPATIBILITY_DATE,
      log: new Log(LogLevel.NONE),
      cf: false,
    }),
  );
  expect(await (await premise.dispatchFetch("http://x/")).text()).toBe("EvalError");
  await premise.dispose();

  const schema = await compileProtos("proto");
  const backend = await startBackend({ schema, host: "127.0.0.1", port: 0, h2cPort: 0 });
  const server = await startDevServer({
    schema,
    variables: { ISTHMUS_UPSTREAM: `http://127.0.0.1:${backend.port}` },
    host: "127.0.0.1",
    port: 0,
    warn: (message) => expect.fail(message),
    log: (message) => expect.fail(message),
  });
  try {
    const created = await fetch(`${server.url}/v1/shelves/novels/books?book_id=dubliners`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ title: "Dubliners", authors: ["James Joyce"], copiesSold: "9223372036854775807" }),
    });
    expect(created.status).toBe(200);
    const listed = await fetch(`${server.url}/v1/shelves/novels/books`);
    expect(await listed.json()).toMatchObject({
      books: [{ title: "Dubliners", copiesSold: "9223372036854775807" }, {}, {}, {}],
    });
  } finally {
    await server.close();
    await backend.close();
  }
});
