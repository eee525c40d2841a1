/** What the backend should have seen of a case. Every check returns its failures, one line each. */
import { toJson } from "@bufbuild/protobuf";
import type { Case, ExpectRpc, ExpectWire, Json } from "./case.ts";
import { expected } from "./compare.ts";
import type { Conversation } from "./conversation.ts";
import type { Descriptors } from "./descriptors.ts";
import { headerLines, headerOf, type Reading, type Recorded, readRecorded } from "./recorded.ts";
import { prefixOf } from "./target.ts";

/** How long a cancellation may take to reach the backend. */
const CANCEL_TIMEOUT_MS = 1500;

/** Names that HTTP or the upstream protocol writes by itself, whatever the caller sent. */
const PROTOCOL_NAMES = new Set(
  `accept-encoding connect-accept-encoding connect-content-encoding connect-protocol-version connect-timeout-ms
   connection content-encoding content-length content-type grpc-accept-encoding grpc-encoding grpc-timeout host te
   transfer-encoding user-agent x-grpc-web x-user-agent`.split(/\s+/),
);

export async function checkRpc(conversation: Conversation, descriptors: Descriptors): Promise<string[]> {
  const { test, calls } = conversation;
  const rpc = test.expect_rpc;
  const failures: string[] = [];
  if (test.expect_http?.upstream_cancelled) failures.push(...(await checkCancelled(calls)));
  if (!rpc) {
    if (calls.length > 0) failures.push(`the backend was called: ${calls.map((call) => call.url).join(", ")}`);
    return failures;
  }
  if (test.upstream?.unreachable) return failures;
  if (calls.length > 1) failures.push(`the backend was called ${calls.length} times`);
  const [call] = calls;
  if (!call) {
    if (!rpc.may_be_uncalled && !rpc.cancelled_or_uncalled) failures.push("the backend was not called");
    return failures;
  }
  let reading: Reading;
  try {
    if (rpc.cancelled_or_uncalled) await settled(call.cancelled);
    reading = readRecorded(call, prefixOf(test), descriptors);
  } catch (error) {
    return [...failures, `the backend could not read the request: ${error}`];
  }
  // Bytes of a caller who speaks protobuf are passed on as they came.
  const ours = speaksProtobuf(test) ? reading.faults.filter((fault) => !fault.endsWith("on the wire")) : reading.faults;
  failures.push(...ours);
  const name = reading.method ? `${reading.method.parent.typeName}/${reading.method.name}` : call.url;
  if (name !== rpc.method) failures.push(expected("rpc method", rpc.method, name));
  else failures.push(...checkMessages(rpc, call, reading, descriptors));
  failures.push(...checkMetadata(rpc, call, test), ...checkTimeout(rpc, call));
  if (rpc.wire) failures.push(...checkWire(rpc.wire, call, reading));
  return failures;
}

async function checkCancelled(calls: readonly Recorded[]): Promise<string[]> {
  const [call] = calls;
  if (!call) return ["upstream_cancelled: the backend was not called"];
  const cancelled = await settled(call.cancelled);
  return cancelled ? [] : [`upstream_cancelled: the backend saw ${cancelled === false ? "a clean end" : "no end"}`];
}

async function settled(cancelled: Promise<boolean>): Promise<boolean | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), CANCEL_TIMEOUT_MS));
  return Promise.race([cancelled, late]);
}

function speaksProtobuf(test: Case): boolean {
  const type = Object.entries(test.request?.headers ?? {}).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  return /proto|grpc/.test(String(type)) || test.request?.path.includes("encoding=proto") === true;
}

function checkMessages(rpc: ExpectRpc, call: Recorded, reading: Reading, descriptors: Descriptors): string[] {
  const { method } = reading;
  if (!method) return [];
  const came = reading.messages;
  const list = rpc.message_json !== undefined ? [rpc.message_json] : rpc.messages_json;
  const wanted = (list ?? rpc.messages_json_prefix ?? []).map((json) =>
    descriptors.fromCanonicalJson(method.input, json),
  );
  const options = { registry: descriptors.registry };
  const told = (): Json => came.map((message) => toJson(method.input, message, options));
  const failures: string[] = [];
  const common = Math.min(came.length, wanted.length);
  for (let i = 0; i < common; i++) {
    const [a, b] = [wanted[i], came[i]];
    if (a && b && !descriptors.equal(method.input, a, b)) {
      failures.push(expected(`message ${i + 1}`, (list ?? rpc.messages_json_prefix)?.[i], safely(told)));
    }
  }
  if (list && came.length !== list.length) failures.push(expected("messages", list, safely(told)));
  if (rpc.cancelled_or_uncalled) {
    if (came.length > wanted.length)
      failures.push(expected("at most these messages", rpc.messages_json_prefix, safely(told)));
    if (call.complete()) failures.push("the backend saw a clean end of the request");
  } else if (rpc.messages_json_prefix && came.length < wanted.length) {
    failures.push(expected("at least these messages", rpc.messages_json_prefix, safely(told)));
  } else if (list && !call.complete()) {
    failures.push("the request to the backend did not end");
  }
  return failures;
}

/** A message that has no JSON form is told as such. */
function safely(told: () => Json): Json {
  try {
    return told();
  } catch (error) {
    return String(error);
  }
}

