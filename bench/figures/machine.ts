/** Where figures were taken. */
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

/** The machine's load average of the last minute. */
export function load(): number {
  return loadavg()[0] ?? 0;
}

/** @param loadBefore as `load` told it before the first round. */
export function formatMachine(loadBefore: number): string {
  return (
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Linux ${kernel()}. Load average of ` +
    `the machine before: ${loadBefore.toFixed(1)}, afterwards ${load().toFixed(1)} (the bench itself makes about 2)`
  );
}

function kernel(): string {
  // The two numbers that say what it can do.
  return readFileSync("/proc/sys/kernel/osrelease", "utf8").split(".").slice(0, 2).join(".");
}
