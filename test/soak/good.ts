/** Callers who do all right: whatever is not exactly their answer is a fault. */
import { deepStrictEqual } from "node:assert";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Answer, Caller } from "./caller.ts";
import { descOf } from "./schema.ts";

/** Resolves when the answer was right. @throws Error which says what was wrong. */
export type Deed = (caller: Caller) => Promise<void>;

const JSON_TYPE = { "content-type": "application/json" };
const NOTE = descOf("Note");
const TEXT = 'Grüße, "世界" \u{1f600}\n';
const DATA = Buffer.alloc(600, "isthmus").toString("base64");

/** Its own JSON: no default value, nothing that has another spelling. */
function noteOf(caller: Caller, texts = 1): JsonObject {
  const id = caller.nextId();
  return { id, at: "9007199254740993", text: TEXT.repeat(texts), tags: [id, "b"], data: DATA, replyTo: { id } };
}

const getNote: Deed = async (caller) => {
  const id = caller.nextId();
  const text = `${id} ${TEXT}`;
  expectJson(await caller.ask({ method: "GET", path: `/v1/notes/${id}?text=${encodeURIComponent(text)}` }), {
    id,
    text,
  });
};

function putNote(texts: number): Deed {
  return async (caller) => {
    const note = noteOf(caller, texts);
    const { id, ...body } = note;
    const path = `/v1/notes/${id}`;
    expectJson(await caller.ask({ method: "PUT", path, header: JSON_TYPE, body: JSON.stringify(body) }), note);
  };
}

const putConnectJson: Deed = async (caller) => {
  const note = noteOf(caller);
  const ask = { method: "POST", path: "/soak.v1.Soak/PutNote", header: JSON_TYPE, body: JSON.stringify(note) };
  expectJson(await caller.ask(ask), note);
};

const putConnectBinary: Deed = async (caller) => {
  const note = noteOf(caller);
  const body = toBinary(NOTE, fromJson(NOTE, note));
  const header = { "content-type": "application/proto" };
  const answer = await caller.ask({ method: "POST", path: "/soak.v1.Soak/PutNote", header, body });
  expectStatus(answer, 200);
  deepStrictEqual(toJson(NOTE, fromBinary(NOTE, answer.body)), note);
};

const putGrpcWeb: Deed = async (caller) => {
  const note = noteOf(caller);
  const body = encodeEnvelope(0, toBinary(NOTE, fromJson(NOTE, note)));
  const header = { "content-type": "application/grpc-web+proto" };
  const answer = await caller.ask({ method: "POST", path: "/soak.v1.Soak/PutNote", header, body });
  expectStatus(answer, 200);
  const [message, trailers] = envelopesOf(answer.body);
  deepStrictEqual(message && toJson(NOTE, fromBinary(NOTE, message)), note);
  deepStrictEqual(/^grpc-status: ?0\r$/m.test(`${trailers}`), true);
};

const WATCHED = 5;

function watch(
  accept: string,
  parse: (text: string) => unknown[],
  read?: (answer: IncomingMessage) => Promise<Buffer>,
): Deed {
  return async (caller) => {
    const id = caller.nextId();
    const path = `/v1/notes/${id}:watch?count=${WATCHED}`;
    const answer = await caller.ask({ method: "GET", path, header: { accept } }, read);
    expectStatus(answer, 200);
    deepStrictEqual(parse(answer.body.toString()), watchedBy(id));
  };
}

function watchedBy(id: string): JsonObject[] {
  return Array.from({ length: WATCHED }, (_, i) => ({ id, at: String(i + 1) }));
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const results = (text: string) => lines(text).map(({ result }) => result);
/** The last event tells that all have come. */
const events = (text: string) => {
  const data = text.split("\n").filter((line) => line.startsWith("data: "));
  deepStrictEqual(text.slice(text.lastIndexOf("event: ")).trimEnd(), "event: end\ndata: {}");
  return data.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)));
};

const watchConnect: Deed = async (caller) => {
  const id = caller.nextId();
  const body = encodeEnvelope(0, Buffer.from(JSON.stringify({ id, count: WATCHED })));
  const header = { "content-type": "application/connect+json" };
  const answer = await caller.ask({ method: "POST", path: "/soak.v1.Soak/Watch", header, body });
  expectStatus(answer, 200);
  const parsed = envelopesOf(answer.body).map((data) => JSON.parse(String(data)));
  deepStrictEqual(parsed, [...watchedBy(id), {}]);
};

const gather: Deed = async (caller) => {
  const ids = Array.from({ length: 20 }, () => caller.nextId());
  const body = ids.map((id) => `${JSON.stringify({ id, text: TEXT })}\n`).join("");
  const header = { "content-type": "application/x-ndjson" };
  expectJson(await caller.ask({ method: "POST", path: "/v1/notes:gather", header, body }), { ids });
};

/** Takes its answer in sips. */
async function readSlowly(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) {
    chunks.push(chunk);
    await sleep(50);
  }
  return Buffer.concat(chunks);
}

/** Its body comes in drops. */
const putSlowly: Deed = async (caller) => {
  const note = noteOf(caller);
  const { id, ...body } = note;
  const bytes = Buffer.from(JSON.stringify(body));
  const header = { ...JSON_TYPE, "content-length": bytes.length };
  const request = caller.open({ method: "PUT", path: `/v1/notes/${id}`, header });
  const answered = caller.answerOf(request);
  for (let at = 0; at < bytes.length; at += 200) {
    request.write(bytes.subarray(at, at + 200));
    await sleep(50);
  }
  request.end();
  expectJson(await answered, note);
};

/** Their latency is what is measured. */
export const UNARY: readonly Deed[] = [getNote, putNote(1), putNote(500), putConnectJson, putConnectBinary, putGrpcWeb];
export const STREAMS: readonly Deed[] = [
  watch("application/x-ndjson", results),
  watch("text/event-stream", events),
  watch("application/json", (text) => JSON.parse(text)),
  watchConnect,
  gather,
];
export const SLOW: readonly Deed[] = [putSlowly, watch("application/x-ndjson", results, readSlowly)];

function expectStatus({ status, body }: Answer, expected: number): void {
  if (status !== expected) throw new Error(`status ${status} instead of ${expected}: ${body.subarray(0, 300)}`);
}

function expectJson(answer: Answer, json: JsonObject): void {
  expectStatus(answer, 200);
  deepStrictEqual(JSON.parse(answer.body.toString()), json);
}

function envelopesOf(body: Buffer): Buffer[] {
  const data: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    data.push(body.subarray(at + 5, end));
    at = end;
  }
  return data;
}
