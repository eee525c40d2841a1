/**
 * `npm run conformance:connect [-- NAME… [-- ARGUMENTS OF THE RUNNER]]`: the official conformance suite of Connect, through the
 * gateway in workerd: reference client → gateway → reference server. NAME: one of the runs below; all of them by default.
 *
 * Tests that fail today stand in known-failing.txt; one that passes must leave it. Where the suite cannot be had (it is
 * written in Go), the run says so and ends well, with nothing tested.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileProtos } from "../../src/node/protos.ts";
import type { ProtocolName } from "./messages.ts";
import { openSuite, type Suite } from "./suite.ts";

interface Run {
  readonly name: string;
  /** What the suite takes the gateway for: a server that the reference client calls, or a client of the reference server. */
  readonly mode: "server" | "client";
  /** What callers speak. In server mode the runner decides: everything that the gateway understands. */
  readonly caller?: ProtocolName;
  readonly upstream: ProtocolName;
}

const RUNS: readonly Run[] = [
  { name: "server-connect", mode: "server", upstream: "connect" },
  { name: "server-grpc-web", mode: "server", upstream: "grpc-web" },
  { name: "server-grpc", mode: "server", upstream: "grpc" },
  { name: "client-connect-connect", mode: "client", caller: "connect", upstream: "connect" },
  { name: "client-connect-grpc-web", mode: "client", caller: "connect", upstream: "grpc-web" },
  { name: "client-connect-grpc", mode: "client", caller: "connect", upstream: "grpc" },
  { name: "client-grpc-web-connect", mode: "client", caller: "grpc-web", upstream: "connect" },
  { name: "client-grpc-web-grpc-web", mode: "client", caller: "grpc-web", upstream: "grpc-web" },
  { name: "client-grpc-web-grpc", mode: "client", caller: "grpc-web", upstream: "grpc" },
];

const PROTOCOL = { connect: "PROTOCOL_CONNECT", grpc: "PROTOCOL_GRPC", "grpc-web": "PROTOCOL_GRPC_WEB" } as const;

/**
 * connectrpc.conformance.v1.Config. workerd listens on HTTP/1.1 and without TLS, and its fetch calls backends that way; the
 * bridge to gRPC speaks HTTP/2.
 */
function configOf({ caller, upstream, mode }: Run): object {
  const isGrpc = mode === "client" && upstream === "grpc";
  return {
    features: {
      versions: [isGrpc ? "HTTP_VERSION_2" : "HTTP_VERSION_1"],
      protocols: mode === "server" ? [PROTOCOL.connect, PROTOCOL["grpc-web"]] : [PROTOCOL[upstream]],
      codecs: ["CODEC_PROTO", "CODEC_JSON"],
      compressions: ["COMPRESSION_IDENTITY", "COMPRESSION_GZIP"],
      streamTypes: [
        "STREAM_TYPE_UNARY",
        "STREAM_TYPE_CLIENT_STREAM",
        "STREAM_TYPE_SERVER_STREAM",
        "STREAM_TYPE_HALF_DUPLEX_BIDI_STREAM",
      ],
      supportsH2c: isGrpc,
      supportsTls: false,
      supportsTrailers: isGrpc,
      supportsHalfDuplexBidiOverHttp1: true,
      supportsConnectGet: caller !== "grpc-web",
      supportsMessageReceiveLimit: true,
    },
  };
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const split = args.includes("--") ? args.indexOf("--") : args.length;
  const names = args.slice(0, split);
  const unknown = names.find((name) => RUNS.every((run) => run.name !== name));
  if (unknown !== undefined) throw new Error(`no run ${unknown}, but ${RUNS.map(({ name }) => name).join(", ")}`);

  const suite = await openSuite();
  if (typeof suite === "string") {
    console.log(`skipped, nothing was tested: ${suite}`);
    return 0;
  }
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-conformance-connect-"));
  try {
    await writeFile(join(scratch, "set.binpb"), await compileProtos(suite.protos));
    const wanted = RUNS.filter(({ name }) => names.length === 0 || names.includes(name));
    const failed: string[] = [];
    for (const run of wanted) {
      console.log(`${run.name}:`);
      if (!(await execute(run, suite, scratch, args.slice(split + 1)))) failed.push(run.name);
    }
    console.log(failed.length === 0 ? "all as expected" : `NOT as expected: ${failed.join(", ")}`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @returns whether all tests came out as expected. The runner tells the rest. */
async function execute(run: Run, suite: Suite, scratch: string, args: readonly string[]): Promise<boolean> {
  const config = join(scratch, `${run.name}.json`);
  await writeFile(config, JSON.stringify(configOf(run)));
  const set = join(scratch, "set.binpb");
  const tested =
    run.caller === undefined
      ? [beside("server.ts"), set, suite.front, suite.server, run.upstream]
      : [beside("client.ts"), set, suite.front, suite.client, run.caller, run.upstream];
  const options = ["--mode", run.mode, "--conf", config, ...(await readKnown(run)), ...args];
  const { status, signal } = spawnSync(suite.runner, [...options, "--", process.execPath, ...tested], {
    stdio: "inherit",
  });
  if (signal) throw new Error(`the runner was ended by ${signal}`);
  return status === 0;
}

/** The runner's arguments of what known-failing.txt has for this run. */
async function readKnown({ name }: Run): Promise<string[]> {
  const lines = (await readFile(beside("known-failing.txt"), "utf8")).split("\n");
  const known = lines.map((line) => line.split("  ")).filter(([run]) => run === name);
  return known.flatMap(([, pattern = ""]) => ["--known-failing", pattern]);
}

function beside(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

process.exitCode = await main();