function checkMetadata(rpc: ExpectRpc, call: Recorded, test: Case): string[] {
  const failures: string[] = [];
  const has = (metadata: Readonly<Record<string, readonly string[]>>): string[] =>
    Object.entries(metadata).flatMap(([name, values]) => {
      const came = headerLines(call, name);
      if (values.length === 0 && PROTOCOL_NAMES.has(name.toLowerCase())) return [];
      const same = came.length === values.length && came.every((value, i) => value === values[i]);
      return same || (came.length > 0 && came.join(", ") === values.join(", "))
        ? []
        : [expected(`metadata ${name}`, values, came)];
    });
  failures.push(...has(rpc.metadata ?? {}));
  for (const [name, value] of Object.entries(rpc.metadata_joined ?? {})) {
    const came = headerOf(call, name);
    if (came !== value) failures.push(expected(`metadata ${name}`, value, came));
  }
  for (const [name, values] of Object.entries(rpc.metadata_binary ?? {})) {
    const came = headerLines(call, name)
      .flatMap((line) => line.split(","))
      .map((text) => Buffer.from(text.trim(), "base64").toString("base64"));
    if (came.join() !== values.join()) failures.push(expected(`metadata ${name}`, values, came));
  }
  if (rpc.metadata_any_of && !rpc.metadata_any_of.some((metadata) => has(metadata).length === 0)) {
    failures.push(expected("metadata, one of", rpc.metadata_any_of, call.headers));
  }
  for (const name of rpc.metadata_absent ?? []) {
    const came = headerLines(call, name);
    const sent = sentValues(test, name);
    const leaked = sent
      ? came.filter((value) => sent.includes(value))
      : PROTOCOL_NAMES.has(name.toLowerCase())
        ? []
        : came;
    // Each side frames its own message; that both say the same is no leak.
    if (leaked.length > 0 && !isOwnFraming(name)) failures.push(expected(`metadata ${name}`, "none", leaked));
  }
  return failures;
}

function isOwnFraming(name: string): boolean {
  return /^(transfer-encoding|content-length)$/i.test(name);
}

/** The caller's values of a header; undefined when it sent none. */
function sentValues(test: Case, name: string): readonly string[] | undefined {
  const entry = Object.entries(test.request?.headers ?? {}).find(([key]) => key.toLowerCase() === name.toLowerCase());
  const value = entry?.[1];
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? [value] : value;
}

function checkTimeout(rpc: ExpectRpc, call: Recorded): string[] {
  if (rpc.timeout_ms === undefined) return [];
  const came = timeoutMs(call);
  if (rpc.timeout_ms === null) return came === undefined ? [] : [expected("timeout_ms", null, came)];
  const fits = came !== undefined && came <= rpc.timeout_ms && came > rpc.timeout_ms - 1000;
  return fits ? [] : [expected("timeout_ms", rpc.timeout_ms, came)];
}

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

function timeoutMs(call: Recorded): number | undefined {
  const connect = headerOf(call, "connect-timeout-ms");
  if (connect !== undefined) return Number(connect);
  const grpc = /^(\d{1,8})([HMSmun])$/.exec(headerOf(call, "grpc-timeout") ?? "");
  return grpc?.[2] === undefined ? undefined : Number(grpc[1]) * (UNIT_MS[grpc[2]] ?? Number.NaN);
}

function checkWire(wire: ExpectWire, call: Recorded, reading: Reading): string[] {
  const failures: string[] = [];
  const compare = (what: string, wanted: unknown, came: unknown): void => {
    if (wanted !== came) failures.push(expected(`wire ${what}`, wanted, came));
  };
  const [path, query = ""] = call.url.split("?", 2);
  if (wire.protocol) compare("protocol", wire.protocol, reading.protocol);
  if (wire.method) compare("method", wire.method, call.method);
  if (wire.path) compare("path", wire.path, path);
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(wire.query ?? {})) compare(`query ${name}`, value, params.get(name));
  for (const [name, value] of Object.entries(wire.headers ?? {})) compare(name, value, headerOf(call, name));
  for (const name of wire.headers_absent ?? []) compare(name, undefined, headerOf(call, name));
  for (const [name, pattern] of Object.entries(wire.headers_match ?? {})) {
    const came = headerOf(call, name);
    if (came === undefined || !new RegExp(pattern).test(came))
      failures.push(expected(`wire ${name}`, `/${pattern}/`, came));
  }
  for (const [name, most] of Object.entries(wire.headers_at_most ?? {})) {
    const came = headerOf(call, name);
    if (came === undefined || !(Number(came) <= most)) failures.push(expected(`wire ${name}`, `at most ${most}`, came));
  }
  if (wire.body_base64 !== undefined)
    compare("body", wire.body_base64 ?? "", Buffer.concat(call.chunks).toString("base64"));
  if (wire.envelopes) {
    const wanted = wire.envelopes.map(({ flags, base64, text }) => ({
      flags,
      base64: base64 ?? Buffer.from(text ?? "").toString("base64"),
    }));
    const came = reading.frames.map(({ flags, data }) => ({ flags, base64: data.toString("base64") }));
    compare("envelopes", JSON.stringify(wanted), JSON.stringify(came));
  }
  return failures;
}
