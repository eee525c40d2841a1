/**
 * Faults of the backend and of the network before it, told to callers of every protocol, in raw workerd and in Node: the
 * code and the words are right, no call stays open, and the next is served.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RUNTIMES, startGateways } from "../matrix/gateways.ts";
import { set } from "../matrix/schema.ts";
import { CALLERS, type Seen } from "./callers.ts";
import { dueOf, type Fault, lineOf, SERVED, type Upstream, verdictOf, type Way } from "./fault.ts";

/** A backend, and what stands before it. */
export interface Network<F extends Fault> {
  /** Where gateways call. */
  readonly url: string;
  readonly faults: readonly F[];
  /** Calls share a connection: what breaks it would break them all. */
  readonly isShared: boolean;
  inject(fault: F): Promise<void>;
  heal(fault: F): Promise<void>;
  /** Every connection breaks, and new ones are refused until it is up again. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Calls whose answer has not come to its end, on connections that are still open. */
  open(): number;
  /** The body of the last answer to a call of the method, were it whole. */
  sent(method: "Echo" | "Watch"): Buffer;
  stop(): Promise<void>;
}

/** How long a restarting backend is there, and is not. */
const UP_MS = 700;
const DOWN_MS = 150;

const TIMEOUT_MS = 400;
/** What untouched bodies get beyond it, and a busy machine. */
const LATEST_MS = TIMEOUT_MS + 500 + 1_500;

/** Await it at the top of a test file. */
export async function testFaults<F extends Fault>(upstream: Upstream, network: Network<F>): Promise<void> {
  const backends = { "*": { url: network.url, protocol: upstream } };
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
    await network.stop();
  });

  describe.each(RUNTIMES)("through %s", (runtime) => {
    const callers = CALLERS.filter(({ workerdOnly }) => runtime === "workerd" || !workerdOnly);
    const ways = callers.map((caller) => ({ caller, upstream, runtime }));

    it.each(network.faults.filter(({ only = upstream }) => only === upstream))("$name", async (fault) => {
      const url = gateways.url(runtime, fault.stalls ? 1 : 0);
      const concerned = ways.filter((way) => verdictOf(fault, way));
      await network.inject(fault);
      const startMs = performance.now();
      const seen = await (network.isShared && !fault.stalls ? callInTurn : callAtOnce)(concerned, url);
      if (fault.stalls) expect(performance.now() - startMs).toBeLessThan(LATEST_MS);
      const lines = seen.map(([way, one]) => {
        const sent = network.sent(way.caller.kind === "unary" ? "Echo" : "Watch");
        return [way.caller.name, lineOf(fault, way, one, sent)];
      });
      await vi.waitFor(() => expect(network.open()).toBe(0));
      await network.heal(fault);
      const next = await callAtOnce(ways, url);

      const due = concerned.map((way) => [way.caller.name, dueOf(fault, way)]);
      expect(Object.fromEntries(lines)).toEqual(Object.fromEntries(due));
      expect(next.map(([, { text }]) => text)).toEqual(callers.map((caller) => caller.tell(SERVED)));
    });

    it("a backend that restarts under load", async () => {
      const slow = network.faults.find(({ name }) => name === "drop by drop") as F;
      await network.inject(slow);
      const load = startLoad(ways, gateways.url(runtime, 0));
      for (let restart = 0; restart < 2; restart++) {
        await sleep(UP_MS);
        await network.down();
        await sleep(DOWN_MS);
        await network.up();
      }
      const seen = await load.stop();
      await network.heal(slow);
      const next = await callAtOnce(ways, gateways.url(runtime, 0));

      const lines = seen.map(([way, one]) => restartLine(network, way, one));
      expect(lines.filter((line) => line !== "served" && line !== "told")).toEqual([]);
      expect(new Set(lines)).toEqual(new Set(["served", "told"]));
      expect(next.map(([, { text }]) => text)).toEqual(callers.map((caller) => caller.tell(SERVED)));
      await vi.waitFor(() => expect(network.open()).toBe(0));
    });
  });
}

/** "served", "told" what a connection that breaks or is refused comes to, or else what was seen. */
function restartLine<F extends Fault>(network: Network<F>, way: Way, one: Seen): string {
  const { caller } = way;
  if (one.text === caller.tell(SERVED)) return "served";
  const breaks = network.faults.filter(
    (fault) => /^(?:refused|reset|closed)/.test(fault.name) && verdictOf(fault, way),
  );
  const sent = network.sent(caller.kind === "unary" ? "Echo" : "Watch");
  const isTold = breaks.some(
    (fault) => lineOf(fault, way, one, sent) === dueOf(fault, way) || tellsBefore(fault, way).includes(one.text),
  );
  return isTold ? "told" : `${caller.name}: ${one.text}`;
}

/** The same fault, by so many messages earlier. */
function tellsBefore(fault: Fault, way: Way): string[] {
  const { messages = 0, ...failure } = verdictOf(fault, way) ?? {};
  return Array.from({ length: messages }, (_, before) => way.caller.tell({ ...failure, messages: before }));
}

/** How many at once each caller is. */
const CALLERS_EACH = 2;

/** Calls again and again, until it is told to stop. */
function startLoad(ways: readonly Way[], url: string): { stop(): Promise<Sighting[]> } {
  const seen: Sighting[] = [];
  let isOn = true;
  const loops = Array.from({ length: CALLERS_EACH }, () =>
    ways.map(async (way) => {
      while (isOn) seen.push([way, await way.caller.call(url)]);
    }),
  );
  return {
    async stop() {
      isOn = false;
      await Promise.all(loops.flat());
      return seen;
    },
  };
}

type Sighting = readonly [Way, Seen];

function callAtOnce(ways: readonly Way[], url: string): Promise<Sighting[]> {
  return Promise.all(ways.map(async (way) => [way, await way.caller.call(url)] as const));
}

async function callInTurn(ways: readonly Way[], url: string): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for (const way of ways) seen.push([way, await way.caller.call(url)]);
  return seen;
}
