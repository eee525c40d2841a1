/** Who is measured, and how each is started. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../test/cases/case.ts";
import { startWorkerd } from "../../test/cases/workerd.ts";
import type { Dialect } from "./dialect.ts";
import { formatEnvoyConfig } from "./envoy.ts";
import { CORE, freePort, pin, type Started, start } from "./process.ts";
import type { Envoy, GoPrograms } from "./toolchain.ts";

export interface Subject {
  readonly name: string;
  readonly dialect: Dialect;
  /** Methods that it has no answer for, and why. */
  readonly lacks: Readonly<Record<string, string>>;
  start(): Promise<Started>;
}

export interface WorkerSubject {
  readonly name: string;
  readonly dialect: Dialect;
  readonly lacks: Subject["lacks"];
  /** Path of the Worker's source. */
  readonly entry: string;
  /** Its binding OPTIONS. */
  readonly options: JsonObject;
}

export interface Surroundings {
  readonly go: GoPrograms;
  readonly envoy: Envoy | string;
  readonly backendPort: number;
  /** A file with an Item in binary. */
  readonly item: string;
  /** A FileDescriptorSet. */
  readonly set: Uint8Array;
  /** A folder that goes away afterwards. */
  readonly scratch: string;
}

const OURS = fileURLToPath(new URL("../../test/cases/worker.ts", import.meta.url));
const FLOOR = fileURLToPath(new URL("workers/floor.ts", import.meta.url));
const BY_HAND = fileURLToPath(new URL("workers/by-hand.ts", import.meta.url));

/** Of vanguard-go. */
const NO_STREAMS = "its REST has streams of HttpBody only";

/** The two that the transcoding tax is made of, and two to hold them against. */
export const PASSTHROUGH = "Isthmus, passthrough";
export const REST = "Isthmus, REST to Connect";
export const FETCH_ONLY = "Worker that only fetches";
export const HAND_MADE = "Worker by hand";

export function createWorkers(backendPort: number, set: Uint8Array): readonly WorkerSubject[] {
  const backend = `http://127.0.0.1:${backendPort}`;
  const ours = (protocol: string) => ({
    entry: OURS,
    options: { rpc: "all", backends: { "*": { url: backend, protocol } } },
  });
  const all = { lacks: {} };
  const noUpload = { Upload: "connect-web sends no stream of requests" };
  const handMade = { backend, set: Buffer.from(set).toString("base64") };
  return [
    { ...all, name: FETCH_ONLY, dialect: "connect-binary", entry: FLOOR, options: { backend } },
    { ...all, name: PASSTHROUGH, dialect: "connect-binary", ...ours("connect") },
    { ...all, name: REST, dialect: "rest", ...ours("connect") },
    { ...all, name: "Isthmus, REST to gRPC-Web", dialect: "rest", ...ours("grpc-web") },
    { ...all, name: "Isthmus, Connect JSON to binary", dialect: "connect-json", ...ours("connect") },
    { name: HAND_MADE, lacks: noUpload, dialect: "rest", entry: BY_HAND, options: handMade },
  ];
}

export function createSubjects(around: Surroundings): readonly Subject[] {
  const { go, envoy, backendPort, set } = around;
  const goProxy = (program: string) => () => start(CORE.measured, program, [`127.0.0.1:${backendPort}`]);
  const all = { lacks: {} };
  const subjects: Subject[] = [
    ...createWorkers(backendPort, set).map(({ name, dialect, lacks, entry, options }) => ({
      name,
      dialect,
      lacks,
      start: () => startWorker(entry, set, options),
    })),
    { ...all, name: "grpc-gateway", dialect: "rest", start: goProxy(go.program.gateway) },
    {
      name: "vanguard-go",
      dialect: "rest",
      lacks: { Watch: NO_STREAMS, Upload: NO_STREAMS },
      start: goProxy(go.program.vanguard),
    },
    {
      ...all,
      name: "connect-go itself, JSON",
      dialect: "connect-json",
      start: () => start(CORE.measured, go.program.backend, [around.item]),
    },
  ];
  if (typeof envoy !== "string") {
    subjects.push({ ...all, name: "Envoy", dialect: "rest-array", start: () => startEnvoy(envoy, around) });
  }
  return subjects;
}

export async function startWorker(entry: string, set: Uint8Array, options: JsonObject): Promise<Started> {
  const { pid, ports, stop } = await startWorkerd(entry, set, [options]);
  await pin(CORE.measured, pid);
  return { pid, port: ports[0] ?? 0, stop };
}

async function startEnvoy({ program }: Envoy, { backendPort, set, scratch }: Surroundings): Promise<Started> {
  const port = await freePort();
  const [config, descriptors] = [join(scratch, "envoy.json"), join(scratch, "set.binpb")];
  await writeFile(descriptors, set);
  await writeFile(config, formatEnvoyConfig(port, backendPort, descriptors));
  const args = ["-c", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"];
  return start(CORE.measured, program, args, port);
}
