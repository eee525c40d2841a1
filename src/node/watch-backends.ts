/** Says why a backend does not answer: when the dev server starts, and when the gateway tells of a call that failed. */
import type { Backend } from "../options.ts";
import { probeBackend } from "./probe.ts";

export interface BackendWatch {
  /** Looks at the backend of which the line tells, if it tells of any. */
  hear(line: string): void;
}

/** A busy gateway tells of many calls. */
const PAUSE_MS = 5_000;
const TIMEOUT_MS = 3_000;

/** @param log told one line for a backend that does not answer, and again when the reason is another. */
export function watchBackends(backends: readonly Backend[], log: (line: string) => void): BackendWatch {
  const watched = new Map(backends.map((backend) => [`${backend.url} ${backend.protocol}`, watch(backend, log)]));
  for (const { look } of watched.values()) look();
  return {
    hear(line) {
      for (const { url, look } of watched.values()) if (line.startsWith(`${url}/`)) look();
    },
  };
}

function watch({ url, protocol = "connect" }: Backend, log: (line: string) => void) {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let told: string | undefined;

  async function look(): Promise<void> {
    lookedAt = Date.now();
    const { ok, message } = await probeBackend({ url, protocol, timeoutMs: TIMEOUT_MS });
    if (!ok && message !== told) log(`backend ${url}: ${message}`);
    told = ok ? undefined : message;
  }

  return {
    url: url.replace(/\/$/, ""),
    look() {
      if (Date.now() - lookedAt >= PAUSE_MS) void look();
    },
  };
}
