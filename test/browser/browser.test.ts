/**
 * A real browser as the caller: Chromium's own fetch, EventSource and WebSocket, and connect-web, against `npm start`; and
 * from a page of another origin, against the same Worker with `cors`.
 */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../examples/library/backend.ts";
import { startDevServer } from "../../src/node/dev.ts";
import { compileProtos } from "../../src/node/protos.ts";
import { type Command, runCommand } from "../process.ts";
import { serve } from "../server.ts";
import { findChromium } from "./chromium.ts";
import type { Scenario } from "./page.ts";

const executablePath = findChromium();
const HOST = "127.0.0.1";

const CLIENT = {
  theme: "Long stories",
  titles: ["Emma", "Middlemarch", "Moby-Dick"],
  end: "Canceled",
  failure: "NotFound",
};
const EVENTS = [{ book: { title: "Emma" } }, { book: { title: "Middlemarch" } }];
const SOCKET = { frames: EVENTS, code: 1000, reason: "" };

/** What each scenario of the page comes to. */
const OUTCOMES: Readonly<Record<string, unknown>> = {
  connect: CLIENT,
  "connect-json": CLIENT,
  "grpc-web": CLIENT,
  ndjson: { type: "application/x-ndjson", lines: EVENTS.map((result) => ({ result })) },
  events: EVENTS,
  "events-fail": "closed",
  socket: SOCKET,
  "socket-fail": { frames: [], code: 4005, reason: expect.stringContaining("shelves/none") },
  metadata: { status: 404, error: { code: 5, message: expect.stringContaining("shelves/none") } },
};

describe.skipIf(executablePath === undefined)(
  "in Chromium (skipped where none is in PATH: Debian's package chromium)",
  () => {
    let browser: Browser;
    let script: string;
    let set: string;

    beforeAll(async () => {
      const schema = await compileProtos(fileURLToPath(new URL("../../proto", import.meta.url)));
      set = Buffer.from(schema).toString("base64");
      const entry = fileURLToPath(new URL("page.ts", import.meta.url));
      const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "iife" });
      script = outputFiles[0]?.text ?? "";
      browser = await chromium.launch(executablePath === undefined ? {} : { executablePath });
    }, 60_000);
    afterAll(() => browser?.close());

    async function run(page: Page, name: string, base: string): Promise<unknown> {
      await page.addScriptTag({ content: script });
      return page.evaluate(
        ({ name, setting }) => (globalThis as { scenarios?: Record<string, Scenario> }).scenarios?.[name]?.(setting),
        { name, setting: { base, set } },
      );
    }

    describe("a page of the gateway's origin, against npm start", () => {
      let command: Command;
      let base: string;
      let page: Page;
      beforeAll(async () => {
        const ports = ["--port", "0", "--backend-port", "0", "--h2c-port", "0"];
        command = runCommand(["bin/run.js", "examples/library/start.ts", ...ports]);
        base = (await command.waitFor(/gateway {2}(http:\S+)\n[\s\S]*Ctrl-C ends both\.\n/))[1] ?? "";
        page = await browser.newPage();
        // Any document of its origin will do.
        await page.goto(`${base}/healthz`);
      }, 60_000);
      afterAll(async () => {
        command?.signal("SIGINT");
        await command?.ended;
      });

      test.each(Object.entries(OUTCOMES))("%s", async (name, outcome) => {
        expect({ outcome: await run(page, name, base) }).toMatchObject({ outcome });
      });
    });

    describe("a page of another origin", () => {
      const closing: (() => Promise<unknown>)[] = [];
      let base: string;
      /** Of the one page that may call, and of one that may not. */
      let friend: Page;
      let stranger: Page;

      async function openPage(): Promise<{ origin: string; page: Page }> {
        const server = await serve((_, response) =>
          response.setHeader("content-type", "text/html").end("<!doctype html>"),
        );
        closing.push(async () => server[Symbol.asyncDispose]());
        const page = await browser.newPage();
        await page.goto(server.url);
        return { origin: server.url, page };
      }

      beforeAll(async () => {
        const [one, other] = [await openPage(), await openPage()];
        friend = one.page;
        stranger = other.page;
        const schema = Buffer.from(set, "base64");
        const backend = await startBackend({ schema, host: HOST, port: 0, h2cPort: 0 });
        closing.push(() => backend.close());
        const server = await startDevServer({
          schema,
          variables: {
            ISTHMUS_UPSTREAM: `http://${HOST}:${backend.port}`,
            ISTHMUS_CORS: JSON.stringify({ allowOrigins: [one.origin], allowCredentials: true }),
          },
          host: HOST,
          port: 0,
          warn: () => undefined,
          log: () => undefined,
        });
        closing.unshift(() => server.close());
        base = server.url;
      }, 60_000);
      afterAll(async () => {
        await Promise.all([friend?.close(), stranger?.close()]);
        for (const close of closing) await close();
      });

      test.each(Object.entries(OUTCOMES))("that may call: %s", async (name, outcome) => {
        expect({ outcome: await run(friend, name, base) }).toMatchObject({ outcome });
      });

      test("that may not: nothing can be read, and no socket opens", async () => {
        for (const name of ["ndjson", "metadata"])
          await expect(run(stranger, name, base)).rejects.toThrow("Failed to fetch");
        await expect(run(stranger, "events", base)).rejects.toThrow("after []");
        expect(await run(stranger, "socket", base)).toMatchObject({ frames: [], code: 1006 });
        expect(await run(stranger, "connect", base).catch(() => "refused")).toBe("refused");
      });
    });
  },
);
