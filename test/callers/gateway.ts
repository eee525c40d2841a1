/** A gateway in raw workerd, before a backend that notes all that reaches it. */
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileRegistry, type DescMethod, fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { afterAll, beforeEach } from "vitest";
import type { JsonObject } from "../cases/case.ts";
import { splitFrames } from "../cases/envelope.ts";
import { startWorkerd, type Workerd } from "../cases/workerd.ts";
import { compileSet } from "../proto.ts";
import { serve } from "../server.ts";

/** What the backend saw of one request. */
export interface Arrival {
  /** "POST" */
  readonly method: string;
  /** "/callers.v1.Things/Set" */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came: `headers` has no room for `__proto__`. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body came to its end; else it was broken off. */
  readonly isWhole: boolean;
}

/** Writes the answer. */
export type Answering = (arrival: Arrival, response: ServerResponse) => unknown;

export interface Backend {
  readonly url: string;
  /** Requests since the test began, whole and broken ones, in the order of their ends. */
  readonly arrivals: readonly Arrival[];
  /** Requests whose answer has not ended. */
  open(): number;
  /** For the test that runs. Default: `echo`. */
  answer: Answering;
}

const CONNECT_STREAM = "application/connect+proto";
const CONNECT_END = encodeEnvelope(endStreamFlag, Buffer.from("{}"));
const GRPC_WEB_END = encodeEnvelope(trailerFlag, Buffer.from("grpc-status: 0\r\n"));

function isEnveloped({ headers }: Arrival): boolean {
  return /^application\/(?:connect\+|grpc-web)/.test(headers["content-type"] ?? "");
}

/** What was sent comes back; of a stream of requests with one answer, the last. */
export const echo: Answering = (arrival, response) => {
  const { headers, body } = arrival;
  const type = headers["content-type"] ?? "";
  response.writeHead(200, { "content-type": type });
  if (!isEnveloped(arrival)) return response.end(body);
  const { frames } = splitFrames(body);
  const answers = methodOf(arrival).methodKind === "client_streaming" ? frames.slice(-1) : frames;
  for (const { flags, data } of answers) response.write(encodeEnvelope(flags, data));
  return response.end(type === CONNECT_STREAM ? CONNECT_END : GRPC_WEB_END);
};

/** Await it at the top of a test file. */
export async function openBackend(): Promise<Backend> {
  const arrivals: Arrival[] = [];
  let open = 0;
  const server = await serve(async (request, response) => {
    open++;
    response.on("close", () => open--);
    const { method = "", url = "", headers, rawHeaders } = request;
    const arrival = { method, url, headers, rawHeaders, ...(await readBytes(request)) };
    arrivals.push(arrival);
    if (arrival.isWhole) backend.answer(arrival, response);
  });
  const backend = { arrivals, open: () => open, answer: echo, url: server.url };
  beforeEach(() => {
    arrivals.length = 0;
    backend.answer = echo;
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return backend;
}

async function readBytes(request: IncomingMessage): Promise<Pick<Arrival, "body" | "isWhole">> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part);
    return { body: Buffer.concat(parts), isWhole: true };
  } catch {
    return { body: Buffer.concat(parts), isWhole: false };
  }
}

/** Bytes of the descriptor set of `callers.proto`. */
export const set = await compileSet(await readFile(new URL("callers.proto", import.meta.url), "utf8"));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));

/**
 * Await it at the top of a test file.
 *
 * @param options of each gateway, besides its backend.
 * @param flags of compatibility. Default: that of a deployed Worker.
 */
export async function openGateways(
  backend: Backend,
  options: readonly JsonObject[],
  flags?: readonly string[],
): Promise<Workerd> {
  const entry = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
  const all = options.map((one) => ({ rpc: "all", backends: { "*": { url: backend.url } }, ...one }));
  const workerd = await startWorkerd(entry, set, all, flags);
  afterAll(() => workerd.stop());
  return workerd;
}

function methodOf({ url }: Arrival): DescMethod {
  const [, service = "", name] = url.split("/");
  const method = registry.getService(service)?.methods.find((one) => one.name === name);
  if (!method) throw new Error(`no method at ${url}`);
  return method;
}

/** The message that the backend was sent, or those of a stream of requests, as @bufbuild/protobuf reads them. */
export function messageOf(arrival: Arrival): JsonValue {
  const { input } = methodOf(arrival);
  const read = (bytes: Uint8Array) => toJson(input, fromBinary(input, bytes), { registry });
  const messages = isEnveloped(arrival) ? splitFrames(arrival.body).frames.map(({ data }) => data) : [arrival.body];
  const isOne = /^unary|^server_streaming/.test(methodOf(arrival).methodKind);
  return isOne ? read(messages[0] ?? Buffer.alloc(0)) : messages.map(read);
}
