import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterEach, expect, test, vi } from "vitest";
import { loadEngine } from "../src/node/worker.ts";
import { writeImage } from "../src/schema/image-write.ts";
import { readSchema } from "../src/schema/read.ts";
import { librarySet, serveLibrary } from "./library-backend.ts";

interface Worker {
  fetch(request: Request, env: Readonly<Record<string, unknown>>): Promise<Response>;
}

/** In the place of what is in gen: the schema belongs to whoever deploys, and Node takes no modules of wasm as Workers do. */
const generated: Plugin = {
  name: "generated",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /gen\/schema\.bin$/ }, () => ({ path: "schema.bin", namespace: "generated" }));
    onResolve({ filter: /gen\/codec\.wasm$/ }, () => ({ path: "codec.wasm", namespace: "engine" }));
    onLoad({ filter: /.*/, namespace: "engine" }, async () => ({
      contents: `export default new WebAssembly.Module(Buffer.from("${Buffer.from(await loadEngine()).toString("base64")}", "base64"))`,
    }));
    onLoad({ filter: /.*/, namespace: "generated" }, () => ({
      contents: writeImage(readSchema(librarySet)),
      loader: "binary",
    }));
  },
};
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  target: "es2024",
  plugins: [generated],
});

/** A new isolate: the module keeps its gateway. */
let isolates = 0;
async function loadWorker(): Promise<Worker> {
  const source = `${outputFiles[0]?.text}\n// isolate ${isolates++}`;
  const module = await import(
    /* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`
  );
  return module.default;
}

afterEach(() => {
  vi.restoreAllMocks();
});

function get(path: string, init: RequestInit = {}): Request {
  return new Request(`http://gateway.example${path}`, init);
}

test("serves the generated schema in front of ISTHMUS_UPSTREAM, with the options of the variables", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await using backend = await serveLibrary();
  const worker = await loadWorker();
  const env = { ISTHMUS_UPSTREAM: backend.url, ISTHMUS_EMIT_DEFAULTS: "true", SOMETHING_ELSE: {} };
  for (let i = 1; i <= 2; i++) {
    const response = await worker.fetch(get(`/v1/books/${i}`), env);
    expect([response.status, await response.json()]).toEqual([200, { name: `books/${i}`, pages: "0", note: "" }]);
  }
});

test("/healthz answers without a gateway, and only there", async () => {
  const worker = await loadWorker();
  for (const method of ["GET", "HEAD"]) {
    const health = await worker.fetch(get("/healthz", { method }), {});
    expect(health.status).toBe(200);
  }
  expect(await (await worker.fetch(get("/healthz"), {})).text()).toBe("ok\n");
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect((await worker.fetch(get("/v1/healthz"), {})).status).toBe(500);
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ["nothing set", {}, "ISTHMUS_UPSTREAM"],
  ["an unknown variable", { ISTHMUS_UPSTREAM: "http://secret.example", ISTHMUS_TYPO: "x" }, "ISTHMUS_TYPO"],
  ["a wrong value", { ISTHMUS_UPSTREAM: "http://secret.example", ISTHMUS_RPC: "some" }, "ISTHMUS_RPC"],
  ["an address that is none", { ISTHMUS_UPSTREAM: "secret.example" }, "secret.example"],
])("%s: 500 without details, the log names what is wrong", async (_, env, named) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const worker = await loadWorker();
  const response = await worker.fetch(get("/v1/books/1"), env);
  const text = await response.text();
  expect([response.status, JSON.parse(text)]).toEqual([500, { code: 13, message: expect.any(String) }]);
  expect(text).not.toMatch(/secret|ISTHMUS_/);
  expect(log.mock.calls.flat().join()).toContain(named);
});

test("a Worker whose variables were mended starts at the next request", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await using backend = await serveLibrary();
  const worker = await loadWorker();
  expect((await worker.fetch(get("/v1/books/1"), {})).status).toBe(500);
  expect((await worker.fetch(get("/v1/books/1"), { ISTHMUS_UPSTREAM: backend.url })).status).toBe(200);
});
