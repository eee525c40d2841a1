/**
 * Faults of the backend and of the network before it, told to callers of every protocol, in raw workerd and in Node: the
 * code and the words are right, no call stays open, and the next is served.
 */
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startMatrixBackend } from "../matrix/backend.ts";
import { RUNTIMES, startGateways } from "../matrix/gateways.ts";
import type { Protocol } from "../matrix/outcome.ts";
import { everything, set } from "../matrix/schema.ts";
import { CALLERS, type Seen, TEXTS } from "./callers.ts";
import { FAULTS, heal, inject, SERVED } from "./faults.ts";
import { startFaultProxy } from "./proxy.ts";
import { dueOf, lineOf, verdictOf, type Way } from "./verdict.ts";

const TIMEOUT_MS = 400;
/** What untouched bodies get beyond it, and a busy machine. */
const LATEST_MS = TIMEOUT_MS + 500 + 1_500;

/** Await it at the top of a test file. */
export async function testFaults(upstream: Protocol): Promise<void> {
  const backend = await startMatrixBackend();
  backend.play({ messages: TEXTS.map((text) => everything({ text })) });
  const proxy = await startFaultProxy(backend.url);
  const backends = { "*": { url: proxy.url, protocol: upstream } };
  const gateways = await startGateways(set, [{ backends }, { backends, timeoutMs: TIMEOUT_MS }]);
  // The gateway in Node tells of backends that fail.
  beforeEach(() => {
    vi.spyOn(console, "error").mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await gateways.stop();
    await proxy.stop();
    backend.stop();
  });

  describe.each(RUNTIMES)("through %s", (runtime) => {
    const all = CALLERS.filter(({ workerdOnly }) => runtime === "workerd" || !workerdOnly);

    const ways = all.map((caller) => ({ caller, upstream, runtime }));

    it.each(FAULTS.filter(({ only = upstream }) => only === upstream))("$name", async (fault) => {
      const url = gateways.url(runtime, fault.stalls ? 1 : 0);
      const concerned = ways.filter((way) => verdictOf(fault, way));
      await inject(proxy, fault);
      const startMs = performance.now();
      const seen = await callAll(concerned, url);
      if (fault.stalls) expect(performance.now() - startMs).toBeLessThan(LATEST_MS);
      const lines = seen.map(([way, one]) => {
        const sent = proxy.sent(way.caller.kind === "unary" ? "Echo" : "Watch");
        return [way.caller.name, lineOf(fault, way, one, sent)];
      });
      await vi.waitFor(() => expect(proxy.open()).toBe(0));
      await heal(proxy, fault);
      const next = await callAll(ways, url);

      const due = concerned.map((way) => [way.caller.name, dueOf(fault, way)]);
      expect(Object.fromEntries(lines)).toEqual(Object.fromEntries(due));
      expect(next.map(([, { text }]) => text)).toEqual(all.map((caller) => caller.tell(SERVED)));
    });
  });
}

function callAll(ways: readonly Way[], url: string): Promise<(readonly [Way, Seen])[]> {
  return Promise.all(ways.map(async (way) => [way, await way.caller.call(url)] as const));
}
