/** REST: routes of google.api.http, JSON or binary bodies, answers by Accept. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Body, Reply } from "../call.ts";
import type { EncodeRequest } from "../codec/codec.ts";
import { quote } from "../codec/error.ts";
import { tooLarge } from "../protocol/bytes.ts";
import { ACCEPTED_ENCODINGS, isIdentity, isKnownEncoding } from "../protocol/compression.ts";
import { isJson, isProto, negotiate, parseMediaType } from "../protocol/media-type.ts";
import { putTrailer, requestMetadata } from "../protocol/metadata.ts";
import { refuse } from "../protocol/status.ts";
import type { Match, Route } from "../route/route.ts";
import type { Field, Message } from "../schema/model.ts";
import { bindRequest } from "./binding.ts";
import type { ClientOptions, Exchange, MethodCodecs, Opened } from "./exchange.ts";
import { bodyRecord, httpBodyContent, isHttpBody, readHttpBody, takeField } from "./http-body.ts";
import { mayHaveBody, readBody } from "./request-body.ts";
import { PROBLEM } from "./rest-error.ts";
import { derivedMaskField, maskRecord } from "./update-mask.ts";

export interface RestRequest {
  readonly request: Request;
  readonly match: Match;
  /** Query of the request target, without "?". */
  readonly query: string;
}

/** How the request's body becomes part of the message. */
type BodyFormat = "none" | "json" | "proto" | "http-body";

type AnswerFormat = "json" | "proto" | "http-body";

const ANSWER_TYPES = ["application/json", "application/proto", "application/x-protobuf"] as const;

export function createRestExchange(
  { request, match, query }: RestRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
): Exchange {
  const { route } = match;
  let contentType = "application/json";
  let answer: AnswerFormat = "json";

  function open(): Opened {
    if (route.method.kind !== "unary") throw new ConnectError("streaming calls are not served", Code.Unimplemented);
    const format = bodyFormat(request, route);
    checkHead(request, options.readMaxBytes);
    ({ contentType, answer } = chooseAnswer(request.headers.get("accept"), route));
    const header = requestMetadata(request.headers, options.metadata);
    return { header, body: { kind: "message", read: () => readMessage(format) } satisfies Body };
  }

  async function readMessage(format: BodyFormat): Promise<Uint8Array> {
    const bound = bindRequest(match, query, options);
    const bytes = format === "none" ? undefined : await readRestBody(request, options.readMaxBytes);
    if (route.body === undefined && bytes && bytes.length > 0) {
      throw new ConnectError("this route takes no body", Code.InvalidArgument);
    }
    const content = bodyContent(format, bytes, request, route);
    const mask = options.updateMask ? derivedMaskField(route) : undefined;
    const derive = mask !== undefined && content.json !== undefined && !bound.fields.has(mask);
    const encoded = codecs.input.encodeRequest({
      ...(route.body !== undefined && { body: route.body }),
      ...content,
      bound,
      mask: derive,
    });
    if (!derive || !encoded.mask?.length) return encoded.wire;
    return join(encoded.wire, maskRecord(mask, encoded.mask));
  }

  async function respond(reply: Reply): Promise<Response> {
    if (reply.body.kind !== "message") throw new ConnectError("unary call answered by a stream", Code.Internal);
    const wire = await reply.body.read();
    const headers = new Headers(reply.header);
    if (reply.trailer) putTrailer(headers, reply.trailer);
    const body = format(wire);
    headers.set("content-type", contentType);
    return new Response(body as Uint8Array<ArrayBuffer>, { headers });
  }

  function format(wire: Uint8Array): Uint8Array {
    const { responseBody } = route;
    if (answer === "http-body") {
      const content = readHttpBody(responseBody ? takeField(wire, responseBody) : wire);
      contentType = content.contentType;
      return content.data;
    }
    if (answer === "proto") return responseBody ? takeField(wire, responseBody) : wire;
    return responseBody ? codecs.output.decodeField(wire, responseBody) : codecs.output.decode(wire);
  }

  return { method: route.method, open, respond };
}

/** @throws ConnectError, shown as 415, for a type that the route does not take. A type without a body means nothing. */
function bodyFormat(request: Request, route: Route): BodyFormat {
  const target = bodyMessage(route);
  const httpBody = target !== undefined && isHttpBody(target);
  if (httpBody) return "http-body";
  if (!mayHaveBody(request)) return "none";
  const text = request.headers.get("content-type");
  if (text === null) return "json";
  const type = parseMediaType(text);
  if (type && isJson(type)) return "json";
  if (type && isProto(type) && (target || route.body === undefined)) return "proto";
  throw refuse(415, Code.InvalidArgument, `content type ${quote(text)} is not supported; send application/json`);
}

function bodyMessage({ body, method }: Route): Message | undefined {
  return body === "*" ? method.input : body?.repeated ? undefined : body?.message;
}

/** @throws ConnectError, shown as 415 or 413, for a coding that is unknown and a length that is over the limit. */
function checkHead(request: Request, maxBytes: number): void {
  const encoding = request.headers.get("content-encoding");
  if (!isKnownEncoding(encoding)) {
    const message = `content encoding ${quote(encoding ?? "")} is not supported; send ${ACCEPTED_ENCODINGS}`;
    throw refuse(415, Code.InvalidArgument, message, { "accept-encoding": ACCEPTED_ENCODINGS });
  }
  const length = request.headers.get("content-length");
  if (length !== null && isIdentity(encoding) && Number(length) > maxBytes) throw contentTooLarge(maxBytes);
}

async function readRestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readBody(request, maxBytes);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) throw contentTooLarge(maxBytes);
    throw error;
  }
}

function contentTooLarge(maxBytes: number): ConnectError {
  return refuse(413, Code.ResourceExhausted, tooLarge(maxBytes).rawMessage);
}

function bodyContent(
  format: BodyFormat,
  bytes: Uint8Array | undefined,
  request: Request,
  { body }: Route,
): Pick<EncodeRequest, "json" | "bodyWire"> {
  if (!bytes || body === undefined) return {};
  if (format === "json") return bytes.length > 0 ? { json: bytes } : {};
  const content = format === "proto" ? bytes : httpBodyContent(request.headers.get("content-type"), bytes);
  return { bodyWire: body === "*" ? content : bodyRecord(body, content) };
}

/** @throws ConnectError, shown as 406, when nothing that the route can answer is acceptable. */
function chooseAnswer(accept: string | null, route: Route): { contentType: string; answer: AnswerFormat } {
  const target: Message | undefined = route.responseBody ? singularMessage(route.responseBody) : route.method.output;
  if (target && isHttpBody(target)) return { contentType: "application/octet-stream", answer: "http-body" };
  const offers = target ? ANSWER_TYPES : ANSWER_TYPES.slice(0, 1);
  // Who asks for problem details alone takes JSON otherwise.
  const contentType = negotiate(accept, offers) ?? (negotiate(accept, [PROBLEM]) && offers[0]);
  if (contentType === undefined) {
    const message = `nothing that ${quote(accept ?? "")} accepts can be had here; ask for ${offers.join(", ")}`;
    throw refuse(406, Code.InvalidArgument, message);
  }
  return { contentType, answer: contentType === "application/json" ? "json" : "proto" };
}

function singularMessage(field: Field): Message | undefined {
  return field.repeated ? undefined : field.message;
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
