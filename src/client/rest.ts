/** REST: routes of google.api.http, JSON or binary bodies, answers by Accept. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Body, Reply } from "../call.ts";
import { putTrailer, requestMetadata } from "../protocol/metadata.ts";
import type { ClientOptions, Exchange, MethodCodecs, Opened } from "./exchange.ts";
import { type Answer, chooseAnswer, formatMessage } from "./rest-answer.ts";
import { respondStream } from "./rest-answer-stream.ts";
import type { RestErrorOptions } from "./rest-error.ts";
import { bodyFormat, checkHead, type RestRequest, readMessage } from "./rest-request.ts";
import { readMessages } from "./rest-request-stream.ts";
import { respondWhole } from "./whole-answer.ts";

export function createRestExchange(
  rest: RestRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
  errors: RestErrorOptions,
): Exchange {
  const { request, match } = rest;
  const { route } = match;
  let answer: Answer | undefined;

  function open(): Opened {
    const format = bodyFormat(request, route, options.forms);
    checkHead(request, route, options.readMaxBytes);
    answer = chooseAnswer(request.headers.get("accept"), route);
    return { header: requestMetadata(request.headers, options.metadata), body: openBody(format) };
  }

  function openBody(format: ReturnType<typeof bodyFormat>): Body {
    const { kind } = route.method;
    if (kind === "unary" || kind === "server-stream") {
      return { kind: "message", read: () => readMessage(rest, format, codecs, options) };
    }
    return { kind: "stream", messages: readMessages(rest, format, codecs, options) };
  }

  async function respond(reply: Reply): Promise<Response> {
    if (!answer || reply.body.kind === "raw") throw new ConnectError("a reply that nobody can show", Code.Internal);
    if (reply.body.kind === "stream") {
      return respondStream({ header: reply.header, messages: reply.body.messages }, answer, {
        route,
        codecs,
        options,
        errors,
      });
    }
    const { bytes, contentType } = formatMessage(await reply.body.read(), answer, route, codecs);
    const headers = new Headers(reply.header);
    if (reply.trailer) putTrailer(headers, reply.trailer);
    headers.set("content-type", contentType);
    // What the backend made of an HttpBody, it may have compressed already.
    const minBytes = answer === "http-body" ? undefined : options.compressMinBytes;
    return respondWhole(bytes, headers, { request, minBytes });
  }

  return { method: route.method, open, respond };
}
