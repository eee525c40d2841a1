/** A stream of messages as the body of a REST answer. */
import type { ConnectError } from "@connectrpc/connect";
import type { Messages } from "../call.ts";
import { concat } from "../protocol/bytes.ts";
import { failureOf, type Idle, mapMessages, settlesWithin, withFirst, writeMessages } from "../protocol/messages.ts";
import { appendMetadata } from "../protocol/metadata.ts";
import type { Route } from "../route/route.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import { createFraming, HEARTBEAT, headerOf, type StreamType } from "./framing.ts";
import { readHttpBody } from "./http-body.ts";
import { type Answer, chooseAnswer, formatJson, shownPart } from "./rest-answer.ts";
import { formatStatus, type RestErrorOptions } from "./rest-error.ts";

export interface StreamReply {
  /** Response metadata. */
  readonly header: Headers;
  readonly messages: Messages;
}

export interface StreamContext {
  readonly route: Route;
  readonly codecs: MethodCodecs;
  readonly options: ClientOptions;
  readonly errors: RestErrorOptions;
}

/**
 * HEAD of a stream: the header that GET would have, as far as it is known without a call that may never end. The type of
 * a download is the backend's to tell.
 *
 * @throws ConnectError, shown as 406.
 */
export function respondHead(request: Request, route: Route): Response {
  const answer = chooseAnswer(request.headers.get("accept"), route);
  return new Response(null, answer === "http-body" ? {} : { headers: headerOf(answer) });
}

/** @throws ConnectError the stream's failure, when it fails before its first message: HTTP can still tell it. */
export async function respondStream(reply: StreamReply, answer: Answer, context: StreamContext): Promise<Response> {
  return answer === "http-body" ? respondHttpBody(reply, context) : respondJson(reply, answer as StreamType, context);
}

async function respondJson(reply: StreamReply, type: StreamType, context: StreamContext): Promise<Response> {
  const { route, codecs, options, errors } = context;
  const shown = mapMessages(reply.messages, (wire) => formatJson(wire, route, codecs));
  const framing = createFraming(type, options.framing);
  const idle = type === "text/event-stream" ? idleOf(options) : undefined;
  const messages = await awaitFirst({ header: reply.header, messages: shown }, idle);
  const body = writeMessages(messages, {
    ...(idle && { idle }),
    batch: framing.batch,
    end({ error }) {
      const last = framing.end(error && formatStatus(error, errors));
      if (last === undefined) throw error;
      return last;
    },
  });
  const headers = new Headers(reply.header);
  for (const [name, value] of Object.entries(headerOf(type))) headers.set(name, value);
  return new Response(body, { headers });
}

/** The first message tells the content type; a failure after it can only break the transfer. */
async function respondHttpBody(reply: StreamReply, { route }: StreamContext): Promise<Response> {
  let contentType = "application/octet-stream";
  let isFirst = true;
  const data = mapMessages(reply.messages, (wire) => {
    const body = readHttpBody(shownPart(wire, route));
    if (isFirst) contentType = body.contentType;
    isFirst = false;
    return body.data;
  });
  const messages = await awaitFirst({ header: reply.header, messages: data });
  const body = writeMessages(messages, {
    batch: concat,
    end({ error }) {
      if (error) throw error;
      return undefined;
    },
  });
  const headers = new Headers(reply.header);
  headers.set("content-type", contentType);
  return new Response(body, { headers });
}

function idleOf({ sseHeartbeatMs }: ClientOptions): Idle | undefined {
  return sseHeartbeatMs === undefined ? undefined : { afterMs: sseHeartbeatMs, bytes: HEARTBEAT };
}

/**
 * Waits for the first message, but no longer than an idle stream may stay silent.
 *
 * @throws ConnectError with what came with it as metadata.
 */
async function awaitFirst({ header, messages }: StreamReply, idle?: Idle): Promise<Messages> {
  const first = messages.next();
  if (idle && !(await settlesWithin(first, idle.afterMs))) return withFirst(first, messages);
  if (await first) return withFirst(first, messages);
  const { error, trailer } = await messages.end;
  if (error) throw failed(error, header, trailer);
  return messages;
}

function failed(error: ConnectError, header: Headers, trailer: Headers): ConnectError {
  appendMetadata(error.metadata, header);
  return failureOf(error, trailer);
}
