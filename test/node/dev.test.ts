import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http, { type IncomingMessage } from "node:http";
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

test("callers who name no coding get none, and an answer that broke off is told in a line", {
  timeout: 30_000,
}, async () => {
  const schema = await compileProtos("proto");
  const backend = await startBackend({ schema, host: "127.0.0.1", port: 0, h2cPort: 0 });
  const lines: string[] = [];
  const server = await startDevServer({
    schema,
    variables: { ISTHMUS_UPSTREAM: `http://127.0.0.1:${backend.port}`, ISTHMUS_COMPRESS_MIN_BYTES: "1" },
    host: "127.0.0.1",
    port: 0,
    warn: (message) => expect.fail(message),
    log: (message) => void lines.push(message),
  });
  try {
    const codings = [undefined, "identity", "gzip"].map(async (coding) => {
      const headers = coding === undefined ? {} : { "accept-encoding": coding };
      const request = http.get(`${server.url}/v1/shelves`, { headers, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.resume();
      return response.headers["content-encoding"];
    });
    expect(await Promise.all(codings)).toEqual([undefined, undefined, "gzip"]);

    const url = `${server.url}/v1/shelves/novels/books:watch`;
    const watched = await fetch(url, { headers: { "x-server-timeout": "0.5" } });
    await expect(watched.text()).rejects.toThrow();
    await expect
      .poll(() => lines)
      .toEqual(["an answer broke off: ConnectError: [deadline_exceeded] the deadline has passed"]);
  } finally {
    await server.close();
    await backend.close();
  }
});
