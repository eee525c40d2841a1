/** One subject under one load: its answers are checked first, and then the load generator runs beside it. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkAnswer, formatCall } from "./dialect.ts";
import type { Load } from "./load.ts";
import { CORE, type Started } from "./process.ts";
import type { Shop } from "./shop.ts";
import type { Subject } from "./subject.ts";

/** What go/load prints. Bytes are those on the wire between caller and subject, heads included. */
export interface Sample {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly peakBytes: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface Times {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** What one subject made of one load. */
export interface Course {
  readonly subject: Subject;
  readonly load: Load;
  /** One for each round; those of a pair belong together by their place. */
  readonly samples: Sample[];
  /** Path of what the load generator reads. */
  readonly spec: string;
}

/** @throws Error which says what the subject answered wrong. */
export async function checkSubject(
  shop: Shop,
  { name, dialect }: Pick<Subject, "name" | "dialect">,
  { port }: Pick<Started, "port">,
  load: Load,
): Promise<void> {
  for (const ask of new Set(load.asks)) {
    const call = formatCall(shop, dialect, ask);
    const answer = await fetch(`http://127.0.0.1:${port}${call.path}`, {
      method: call.method,
      headers: call.header,
      body: (call.body as Uint8Array<ArrayBuffer> | undefined) ?? null,
    });
    const body = new Uint8Array(await answer.arrayBuffer());
    try {
      if (answer.status !== call.status) throw new Error(`status ${answer.status} instead of ${call.status}`);
      checkAnswer(shop, dialect, ask, body);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(`${name}, ${load.name}: ${reason}: ${new TextDecoder().decode(body.subarray(0, 300))}`);
    }
  }
}

/** Writes the load's requests to files that the generator reads. @returns path of its specification. */
export async function writeSpec(
  scratch: string,
  shop: Shop,
  subject: Pick<Subject, "name" | "dialect">,
  { pid, port }: Pick<Started, "pid" | "port">,
  load: Load,
  times: Times,
): Promise<string> {
  const bodies = new Map<Uint8Array, string>();
  const requests = [];
  const calls = new Map(load.asks.map((ask) => [ask, formatCall(shop, subject.dialect, ask)]));
  const prefix = join(scratch, `${subject.name} ${load.name} ${load.connections}`.replaceAll(/\W/g, "-"));
  for (const ask of load.asks) {
    const call = calls.get(ask);
    if (!call) continue;
    let body = "";
    if (call.body) {
      body = bodies.get(call.body) ?? `${prefix}.${bodies.size}`;
      if (!bodies.has(call.body)) await writeFile(body, call.body);
      bodies.set(call.body, body);
    }
    requests.push({ ...call, url: `http://127.0.0.1:${port}${call.path}`, body });
  }
  const path = `${prefix}.json`;
  await writeFile(path, JSON.stringify({ pid, requests, connections: load.connections, ...times }));
  return path;
}

export async function measure(program: string, spec: string): Promise<Sample> {
  const { stdout } = await promisify(execFile)("taskset", ["-c", String(CORE.others), program, spec]);
  return JSON.parse(stdout);
}
