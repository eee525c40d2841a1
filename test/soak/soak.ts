/**
 * A gateway in raw workerd at full speed, before a backend of connect-node: first with good callers alone, then with bad,
 * slow and leaving ones among them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startWorkerd, type Workerd } from "../cases/workerd.ts";
import { BAD, LEAVING, MAX_BYTES } from "./bad.ts";
import { Caller } from "./caller.ts";
import { type Deed, SLOW, STREAMS, UNARY } from "./good.ts";
import { soakSet } from "./schema.ts";

export interface SoakOptions {
  readonly callers: number;
  /** The part of them that is no good: a third each does wrong, is slow, and leaves. */
  readonly hostile: number;
  readonly quietSeconds: number;
  readonly attackSeconds: number;
}

export interface SoakReport {
  /** Calls that came to their right end, by what was done. */
  readonly done: Readonly<Record<Kind, number>>;
  /** What went wrong, the first few in words. */
  readonly faults: number;
  readonly faultTexts: readonly string[];
  /** Of the good callers' unary calls. */
  readonly quietP99Ms: number;
  readonly attackP99Ms: number;
  /** Memory of workerd, second by second of the attack. */
  readonly rssMiB: readonly number[];
  /** Open files of workerd, before the attack and when all callers have gone. */
  readonly handlesBefore: number;
  readonly handlesAfter: number;
  /** Calls that the backend still knew when all callers had gone. */
  readonly openAfter: number;
}

export type Kind = "unary" | "streams" | "slow" | "bad" | "leaving";

const KINDS: Readonly<Record<Kind, readonly Deed[]>> = {
  unary: UNARY,
  streams: STREAMS,
  slow: SLOW,
  bad: BAD,
  leaving: LEAVING,
};

const MAX_TEXTS = 20;
/** Idle connections to the backend are closed by then. */
const SETTLE_MS = 15_000;

export async function soak({ callers, hostile, quietSeconds, attackSeconds }: SoakOptions): Promise<SoakReport> {
  const backend = await startBackend();
  const workerd = await startWorkerd(fileURLToPath(new URL("../cases/worker.ts", import.meta.url)), soakSet, [
    { rpc: "all", readMaxBytes: MAX_BYTES, backends: { "*": { url: backend.url } } },
  ]);
  try {
    const crowd = new Crowd(workerd.ports[0] ?? 0);
    const good = callers * (1 - hostile);
    crowd.send("unary", (good * 2) / 3);
    crowd.send("streams", good / 3);
    await sleep(quietSeconds * 500);
    crowd.forgetLatencies();
    await sleep(quietSeconds * 500);
    const quietP99Ms = crowd.p99Ms();
    crowd.forgetLatencies();
    const handlesBefore = await handlesOf(workerd);
    for (const kind of ["bad", "slow", "leaving"] as const) crowd.send(kind, (callers - good) / 3);
    const rssMiB = await watchMemory(workerd, attackSeconds);
    const attackP99Ms = crowd.p99Ms();
    await crowd.goHome();
    const openAfter = await settled(async () => Number(await (await fetch(`${backend.url}/open`)).text()), 0);
    const handlesAfter = await settled(() => handlesOf(workerd), handlesBefore);
    const { done, faults, faultTexts } = crowd;
    return { done, faults, faultTexts, quietP99Ms, attackP99Ms, rssMiB, handlesBefore, handlesAfter, openAfter };
  } finally {
    await workerd.stop();
    backend.stop();
  }
}

class Crowd {
  readonly done: Record<Kind, number> = { unary: 0, streams: 0, slow: 0, bad: 0, leaving: 0 };
  readonly faultTexts: string[] = [];
  faults = 0;
  readonly #port: number;
  readonly #working: Promise<void>[] = [];
  #isOver = false;
  #latenciesMs: number[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** So many callers of the kind, who go on until all go home. */
  send(kind: Kind, count: number): void {
    for (let i = 0; i < Math.ceil(count); i++) this.#working.push(this.#work(kind, i));
  }

  async goHome(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  forgetLatencies(): void {
    this.#latenciesMs = [];
  }

  p99Ms(): number {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }

  /** Each begins with another deed, so that all are done at all times. */
  async #work(kind: Kind, first: number): Promise<void> {
    const deeds = KINDS[kind];
    const caller = new Caller(`${kind}${first}`, this.#port);
    for (let i = first; !this.#isOver; i++) {
      const started = performance.now();
      try {
        await deeds[i % deeds.length]?.(caller);
        this.done[kind]++;
      } catch (error) {
        this.faults++;
        if (this.faultTexts.length < MAX_TEXTS) this.faultTexts.push(`${caller.name}: ${error}`);
      }
      if (kind === "unary") this.#latenciesMs.push(performance.now() - started);
    }
    caller.close();
  }
}

async function startBackend(): Promise<{ readonly url: string; stop(): void }> {
  const path = fileURLToPath(new URL("backend.ts", import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] });
  const stop = () => child.kill("SIGKILL");
  process.once("exit", stop);
  const [line] = await once(createInterface(child.stdout), "line");
  return { url: `http://127.0.0.1:${line}`, stop };
}

async function watchMemory(workerd: Workerd, seconds: number): Promise<number[]> {
  const rssMiB: number[] = [];
  for (let second = 0; second < seconds; second++) {
    await sleep(1_000);
    const status = await readFile(`/proc/${workerd.pid}/status`, "utf8");
    rssMiB.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
  }
  return rssMiB;
}

async function handlesOf({ pid }: Workerd): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Waits until it is no more than that, or long enough. */
async function settled(read: () => Promise<number>, most: number): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  let value = await read();
  while (value > most && performance.now() < end) {
    await sleep(200);
    value = await read();
  }
  return value;
}
