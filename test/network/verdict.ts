/** What a caller has to see of a fault. */
import type { Runtime } from "../matrix/gateways.ts";
import type { Protocol } from "../matrix/outcome.ts";
import { type Caller, type Seen, TEXTS } from "./callers.ts";
import type { Fault, Untouched, Verdict } from "./faults.ts";

/** A gateway on its way from a caller to a backend. */
export interface Way {
  readonly caller: Caller;
  readonly upstream: Protocol;
  readonly runtime: Runtime;
}

/** @returns undefined where there can be no such fault. */
export function verdictOf(fault: Fault, { caller, upstream, runtime }: Way): Verdict | undefined {
  if (caller.kind === "stream") return (runtime === "Node" && fault.inNode) || fault.stream;
  const verdict = upstream === "grpc-web" ? (fault.unaryInEnvelopes ?? fault.unary) : fault.unary;
  return (runtime === "Node" && fault.inNode) || verdict;
}

/** @returns undefined for a caller whom the gateway itself answers. */
export function untouchedOf(fault: Fault, { caller, upstream, runtime }: Way): Untouched | undefined {
  if (caller.passes !== upstream) return undefined;
  return (runtime === "Node" && fault.untouchedInNode) || fault.untouched;
}

/** The line that is due. */
export function dueOf(fault: Fault, way: Way): string {
  const { caller, upstream } = way;
  const verdict = verdictOf(fault, way);
  if (!verdict) throw new Error(`${caller.name} knows no such fault: ${fault.name}`);
  const isUnread = fault.unread && caller.codec === "proto" && caller.kind === "unary" && upstream === "connect";
  if (isUnread) return caller.tell({ messages: 1 }).replace(JSON.stringify({ text: TEXTS[0] }), "broken");
  return untouchedOf(fault, way) ?? caller.tell(verdict);
}

/**
 * The line that was seen.
 *
 * @param sent the body that the backend sent, were it whole.
 */
export function lineOf(fault: Fault, way: Way, { text, body, isCut }: Seen, sent: Buffer): string {
  if (!untouchedOf(fault, way) || dueOf(fault, way).endsWith("broken")) return text;
  if (!sent.subarray(0, body.length).equals(body)) return `not what was sent: ${text}`;
  if (isCut) return "cut";
  return body.length < sent.length ? "shortened" : "whole";
}
