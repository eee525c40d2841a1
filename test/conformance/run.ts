/**
 * `npm run conformance:protobuf [-- ARGUMENTS OF THE RUNNER]`: Google's conformance suite over our codec, binary and JSON,
 * required and recommended, for proto2, proto3 and editions; without WebAssembly, and with it.
 *
 * Tests that fail today stand in known-failing.txt; one that passes must leave it. The runner is a program for Linux
 * (glibc 2.38 or newer) and macOS. Where it cannot run, the run says so and ends well, with nothing tested. The variable
 * CONFORMANCE_RUNNER_WRAPPER names a program that starts it on an older system: WRAPPER RUNNER ARGUMENTS….
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWasm } from "../../src/node/wasm.ts";
import { compileSuite, SUITE } from "./descriptors.ts";

const TESTEE = fileURLToPath(new URL("testee.ts", import.meta.url));
const KNOWN_FAILING = fileURLToPath(new URL("known-failing.txt", import.meta.url));
/** The newest that the suite has messages for. */
const MAXIMUM_EDITION = "2023";

const runner = runnerPath();
const wrapper = process.env.CONFORMANCE_RUNNER_WRAPPER;
const [command, prefix] = wrapper ? [wrapper, [runner]] : [runner, []];

async function main(): Promise<number> {
  const obstacle = whyNot();
  if (obstacle !== undefined) {
    console.log(`skipped, nothing was tested: ${obstacle}`);
    return 0;
  }
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-conformance-"));
  try {
    const set = join(scratch, "set.binpb");
    await writeFile(set, await compileSuite());
    const options = ["--enforce_recommended", "--maximum_edition", MAXIMUM_EDITION, "--failure_list", KNOWN_FAILING];
    const output = ["--output_dir", `${scratch}/`, ...process.argv.slice(2)];
    for (const engine of [[], [await buildWasm()]]) {
      console.log(engine.length === 0 ? "without WebAssembly:" : "with WebAssembly:");
      const testee = [process.execPath, TESTEE, set, ...engine];
      const { status, signal } = spawnSync(command, [...prefix, ...options, ...output, ...testee], {
        stdio: "inherit",
      });
      if (signal) throw new Error(`the runner was ended by ${signal}`);
      if (status !== 0) return status ?? 1;
    }
    return 0;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The runner for this platform. On Apple silicon it is the one for Intel, which the system translates. */
function runnerPath(): string {
  const architecture = process.platform === "darwin" ? "x64" : process.arch;
  return join(SUITE, "bin", `conformance_test_runner-${process.platform}-${architecture}`);
}

/** What keeps the runner from running here, if anything. */
function whyNot(): string | undefined {
  if (!existsSync(runner)) return `the suite's runner does not exist for ${process.platform}-${process.arch}`;
  const { error, stderr } = spawnSync(command, [...prefix, "--help"], { encoding: "utf8" });
  if (error) return `the suite's runner does not start: ${error.message}`;
  if (!/GLIBC\w*_[\d.]+' not found/.test(stderr)) return undefined;
  return "the suite's runner needs glibc 2.38 or newer; CONFORMANCE_RUNNER_WRAPPER may name a program that supplies it";
}

process.exitCode = await main();
