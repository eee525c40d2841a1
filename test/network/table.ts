/** The tables of docs/faults.md: what the tests beside this hold, in short. */
import type { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { httpStatus } from "./callers.ts";
import type { Fault, Verdict } from "./fault.ts";

const COLUMNS = [
  "what happens",
  "the call ends with",
  "REST, Connect",
  "messages of a stream",
  "array",
  "NDJSON",
  "events",
  "Connect stream",
  "gRPC-Web",
  "WebSocket",
  "untouched",
];

export function formatTable(faults: readonly Fault[]): string {
  const lines = [COLUMNS, COLUMNS.map(() => "---"), ...faults.map(rowOf)];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function rowOf(fault: Fault): string[] {
  const { name, only, unary, unaryInEnvelopes, stream, untouched, untouchedInNode, inNode } = fault;
  const one = unary ?? unaryInEnvelopes ?? stream;
  const words = new Set([one, unaryInEnvelopes, stream].map(describe).filter((text) => text !== undefined));
  const code = (one ?? stream)?.code;
  return [
    only === undefined ? name : `${name} (${only === "connect" ? "Connect" : "gRPC-Web"})`,
    [...words].join("; or ") + (inNode ? `. In Node ${describe(inNode)}` : ""),
    (unary ?? unaryInEnvelopes) ? statusOf(code) : "",
    ...streamCells(stream),
    code === undefined ? "0" : `${code}`,
    stream ? socketOf(code) : "",
    untouched ? untouched + (untouchedInNode ? `; in Node ${untouchedInNode}` : "") : "as the others",
  ];
}

function describe(verdict: Verdict | undefined): string | undefined {
  if (!verdict) return undefined;
  return verdict.code === undefined ? "success" : `${codeToString(verdict.code)}: ${verdict.message}`;
}

function statusOf(code: Code | undefined): string {
  return code === undefined ? "200" : `${httpStatus(code)}`;
}

function socketOf(code: Code | undefined): string {
  return code === undefined ? "1000" : `${4000 + code}`;
}

/** Messages before, array, NDJSON, events, Connect stream. */
function streamCells(stream: Verdict | undefined): string[] {
  if (!stream) return ["", "", "", "", ""];
  const { messages, code } = stream;
  const name = code === undefined ? "whole" : codeToString(code);
  if (code === undefined) return [`${messages}`, name, name, name, name];
  if (messages === 0) return [`${messages}`, ...["array", "NDJSON", "events"].map(() => statusOf(code)), name];
  return [`${messages}`, "cut", `line ${code}`, `event ${code}`, name];
}
