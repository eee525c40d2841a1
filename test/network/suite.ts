/**
 * Faults of the backend and of the network before it, told to callers of every protocol, in raw workerd and in Node: the
 * code and the words are right, no call stays open, and the next is served.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { RUNTIMES, type Runtime, startGateways } from "../matrix/gateways.ts";
import { set } from "../matrix/schema.ts";
import { CALLERS, type Seen } from "./callers.ts";
import { dueOf, type Fault, lineOf, SERVED, type Upstream, type Verdict, verdictOf, type Way } from "./fault.ts";

/** A backend, and what stands before it. */
export interface Network<F extends Fault> {
  /** Where the gateways of a runtime call. */
  url(runtime: Runtime): string;
  readonly faults: readonly F[];
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

/** Long enough for two dozen calls at once on a busy machine: the next ones have it too. */
const TIMEOUT_MS = 1_500;
/** What untouched bodies get beyond it, and a busy machine. */
const LATEST_MS = TIMEOUT_MS + 500 + 3_000;

/** Await it at the top of a test file. */
export async function testFaults<F extends Fault>(upstream: Upstream, network: Network<F>): Promise<void> {
  const gateways = await startGateways(
    set,
    RUNTIMES.flatMap((runtime) => {
      const backends = { "*": { url: network.url(runtime), protocol: upstream } };
      return [{ backends }, { backends, timeoutMs: TIMEOUT_MS }];
    }),
  );
  const urlOf = ({ runtime }: Way, fault?: Fault) =>
    gateways.url(runtime, 2 * RUNTIMES.indexOf(runtime) + (fault?.stalls ? 1 : 0));
  const ways = RUNTIMES.flatMap((runtime) =>
    CALLERS.filter(({ workerdOnly }) => runtime === "workerd" || !workerdOnly).map((caller) => ({
      caller,
      upstream,
      runtime,
    })),
  );
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

  it.each(network.faults.filter(({ only = upstream }) => only === upstream))("$name", async (fault) => {
    const concerned = ways.filter((way) => verdictOf(fault, way));
    const call = (way: Way) => way.caller.call(urlOf(way, fault));
    await network.inject(fault);
    const startMs = performance.now();
    const seen = await (fault.breaksOthers ? inTurn(concerned, call) : atOnce(concerned, call));
    if (fault.stalls) expect(performance.now() - startMs).toBeLessThan(LATEST_MS);
    const lines = seen.map(([way, one]) => lineOf(fault, way, one, sentTo(way)));
    await vi.waitFor(() => expect(network.open()).toBe(0));
    await network.heal(fault);
    // By the gateway without a deadline, which a busy machine might miss: all of a runtime share its connections.
    const next = await atOnce(ways, (way) => way.caller.call(urlOf(way)));

    expect(byName(concerned, lines)).toEqual(
      byName(
        concerned,
        concerned.map((way) => dueOf(fault, way)),
      ),
    );
    expectServed(next);
  });

  it("a backend that restarts under load", async () => {
    const slow = network.faults.find(({ name }) => name === "drop by drop") as F;
    await network.inject(slow);
    const load = startLoad(ways, (way) => way.caller.call(urlOf(way)));
    for (let restart = 0; restart < 2; restart++) {
      await sleep(UP_MS);
      await network.down();
      await sleep(DOWN_MS);
      await network.up();
    }
    const seen = await load.stop();
    await network.heal(slow);
    const next = await atOnce(ways, (way) => way.caller.call(urlOf(way)));

    const lines = seen.map(([way, one]) => restartLine(way, one));
    expect(lines.filter((line) => line !== "served" && line !== "told")).toEqual([]);
    expect(new Set(lines)).toEqual(new Set(["served", "told"]));
    expectServed(next);
    await vi.waitFor(() => expect(network.open()).toBe(0));
  });

  function sentTo({ caller }: Way): Buffer {
    return network.sent(caller.kind === "unary" ? "Echo" : "Watch");
  }

  /** "served", "told" what a connection that breaks or is refused comes to, or else what was seen. */
  function restartLine(way: Way, one: Seen): string {
    if (one.text === way.caller.tell(SERVED)) return "served";
    const breaks = network.faults.filter(({ name }) => /^(?:refused|reset|closed)/.test(name));
    const isTold = breaks.some((fault) => {
      const verdict = verdictOf(fault, way);
      if (!verdict) return false;
      return lineOf(fault, way, one, sentTo(way)) === dueOf(fault, way) || tellsBefore(verdict, way).includes(one.text);
    });
    return isTold ? "told" : `${nameOf(way)}: ${one.text}`;
  }
}

/** The same failure, by so many messages earlier. */
function tellsBefore({ messages, ...failure }: Verdict, { caller }: Way): string[] {
  return Array.from({ length: messages }, (_, before) => caller.tell({ ...failure, messages: before }));
}

function expectServed(seen: readonly Sighting[]): void {
  const ways = seen.map(([way]) => way);
  expect(
    byName(
      ways,
      seen.map(([, { text }]) => text),
    ),
  ).toEqual(
    byName(
      ways,
      ways.map(({ caller }) => caller.tell(SERVED)),
    ),
  );
}

function nameOf({ caller, runtime }: Way): string {
  return `${caller.name}, through ${runtime}`;
}

function byName(ways: readonly Way[], lines: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(ways.map((way, i) => [nameOf(way), lines[i]]));
}

/** How many at once each caller is. */
const CALLERS_EACH = 2;

/** Calls again and again, until it is told to stop. */
function startLoad(ways: readonly Way[], call: Calling): { stop(): Promise<Sighting[]> } {
  const seen: Sighting[] = [];
  let isOn = true;
  const loops = Array.from({ length: CALLERS_EACH }, () =>
    ways.map(async (way) => {
      while (isOn) seen.push([way, await call(way)]);
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

type Calling = (way: Way) => Promise<Seen>;
type Sighting = readonly [Way, Seen];

function atOnce(ways: readonly Way[], call: Calling): Promise<Sighting[]> {
  return Promise.all(ways.map(async (way) => [way, await call(way)] as const));
}

/** Those of one runtime; the other's have connections of their own. */
async function inTurn(ways: readonly Way[], call: Calling): Promise<Sighting[]> {
  const turns = RUNTIMES.map(async (runtime) => {
    const seen: Sighting[] = [];
    for (const way of ways) if (way.runtime === runtime) seen.push([way, await call(way)]);
    return seen;
  });
  return (await Promise.all(turns)).flat();
}
