/** What comes of a fault: for the gateway, and for callers of each kind. */
import { Code } from "@connectrpc/connect";
import type { Runtime } from "../matrix/gateways.ts";
import { type Caller, type Seen, TEXTS } from "./callers.ts";

export type Upstream = "connect" | "grpc-web" | "grpc";

/** How a call ends for a caller whom the gateway answers in messages. */
export interface Verdict {
  /** Whole messages that come before. Of a unary call none does, unless the call is served. */
  readonly messages: number;
  /** Undefined: the call is served. */
  readonly code?: Code;
  readonly message?: string;
}

/**
 * What the caller of a body that passes through sees of it: a part that breaks off, a part that ends well, all, or what
 * came of it and the verdict then, which the bridge has written.
 */
export type Untouched = "cut" | "shortened" | "whole" | "told";

export interface Fault {
  readonly name: string;
  /** Default: all that its list is for. */
  readonly only?: Upstream;
  /** Only a deadline ends it. */
  readonly stalls?: true;
  /** It breaks what other calls share. */
  readonly breaksOthers?: true;
  /** Undefined: a unary call of Connect, which has no envelopes, knows no such fault. */
  readonly unary: Verdict | undefined;
  /** Where a unary call that has envelopes, as all but Connect's, ends in another way. */
  readonly unaryInEnvelopes?: Verdict;
  /** Of a stream of two messages. Undefined: a stream knows no such fault. */
  readonly stream: Verdict | undefined;
  /** Undefined: callers of bodies that pass through are answered by the gateway, as all others. */
  readonly untouched?: Untouched;
  /** Where it is another, since Node's fetch decodes what is compressed. */
  readonly untouchedInNode?: Untouched;
  /** What is wrong with a unary message is seen by its reader alone: a caller of protobuf gets it as it came. */
  readonly unread?: true;
  /** Undefined: both. */
  readonly onlyIn?: Runtime;
  /** Where Node's own fetch takes less than workerd's: of every call. */
  readonly inNode?: Verdict;
}

export const SERVED: Verdict = { messages: 2 };
export const LATE = fails(Code.DeadlineExceeded, "the deadline has passed");

/** Before the first message. */
export function fails(code: Code, message: string): Verdict {
  return { messages: 0, code, message };
}

export function after(messages: number, verdict: Verdict): Verdict {
  return { ...verdict, messages };
}

/** A gateway on its way from a caller to a backend. */
export interface Way {
  readonly caller: Caller;
  readonly upstream: Upstream;
  readonly runtime: Runtime;
}

/** @returns undefined where there can be no such fault. */
export function verdictOf(fault: Fault, { caller, upstream, runtime }: Way): Verdict | undefined {
  if (fault.onlyIn && fault.onlyIn !== runtime) return undefined;
  if (caller.kind === "stream") return (runtime === "Node" && fault.inNode) || fault.stream;
  const verdict = upstream === "connect" ? fault.unary : (fault.unaryInEnvelopes ?? fault.unary);
  return (runtime === "Node" && fault.inNode) || verdict;
}

/** @returns undefined for a caller whom the gateway itself answers. */
export function untouchedOf(fault: Fault, { caller, upstream, runtime }: Way): Untouched | undefined {
  if (caller.passes !== (upstream === "grpc" ? "grpc-web" : upstream)) return undefined;
  return (runtime === "Node" && fault.untouchedInNode) || fault.untouched;
}

/** The line that is due. */
export function dueOf(fault: Fault, way: Way): string {
  const { caller, upstream } = way;
  const verdict = verdictOf(fault, way);
  if (!verdict) throw new Error(`${caller.name} knows no such fault: ${fault.name}`);
  const isUnread = fault.unread && caller.codec === "proto" && caller.kind === "unary" && upstream === "connect";
  if (isUnread) return caller.tell({ messages: 1 }).replace(JSON.stringify({ text: TEXTS[0] }), "broken");
  const untouched = untouchedOf(fault, way);
  if (untouched === undefined) return caller.tell(verdict);
  if (untouched !== "told") return untouched;
  // Of a unary call the one message, of a stream both.
  const { messages = 0 } = fault.stream ?? {};
  return caller.tell({ ...verdict, messages: caller.kind === "unary" ? Math.max(0, messages - 1) : messages });
}

/**
 * The line that was seen.
 *
 * @param sent the body that the backend sent, were it whole.
 */
export function lineOf(fault: Fault, way: Way, { text, body, isCut }: Seen, sent: Buffer): string {
  if (!["cut", "shortened", "whole"].includes(dueOf(fault, way))) return text;
  // What follows the envelopes of gRPC, its trailers, the bridge has written.
  const own = way.upstream === "grpc" ? body.subarray(0, sent.length) : body;
  if (!sent.subarray(0, body.length).equals(own)) return `not what was sent: ${text}`;
  if (isCut) return "cut";
  return body.length < sent.length ? "shortened" : "whole";
}
