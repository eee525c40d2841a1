/**
 * A caller of each protocol that the gateway serves: how it calls, what it sees as a line of text, and the line that it
 * must see of a verdict. How each protocol tells a failure stands in its specification, and in DESIGN's table of
 * contracts for REST and WebSockets.
 */
import http, { type IncomingHttpHeaders } from "node:http";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { codeToString, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { parseTrailerLines, splitFrames } from "../cases/envelope.ts";
import { readEvents } from "../client/events.ts";
import type { Protocol } from "../matrix/outcome.ts";
import { Everything } from "../matrix/schema.ts";
import type { Verdict } from "./fault.ts";

/** `text` of the messages that the backend answers with: all of them to a stream, the first to a unary call. */
export const TEXTS = ["first", "second"] as const;

export interface Caller {
  readonly name: string;
  readonly kind: "unary" | "stream";
  /** Of its messages. */
  readonly codec: "json" | "proto";
  /** Its body passes through to a backend of that protocol. */
  readonly passes?: Protocol;
  /** Only workerd has what it needs. */
  readonly workerdOnly?: true;
  call(url: string): Promise<Seen>;
  /** What it must see. */
  tell(verdict: Verdict): string;
}

export interface Seen {
  /** What came, read as the protocol says. */
  readonly text: string;
  /** Bytes of the body; of a WebSocket none. */
  readonly body: Buffer;
  /** The transfer broke. */
  readonly isCut: boolean;
}

interface HttpAnswer {
  /** Undefined: the connection was lost before. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly isCut: boolean;
}

function post(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array | string): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let head: Pick<HttpAnswer, "status" | "headers"> = { status: undefined, headers: {} };
    const settle = (isCut: boolean) => resolve({ ...head, body: Buffer.concat(chunks), isCut });
    // The header blocks of some faults are huge.
    const options = { method: "POST", headers, agent: false, maxHeaderSize: 1 << 20 };
    const request = http.request(url, options, (response) => {
      head = { status: response.statusCode, headers: response.headers };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => settle(false));
      response.on("error", () => settle(true));
    });
    request.on("error", () => settle(true));
    request.end(body);
  });
}

const json = (text: string) => JSON.stringify(JSON.parse(text));
const messageJson = (text: string) => JSON.stringify({ text });
const rpcStatus = ({ code, message }: Verdict) => JSON.stringify({ code, message });
const connectError = ({ code = Code.Unknown, message }: Verdict) => ({ code: codeToString(code), message });

/** google.rpc.Code, "HTTP Mapping"; the Connect protocol has the same table. */
const HTTP_STATUS: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};
export const httpStatus = (code: Code) => HTTP_STATUS[code];

const REST_TYPE = { "content-type": "application/json" };
const QUESTION = JSON.stringify({ text: "question" });
/** The same, as wire: field 1. */
const WIRE = Buffer.concat([Uint8Array.of(0x0a, 8), Buffer.from("question")]);

/** The head and, if it broke, the end of an answer, around what it held. */
function seen(answer: HttpAnswer, read: (body: Buffer) => string[]): Seen {
  const { status, headers, body, isCut } = answer;
  let records: string[];
  try {
    records = read(body);
  } catch {
    records = [`unreadable: ${body.toString("latin1")}`];
  }
  const parts = [`${status} ${headers["content-type"]}`, ...records, ...(isCut ? ["cut"] : [])];
  return { text: parts.join(" | "), body, isCut };
}

function told(status: number, type: string, ...records: string[]): string {
  return [`${status} ${type}`, ...records].join(" | ");
}

/** A REST or Connect call that failed before it had anything to show. */
function failedRest(verdict: Verdict): string {
  return told(httpStatus(verdict.code ?? Code.Unknown), "application/json", rpcStatus(verdict));
}

const texts = (count: number) => TEXTS.slice(0, count);

const REST: Caller = {
  name: "REST",
  kind: "unary",
  codec: "json",
  call: async (url) => seen(await post(`${url}/v1/echo`, REST_TYPE, QUESTION), (body) => [json(`${body}`)]),
  tell: (verdict) => (verdict.code ? failedRest(verdict) : told(200, "application/json", messageJson(TEXTS[0]))),
};

interface RestForm {
  readonly name: string;
  readonly accept: string;
  read(text: string): string[];
  /** A whole message, and the last record, of a stream that had messages before it failed, or did not fail. */
  message(text: string): string;
  end(verdict: Verdict): string[];
}

const REST_FORMS: readonly RestForm[] = [
  {
    name: "array",
    accept: "application/json",
    // An array that broke off: what is there of it, up to its end.
    read: (text) => [text],
    message: messageJson,
    end: () => [],
  },
  {
    name: "NDJSON",
    accept: "application/x-ndjson",
    read: (text) => text.split("\n").slice(0, -1).map(json),
    message: (text) => JSON.stringify({ result: { text } }),
    end: (verdict) => (verdict.code ? [`{"error":${rpcStatus(verdict)}}`] : []),
  },
  {
    name: "events",
    accept: "text/event-stream",
    read: (text) => readEvents(text).map(({ event, data }) => `${event} ${json(data)}`),
    message: (text) => `message ${messageJson(text)}`,
    end: (verdict) => [verdict.code ? `error ${rpcStatus(verdict)}` : "end {}"],
  },
];

function restStream({ name, accept, read, message, end }: RestForm): Caller {
  return {
    name: `REST, ${name}`,
    kind: "stream",
    codec: "json",
    async call(url) {
      const answer = await post(`${url}/v1/watch`, { ...REST_TYPE, accept }, QUESTION);
      return seen(answer, (body) => (answer.status === 200 ? read(`${body}`) : [json(`${body}`)]));
    },
    tell(verdict) {
      if (verdict.code && verdict.messages === 0) return failedRest(verdict);
      const messages = texts(verdict.messages).map(message);
      if (name !== "array") return told(200, accept, ...messages, ...end(verdict));
      return verdict.code
        ? told(200, accept, `[${messages.join(",")}`, "cut")
        : told(200, accept, `[${messages.join(",")}]`);
    },
  };
}

/** "broken" for what is no message. */
function textOf(wire: Uint8Array): string {
  try {
    return JSON.stringify(toJson(Everything, fromBinary(Everything, wire)));
  } catch {
    return "broken";
  }
}

function connectUnary(codec: Caller["codec"]): Caller {
  const type = `application/${codec}`;
  return {
    name: `Connect, ${codec}`,
    kind: "unary",
    codec,
    ...(codec === "proto" && { passes: "connect" }),
    async call(url) {
      const answer = await post(
        `${url}/matrix.v1.Matrix/Echo`,
        { "content-type": type },
        codec === "proto" ? WIRE : QUESTION,
      );
      const isWire = answer.status === 200 && codec === "proto";
      return seen(answer, (body) => [isWire ? textOf(body) : json(`${body}`)]);
    },
    tell: (verdict) =>
      verdict.code
        ? told(httpStatus(verdict.code), "application/json", JSON.stringify(connectError(verdict)))
        : told(200, type, messageJson(TEXTS[0])),
  };
}

function framesOf(body: Buffer, end: number, readMessage: (data: Buffer) => string, readEnd: (text: string) => string) {
  const { frames, rest } = splitFrames(body);
  return [
    ...frames.map(({ flags, data }) => (flags === end ? `end ${readEnd(`${data}`)}` : `${flags} ${readMessage(data)}`)),
    ...(rest.length > 0 ? [`the first ${rest.length} bytes of an envelope`] : []),
  ];
}

function connectStream(codec: Caller["codec"]): Caller {
  const type = `application/connect+${codec}`;
  const question = encodeEnvelope(0, codec === "proto" ? WIRE : Buffer.from(QUESTION));
  return {
    name: `Connect stream, ${codec}`,
    kind: "stream",
    codec,
    ...(codec === "proto" && { passes: "connect" }),
    async call(url) {
      const answer = await post(`${url}/matrix.v1.Matrix/Watch`, { "content-type": type }, question);
      return seen(answer, (body) =>
        framesOf(body, endStreamFlag, codec === "proto" ? textOf : (data) => json(`${data}`), json),
      );
    },
    tell(verdict) {
      const end = JSON.stringify(verdict.code ? { error: connectError(verdict) } : {});
      return told(200, type, ...texts(verdict.messages).map((text) => `0 ${messageJson(text)}`), `end ${end}`);
    },
  };
}

function grpcWeb(kind: Caller["kind"], form: "binary" | "text"): Caller {
  const isText = form === "text";
  const type = isText ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
  const question = Buffer.from(encodeEnvelope(0, WIRE));
  return {
    name: `gRPC-Web${kind === "stream" ? " stream" : ""}, ${form}`,
    kind,
    codec: "proto",
    ...(!isText && { passes: "grpc-web" }),
    async call(url) {
      const path = kind === "unary" ? "Echo" : "Watch";
      const sent = isText ? question.toString("base64") : question;
      const answer = await post(`${url}/matrix.v1.Matrix/${path}`, { "content-type": type }, sent);
      return seen(answer, (body) => framesOf(isText ? decodePieces(`${body}`) : body, trailerFlag, textOf, readStatus));
    },
    tell({ messages, code = 0, message = "" }) {
      const shown = kind === "unary" && code === 0 ? 1 : messages;
      return told(
        200,
        type,
        ...texts(shown).map((text) => `0 ${messageJson(text)}`),
        `end ${code} ${message}`.trimEnd(),
      );
    },
  };
}

/** Each piece of base64 is padded by itself. */
function decodePieces(text: string): Buffer {
  return Buffer.concat((text.match(/.{4}/g) ?? []).map((group) => Buffer.from(group, "base64")));
}

function readStatus(lines: string): string {
  const { "grpc-status": status, "grpc-message": message = "" } = parseTrailerLines(lines);
  // What is said of success says nothing.
  return status === "0" ? "0" : `${status} ${decodeURIComponent(message)}`.trimEnd();
}

const SOCKET: Caller = {
  name: "WebSocket",
  kind: "stream",
  codec: "json",
  workerdOnly: true,
  call: (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/matrix.v1.Matrix/Watch`);
      const records: string[] = [];
      socket.onopen = () => socket.send(QUESTION);
      socket.onmessage = ({ data }) => records.push(json(data));
      socket.onclose = ({ code, reason, wasClean }) => {
        const text = [...records, `${code} ${reason}`.trimEnd()].join(" | ");
        resolve({ text, body: Buffer.alloc(0), isCut: !wasClean });
      };
    }),
  tell: ({ messages, code, message }) =>
    [...texts(messages).map(messageJson), code ? `${4000 + code} ${message}` : "1000"].join(" | "),
};

export const CALLERS: readonly Caller[] = [
  REST,
  ...REST_FORMS.map(restStream),
  connectUnary("json"),
  connectUnary("proto"),
  connectStream("json"),
  connectStream("proto"),
  grpcWeb("unary", "binary"),
  grpcWeb("unary", "text"),
  grpcWeb("stream", "binary"),
  grpcWeb("stream", "text"),
  SOCKET,
];
