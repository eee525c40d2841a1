/** Callers who do wrong: each has to be refused for what it did, and those who leave must leave nothing. */
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Ask } from "./caller.ts";
import type { Deed } from "./good.ts";

/** As the gateway under soak has it. */
export const MAX_BYTES = 1 << 20;

const JSON_TYPE = { "content-type": "application/json" };
const put = (body: string | Uint8Array, header: Record<string, string> = JSON_TYPE): Ask => ({
  method: "PUT",
  path: "/v1/notes/bad",
  header,
  body,
});

/** Inflates to 64 times the limit. */
const BOMB = gzipSync(Buffer.alloc(64 * MAX_BYTES, " "));
const DEEP = '{"replyTo":'.repeat(5_000);
/** Numbers as names: what hashes them can be made slow by their choice. */
const KEYS = `{${Array.from({ length: 20_000 }, (_, i) => `"${i * 65_536}":0`).join()}}`;

/** What is asked, and the status of RFC 9110 that it has coming. */
const REFUSED: Readonly<Record<string, readonly [ask: Ask, status: number]>> = {
  "malformed JSON": [put('{"text": "a'), 400],
  "a wrong type": [put('{"at":"x"}'), 400],
  "an unknown field": [put('{"nope":1}'), 400],
  "invalid UTF-8": [put(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x30, 0x7d)), 400],
  "nested too deep": [put(DEEP), 400],
  "many names": [put(KEYS), 400],
  "a body that is too large": [put(Buffer.alloc(MAX_BYTES + 1, " ")), 413],
  "a bomb": [put(BOMB, { ...JSON_TYPE, "content-encoding": "gzip" }), 413],
  "a coding that nobody knows": [put("{}", { ...JSON_TYPE, "content-encoding": "zip" }), 415],
  "a type that nobody takes": [put("{}", { "content-type": "text/plain" }), 415],
  "a path that nobody serves": [{ method: "GET", path: "/v1/other" }, 404],
  "a method that the path has not": [{ method: "DELETE", path: "/v1/notes/bad" }, 405],
  "a broken escape": [{ method: "GET", path: "/v1/notes/%zz" }, 400],
  "an unknown parameter": [{ method: "GET", path: `/v1/notes/bad?${"a=1&".repeat(2_000)}` }, 400],
  "a type that nobody answers with": [{ method: "GET", path: "/v1/notes/bad", header: { accept: "image/png" } }, 406],
  "malformed Connect JSON": [{ method: "POST", path: "/soak.v1.Soak/PutNote", header: JSON_TYPE, body: "{" }, 400],
};

function refused(what: string, ask: Ask, expected: number): Deed {
  return async (caller) => {
    const answer = await caller.ask(ask).catch(unlessCut);
    if (answer === undefined || answer.status === expected) return;
    throw new Error(`${what}: status ${answer.status} instead of ${expected}: ${answer.body.subarray(0, 300)}`);
  };
}

/** workerd closes a connection whose body it did not read to its end; who still writes may miss the answer. */
function unlessCut(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "EPIPE" && error.code !== "ECONNRESET") throw error;
}

export const BAD: readonly Deed[] = Object.entries(REFUSED).map(([what, [ask, status]]) => refused(what, ask, status));

const WATCH = { method: "GET", path: "/v1/notes/left:watch?count=1000", header: { accept: "application/x-ndjson" } };

/** Half a body, and then nothing. */
function leaveBody(holdMs: number): Deed {
  return async (caller) => {
    const request = caller.open({
      method: "PUT",
      path: "/v1/notes/left",
      header: { ...JSON_TYPE, "content-length": 900 },
    });
    request.write('{"text":"');
    await sleep(holdMs);
    await leave(request);
  };
}

/** Waits for an answer no longer than it takes to ask. */
const leaveBeforeAnswer: Deed = async (caller) => {
  const request = caller.open({ method: "GET", path: "/v1/notes/left" });
  request.end();
  await sleep(1);
  request.socket?.resetAndDestroy();
  await leave(request);
};

/** @param holdMs how long it reads nothing after the first bytes. */
function leaveStream(holdMs: number): Deed {
  return async (caller) => {
    const request = caller.open(WATCH);
    request.end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.on("error", () => undefined);
    await once(answer, "readable");
    await sleep(holdMs);
    await leave(request);
  };
}

/** The errors of what was left are the leaver's own. */
async function leave(request: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  request.on("error", resolve).on("close", resolve);
  request.destroy();
  if (!request.closed) await promise;
}

export const LEAVING: readonly Deed[] = [
  leaveBody(0),
  leaveBody(2_000),
  leaveBeforeAnswer,
  leaveStream(0),
  leaveStream(1_000),
];
