import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { hostileJson } from "../../bench/codec/hostile-json.ts";
import { hostileWire } from "../../bench/codec/hostile-wire.ts";
import { compileProtos } from "../../src/node/protos.ts";

/** As `Codec` and CONTRIBUTING say: peak memory of a call over the bytes of its input and its output. */
const FACTOR = 64;

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("memory-run.ts", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "isthmus-memory-"));
const set = join(folder, "set.binpb");
await writeFile(set, await compileProtos(fileURLToPath(new URL("../../bench/codec", import.meta.url))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Those that take most, of all that the bench has. */
const ENCODE = [
  "many map keys, one twice",
  "ordinary, unknown keys skipped",
  "doubles of 30 digits",
  "many unknown keys",
];
const DECODE = [
  "times out of range at the end",
  "one message in many records, deep",
  "one map key over and over",
  "integers, packed and not, in turn",
  "empty map entries",
];

describe.each([
  ["encode", hostileJson, ENCODE],
  ["decode", hostileWire, DECODE],
] as const)("memory to %s a hostile body", (operation, inputs, names) => {
  it.each(names)(`stays below ${FACTOR} times the bytes: %s`, { timeout: 60_000 }, async (name) => {
    const input = inputs.find((each) => each.name === name);
    const bytes = input?.create() ?? new Uint8Array();
    const file = join(folder, operation);
    await writeFile(file, bytes);
    // A small nursery: garbage that nobody has come to collect yet is not what is measured.
    const { stdout } = await run(process.execPath, [
      "--max-semi-space-size=2",
      SCRIPT,
      operation,
      set,
      file,
      JSON.stringify(input?.options ?? {}),
    ]);
    const { peak, output } = JSON.parse(stdout) as { peak: number; output: number };
    expect(bytes.length).toBeGreaterThan(4_000_000);
    expect(peak).toBeLessThan(FACTOR * (bytes.length + output));
  });
});
