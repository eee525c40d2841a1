/**
 * Cold starts in workerd: each round of each subject is an isolate of its own, made by a Worker Loader.
 *
 * The clock stands outside: that of the runtime is zero while modules are evaluated, and ticks in whole milliseconds.
 */
import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE } from "../../src/node/dev.ts";
import { buildWasm } from "../../src/node/wasm.ts";
import { CALLS } from "./round.ts";
import { bundle, type Subject } from "./subject.ts";

const WORKERS = { gateway: "callingWorker", codec: "transcodingWorker" } as const;

/** Subjects take turns, so that what else the machine does falls on all alike. */
export async function measureIsolates(subjects: readonly Subject[], rounds: number): Promise<void> {
  const engine = (await readFile(await buildWasm())).toString("base64");
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [
        { type: "ESModule", path: "loader.js", contents: await bundle('export { default } from "./loader.ts";') },
      ],
      workerLoaders: { LOADER: {} },
      bindings: { SUBJECTS: await Promise.all(subjects.map(bindingOf)), COMPATIBILITY_DATE, ENGINE: engine },
      compatibilityDate: COMPATIBILITY_DATE,
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const url = await miniflare.ready;
    // The first round warms up the Worker that makes isolates and our own connection, and is thrown away.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, subject] of subjects.entries()) {
        const first = await time(new URL(`/${index}/${round}/1`, url));
        const rest = await time(new URL(`/${index}/${round}/${CALLS - 1}`, url));
        if (round > 0) subject.rounds.push({ first, rest });
      }
    }
  } finally {
    await miniflare.dispose();
  }
}

async function bindingOf({ work, start, schema, fixture }: Subject) {
  const worker = WORKERS[work];
  const script = await bundle(
    `import schema from "./schema.bin"; import { ${worker} } from "./calls.ts"; import { open } from "./${work}/${start}.ts";
    export default ${worker}(open, schema);`,
  );
  return { script, schema: Buffer.from(schema).toString("base64"), call: { ...fixture.call } };
}

/** @throws Error when the calls failed: then the time would mean nothing. */
async function time(url: URL): Promise<number> {
  const start = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${text}`);
  return ms;
}
