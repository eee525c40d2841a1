/** A call whose messages go in envelopes: the streams of Connect, all of gRPC-Web. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, Messages, Reply } from "../call.ts";
import { discard } from "../protocol/bytes.ts";
import { isKnownEncoding } from "../protocol/compression.ts";
import { readSingle } from "../protocol/messages.ts";
import { appendMetadata, responseMetadata } from "../protocol/metadata.ts";
import {
  type BackendRequest,
  bodyInit,
  type EnvelopedRequest,
  fetchBackend,
  openEnvelopes,
  type UpstreamOptions,
} from "./backend.ts";

export interface EnvelopedProtocol {
  /** @throws ConnectError when the head is no answer of the protocol, or not one that the call can pass on. */
  check(response: Response, call: Call): void;
  /** The answer's messages. */
  read(call: Call, response: Response, options: UpstreamOptions): Messages;
  /** Request header field that says which codings are understood. */
  readonly acceptField: string;
  /** Response header fields that an untouched body cannot do without. */
  readonly rawFields: readonly string[];
  /** What the fetch is told besides. */
  readonly init: BackendRequest;
}

/** @param call its header is that of the request, complete. */
export async function callEnveloped(call: Call, options: UpstreamOptions, protocol: EnvelopedProtocol): Promise<Reply> {
  if (options.offersGzip && call.body.kind !== "raw") call.header.set(protocol.acceptField, "gzip");
  const request = await openEnvelopes(call);
  try {
    const init = { method: "POST", headers: call.header, ...bodyInit(request.payload), ...protocol.init };
    const response = await fetchBackend(request.call, options.url + call.method.path, init, options);
    try {
      protocol.check(response, call);
      return await readReply(request, response, options, protocol);
    } catch (error) {
      await discard(response.body);
      throw error;
    }
  } catch (error) {
    request.stop();
    throw error;
  }
}

async function readReply(
  request: EnvelopedRequest,
  response: Response,
  options: UpstreamOptions,
  protocol: EnvelopedProtocol,
): Promise<Reply> {
  const { call, stop } = request;
  const header = responseMetadata(response.headers);
  if (call.body.kind === "raw") {
    for (const name of protocol.rawFields) {
      const value = response.headers.get(name);
      if (value !== null) header.set(name, value);
    }
    return { header, body: { kind: "raw", stream: response.body } };
  }
  const messages = protocol.read(call, response, options);
  if (call.method.kind === "server-stream" || call.method.kind === "bidi") {
    messages.end.then(stop);
    return { header, body: { kind: "stream", messages } };
  }
  const { message, trailer } = await readOne(messages, header);
  stop();
  return { header, trailer, body: { kind: "message", read: () => Promise.resolve(message) } };
}

/** What came with the failure is its metadata. */
async function readOne(messages: Messages, header: Headers) {
  try {
    return await readSingle(messages, "answer");
  } catch (error) {
    if (error instanceof ConnectError) appendMetadata(error.metadata, header);
    throw error;
  }
}

/** @throws ConnectError internal for a coding that nobody has offered. */
export function checkCoding(encoding: string | null): string | null {
  if (isKnownEncoding(encoding)) return encoding;
  throw new ConnectError(`the backend used an encoding that was not offered: ${encoding}`, Code.Internal);
}
