/** One HTTP/2 session to a backend, kept between calls and renewed when it is no longer good. */
import type { ClientHttp2Session } from "node:http2";
import { CONNECT_TIMEOUT_MS, type H2Target, openSession } from "./h2-connect.ts";
import { explainFailure, Unreachable } from "./unreachable.ts";

export interface Sessions {
  readonly url: URL;
  /**
   * The session for one more stream. Streams beyond the peer's MAX_CONCURRENT_STREAMS wait inside it.
   *
   * @throws Unreachable
   */
  get(): Promise<ClientHttp2Session>;
  /** Ends every session and what is going on in it; there will be no more. */
  close(): void;
}

export interface SessionsOptions extends H2Target {
  /** Told when no connection can be had: once until one can, or until the reason is another. Default: nobody is. */
  readonly onFailure?: (failure: Unreachable) => void;
  /** A session that was not used for longer is asked by a PING first. Default 30 s: more often is a flood to servers. */
  readonly quietMs?: number;
}

const QUIET_MS = 30_000;
const PING_TIMEOUT_MS = 3_000;

export function createSessions({ onFailure, quietMs = QUIET_MS, ...target }: SessionsOptions): Sessions {
  const open = new Set<ClientHttp2Session>();
  const closing = new AbortController();
  let current: Promise<ClientHttp2Session> | undefined;
  let awake: { readonly until: number; readonly proof: Promise<boolean> } | undefined;
  let told: string | undefined;

  async function connect(): Promise<ClientHttp2Session> {
    try {
      const session = await openSession(target, CONNECT_TIMEOUT_MS, closing.signal);
      open.add(session);
      session.once("close", () => open.delete(session));
      told = undefined;
      return session;
    } catch (error) {
      const failure = explainFailure(error);
      if (told !== failure.message && !closing.signal.aborted) onFailure?.(failure);
      told = failure.message;
      throw failure;
    }
  }

  function renew(): Promise<ClientHttp2Session> {
    const opening = connect();
    const retire = () => {
      if (current === opening) current = undefined;
    };
    current = opening;
    awake = undefined;
    opening.then((session) => {
      // After GOAWAY its streams go on, but no new one begins in it.
      session.once("goaway", retire);
      session.once("close", retire);
    }, retire);
    return opening;
  }

  /** Those that ask while a PING is under way share it. */
  function isAwake(session: ClientHttp2Session): Promise<boolean> {
    const now = Date.now();
    const proof = awake && awake.until < now ? answersPing(session) : (awake?.proof ?? Promise.resolve(true));
    awake = { until: now + quietMs, proof };
    return proof;
  }

  return {
    url: target.url,
    async get() {
      // The second is new, unless the peer closes what it has just accepted.
      for (let tries = 0; tries < 2; tries++) {
        const opening = current ?? renew();
        const session = await opening;
        const good = isGood(session);
        if (good && (await isAwake(session)) && isGood(session)) return session;
        // One that was closed lets its streams end; one that answers no PING is gone, and so are they.
        if (good) session.destroy();
        if (current === opening) current = undefined;
      }
      throw new Unreachable("closed", "it closes every connection");
    },
    close() {
      closing.abort();
      for (const session of open) session.destroy();
    },
  };
}

function isGood(session: ClientHttp2Session): boolean {
  return !session.closed && !session.destroyed;
}

function answersPing(session: ClientHttp2Session): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PING_TIMEOUT_MS, false);
    session.ping((error) => {
      clearTimeout(timer);
      resolve(error === null);
    });
  });
}
