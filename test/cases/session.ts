/** Runs cases: one backend, one workerd with a gateway for each set of options, one case after the other. */
import { fileURLToPath } from "node:url";
import { startBackend } from "./backend.ts";
import type { Case, CaseRequest } from "./case.ts";
import { Conversation } from "./conversation.ts";
import type { Descriptors } from "./descriptors.ts";
import { formatEnvelope } from "./envelope.ts";
import { checkHttp } from "./expect-http.ts";
import { checkRpc } from "./expect-rpc.ts";
import { checkRule, checkTemplate } from "./expect-rule.ts";
import { unknownKeys } from "./keys.ts";
import { exchange, type Outgoing } from "./socket.ts";
import { deliveryOf, type Origins, type Target, targetOf } from "./target.ts";
import { startWorkerd } from "./workerd.ts";

const CASE_TIMEOUT_MS = 5000;
const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));

export interface Session {
  /** @returns the failures, one line each; none: the case passed. */
  run(test: Case): Promise<string[]>;
  /** What workerd wrote to stderr. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * @param cases those that will be run: their options say which gateways are needed.
 * @param worker the Worker's source.
 */
export async function openSession(cases: readonly Case[], descriptors: Descriptors, worker = WORKER): Promise<Session> {
  const backend = await startBackend(descriptors);
  const targets = collectTargets(cases, backend.origins);
  try {
    const options = [...targets.values()].map((target) => target.options);
    const workerd = await startWorkerd(worker, descriptors.set, options);
    const ports = new Map([...targets.keys()].map((key, i) => [key, workerd.ports[i] ?? 0]));
    return {
      async run(test) {
        const unknown = unknownKeys(test);
        if (unknown.length > 0) return unknown;
        try {
          if (test.template) return checkTemplate(test.template);
          if (test.rule) return checkRule(test.rule, descriptors);
          if (!test.request || !test.expect_http) return ["cannot express a case without request or expect_http"];
          const port = ports.get(targetOf(test, backend.origins).key) ?? 0;
          const conversation = new Conversation(test);
          backend.begin(conversation);
          return await converse(conversation, test.request, port, descriptors);
        } catch (error) {
          return [tell(error)];
        }
      },
      log: workerd.log,
      async stop() {
        await workerd.stop();
        await backend.stop();
      },
    };
  } catch (error) {
    await backend.stop();
    throw error;
  }
}

function tell(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.startsWith("cannot express") ? error.message : (error.stack ?? error.message);
}

function collectTargets(cases: readonly Case[], origins: Origins): Map<string, Target> {
  const targets = new Map<string, Target>();
  for (const test of cases) {
    if (!test.request) continue;
    try {
      const target = targetOf(test, origins);
      targets.set(target.key, target);
    } catch {
      // Told as the failure of this case when it is run.
    }
  }
  return targets;
}

async function converse(
  conversation: Conversation,
  request: CaseRequest,
  port: number,
  descriptors: Descriptors,
): Promise<string[]> {
  const { test } = conversation;
  const outgoing = formatOutgoing(request, port, deliveryOf(test).bodyAsStream);
  let cut = false;
  const exchanging = exchange(port, outgoing, CASE_TIMEOUT_MS, (body) => conversation.received(body.toString()));
  conversation.cancelClient = () => {
    cut = true;
    exchanging.cancel();
  };
  const answer = await exchanging.answer;
  const failures = test.expect_http ? checkHttp(test.expect_http, answer, cut) : [];
  return [...failures, ...(await checkRpc(conversation, descriptors)), ...conversation.faults];
}

/** Methods for which RFC 9110 §8.6 has a client send Content-Length although there is no body. */
const LENGTH_DUE = new Set(["POST", "PUT", "PATCH"]);

function formatOutgoing(request: CaseRequest, port: number, chunked: boolean): Outgoing {
  const body = bodyOf(request);
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (value !== null) for (const one of [value].flat()) headers.push([name, one]);
  }
  const has = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name);
  if (!has("host")) headers.unshift(["host", `127.0.0.1:${port}`]);
  if (!has("content-length") && !has("transfer-encoding")) {
    if (body && chunked) headers.push(["transfer-encoding", "chunked"]);
    else if (body || LENGTH_DUE.has(request.method)) headers.push(["content-length", String(body?.length ?? 0)]);
  }
  return { method: request.method, path: request.path, headers, body, chunked };
}

function bodyOf(request: CaseRequest): Buffer | null {
  if (request.envelopes) return Buffer.concat(request.envelopes.map(formatEnvelope));
  if (typeof request.body_base64 === "string") return Buffer.from(request.body_base64, "base64");
  return typeof request.body === "string" ? Buffer.from(request.body) : null;
}
