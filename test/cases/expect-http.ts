/** What the client should have got. Every check returns its failures, one line each. */
import type { ExpectHttp, Json, JsonObject } from "./case.ts";
import { containsJson, expected, parseJson, sameJson, show, tokens } from "./compare.ts";
import { checkEnvelopes, readEnvelopes, type SeenEnvelope } from "./expect-envelopes.ts";
import { headerLines, headerOf } from "./recorded.ts";
import type { Answer } from "./socket.ts";

/** @param cut the case itself broke the connection off, so the answer need not end. */
export function checkHttp(expect: ExpectHttp, answer: Answer, cut: boolean): string[] {
  const failures = [...checkStatus(expect, answer), ...checkHeaders(expect, answer)];
  if (answer.late && !cut) failures.push("the answer had not ended in time");
  else if (!cut && answer.status !== 0) {
    if (expect.aborted && answer.clean) failures.push("aborted: the transfer ended cleanly");
    if (!expect.aborted && !answer.clean) failures.push("the transfer did not end cleanly");
  }
  const envelopes = readEnvelopes(answer);
  failures.push(...checkBody(expect, answer), ...checkEnvelopes(expect, answer, envelopes));
  if (expect.message_mentions)
    failures.push(...checkMentions(expect.message_mentions, errorMessage(answer, envelopes)));
  return failures;
}

function checkStatus(expect: ExpectHttp, answer: Answer): string[] {
  const allowed = expect.status_any_of ?? (expect.status === undefined ? undefined : [expect.status]);
  if (!allowed || allowed.includes(answer.status)) return [];
  const refused = headerOf(answer, "x-cases-refused") ? "the gateway refused its options; " : "";
  const body = answer.body.length > 0 ? `; body ${show(answer.body.toString())}` : "";
  return [`${refused}${expected("status", expect.status ?? expect.status_any_of, answer.status)}${body}`];
}

function checkHeaders(expect: ExpectHttp, answer: Answer): string[] {
  const failures: string[] = [];
  const fail = (name: string, wanted: unknown): void => {
    failures.push(expected(`header ${name}`, wanted, headerOf(answer, name)));
  };
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    if (headerOf(answer, name) !== value) fail(name, value);
  }
  for (const name of expect.headers_present ?? []) if (headerOf(answer, name) === undefined) fail(name, "any value");
  for (const name of expect.headers_absent ?? []) if (headerOf(answer, name) !== undefined) fail(name, "none");
  for (const [name, values] of Object.entries(expect.headers_any_of ?? {})) {
    if (!values.includes(headerOf(answer, name) ?? "")) fail(name, values);
  }
  const has = (name: string, token: string): boolean => tokens(headerOf(answer, name)).includes(token.toLowerCase());
  for (const [name, value] of Object.entries(expect.headers_contain ?? {})) {
    if (![value].flat().every((token) => has(name, token))) fail(name, { containing: value });
  }
  for (const [name, value] of Object.entries(expect.headers_lack ?? {})) {
    if ([value].flat().some((token) => has(name, token))) fail(name, { lacking: value });
  }
  for (const [name, values] of Object.entries(expect.headers_list ?? {})) {
    const wanted = values.map((value) => value.toLowerCase());
    const lines = headerLines(answer, name).map((line) => line.toLowerCase());
    if (!sameJson(lines, wanted) && !sameJson(tokens(headerOf(answer, name)), wanted)) fail(name, values);
  }
  if (!expect.allow_includes?.every((method) => has("allow", method)) && expect.allow_includes) {
    fail("allow", { containing: expect.allow_includes });
  }
  if (expect.allow_excludes?.some((method) => has("allow", method))) fail("allow", { lacking: expect.allow_excludes });
  return failures;
}

function checkBody(expect: ExpectHttp, answer: Answer): string[] {
  const failures: string[] = [];
  const text = answer.body.toString();
  const check = (key: keyof ExpectHttp, holds: (wanted: never) => boolean, came: unknown = text): void => {
    const wanted = expect[key];
    if (wanted !== undefined && !holds(wanted as never)) failures.push(expected(key, wanted, came));
  };
  const json = parseJson(text);
  check("body_json", (wanted: Json) => sameJson(json, wanted));
  check("body_json_partial", (wanted: Json) => containsJson(json, wanted));
  check("body_json_any_of", (wanted: Json[]) => wanted.some((one) => sameJson(json, one)));
  check("body_json_invalid", (wanted: boolean) => (json === undefined) === wanted);
  check("body_text", (wanted: string) => text === wanted);
  check(
    "body_base64",
    (wanted: string) => answer.body.equals(Buffer.from(wanted, "base64")),
    answer.body.toString("base64"),
  );
  check("body_prefix", (wanted: string) => text.startsWith(wanted));
  const lines = text.endsWith("\n") || text === "" ? text.split("\n").slice(0, -1).map(parseJson) : undefined;
  check("body_ndjson", (wanted: Json[]) => sameJson(lines, wanted));
  check("body_ndjson_partial", (wanted: Json[]) => containsJson(lines, wanted));
  check("body_sse", (wanted: JsonObject[]) => sameJson(parseEvents(text), wanted));
  return failures;
}

/** Events of a text/event-stream, each with the fields that it has; `data` as JSON. */
function parseEvents(text: string): JsonObject[] {
  const events = text.split("\n\n");
  // What stands behind the last blank line is an event that never ended.
  if (events.pop() !== "") return [{ unfinished: text }];
  return events.map((block) => {
    const event: JsonObject = {};
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (name === "data") data.push(value);
      else if (name !== "") event[name] = value;
    }
    const text = data.join("\n");
    const json = parseJson(text);
    if (data.length > 0) event.data = json === undefined ? text : json;
    return event;
  });
}

/** The error message, wherever the client's protocol puts it. */
function errorMessage(answer: Answer, envelopes: readonly SeenEnvelope[] | undefined): string | undefined {
  const text = answer.body.toString();
  const last = envelopes?.at(-1);
  const candidates: unknown[] = [
    parseJson(text),
    parseJson(text.trimEnd().split("\n").at(-1) ?? ""),
    last?.json,
    parseEvents(text).at(-1)?.data,
  ];
  for (const candidate of candidates) {
    const message = messageIn(candidate) ?? messageIn((candidate as JsonObject | undefined)?.error);
    if (message !== undefined) return message;
  }
  const percent = last?.trailers?.["grpc-message"] ?? headerOf(answer, "grpc-message");
  return percent === undefined ? undefined : decodeURIComponent(percent);
}

function messageIn(value: unknown): string | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const { message, detail } = value as JsonObject;
  if (typeof message === "string") return message;
  return typeof detail === "string" ? detail : undefined;
}

/** Each text, or its lowerCamelCase form, is in the message. */
export function checkMentions(mentions: readonly string[], message: string | undefined): string[] {
  return mentions
    .filter((text) => {
      const camel = text.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      return !message?.includes(text) && !message?.includes(camel);
    })
    .map((text) => expected("message_mentions", text, message));
}
