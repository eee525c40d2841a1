/** Processes that are measured, or that measure: each is kept on one core. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** What is measured has a core to itself; the backend and the load generator share the other. */
export const CORE = { measured: 0, others: 1 } as const;
const START_TIMEOUT_MS = 20_000;

export interface Started {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** @param port where it will listen; else its first line tells. */
export async function start(core: number, program: string, args: readonly string[], port?: number): Promise<Started> {
  // taskset becomes the program, so the pid is the program's own. Go counts the cores that it may use when it starts.
  const child = spawn("taskset", ["-c", String(core), program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  let log = "";
  child.stderr.on("data", (text) => {
    log += text;
  });
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    kill();
    await exited;
  };
  const early = exited.then(() => Promise.reject(new Error(`${program} ended: ${log}`)));
  early.catch(() => undefined);
  try {
    const listening = port === undefined ? readPort(child.stdout) : connects(port);
    return { pid: child.pid ?? 0, port: await Promise.race([listening, early]), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** All threads of a process that runs already. */
export async function pin(core: number, pid: number): Promise<void> {
  await promisify(execFile)("taskset", ["-a", "-c", "-p", String(core), String(pid)]);
}

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("no port");
  return address.port;
}

async function readPort(stdout: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: stdout })) return Number(line);
  throw new Error("no port was printed");
}

async function connects(port: number): Promise<number> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer) return port;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}
