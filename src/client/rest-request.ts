/** A REST request as a message: what its body may be, and body, query and path made one. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { EncodeRequest } from "../codec/codec.ts";
import { quote } from "../codec/error.ts";
import { concat, tooLarge } from "../protocol/bytes.ts";
import { ACCEPTED_ENCODINGS, isIdentity, isKnownEncoding } from "../protocol/compression.ts";
import { isJson, isNdjson, isProto, parseMediaType } from "../protocol/media-type.ts";
import { refuse } from "../protocol/status.ts";
import type { Match, Route } from "../route/route.ts";
import type { Message } from "../schema/model.ts";
import { bindRequest } from "./binding.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import { type Form, formOf } from "./form.ts";
import { openForm } from "./form-reader.ts";
import { bodyRecord, httpBodyContent, isHttpBody } from "./http-body.ts";
import { mayHaveBody, readBody } from "./request-body.ts";
import { derivedMaskField, maskRecord, unboundLeaves } from "./update-mask.ts";

export interface RestRequest {
  readonly request: Request;
  readonly match: Match;
  /** Query of the request target, without "?". */
  readonly query: string;
}

/** How the request's body becomes a part of the message, or the messages. */
export type BodyFormat = "none" | "json" | "ndjson" | "proto" | "http-body" | Form;

/** @throws ConnectError, shown as 415, for a type that the route does not take. A type without a body means nothing. */
export function bodyFormat(request: Request, route: Route, forms: boolean): BodyFormat {
  const target = bodyMessage(route);
  const text = request.headers.get("content-type");
  const form = forms && text !== null && mayHaveBody(request) ? formOf(text, route) : undefined;
  if (form) return form;
  if (target !== undefined && isHttpBody(target)) return "http-body";
  if (!mayHaveBody(request)) return "none";
  if (text === null) return "json";
  const type = parseMediaType(text);
  if (type && isJson(type)) return "json";
  const isStream = takesStream(route);
  if (type && isStream && isNdjson(type)) return "ndjson";
  if (type && !isStream && isProto(type) && (target || route.body === undefined)) return "proto";
  const types = isStream ? "application/json or application/x-ndjson" : "application/json";
  throw refuse(415, Code.InvalidArgument, `content type ${quote(text)} is not supported; send ${types}`);
}

export function takesStream({ method }: Route): boolean {
  return method.kind === "client-stream" || method.kind === "bidi";
}

function bodyMessage({ body, method }: Route): Message | undefined {
  return body === "*" ? method.input : body?.repeated ? undefined : body?.message;
}

/**
 * @throws ConnectError, shown as 415 or 413, for a coding that is unknown and a length that is over the limit. The
 *   limit of a stream is that of its messages.
 */
export function checkHead(request: Request, route: Route, maxBytes: number): void {
  const encoding = request.headers.get("content-encoding");
  if (!isKnownEncoding(encoding)) {
    const message = `content encoding ${quote(encoding ?? "")} is not supported; send ${ACCEPTED_ENCODINGS}`;
    throw refuse(415, Code.InvalidArgument, message, { "accept-encoding": ACCEPTED_ENCODINGS });
  }
  const length = request.headers.get("content-length");
  if (takesStream(route) || length === null || !isIdentity(encoding)) return;
  if (Number(length) > maxBytes) throw contentTooLarge(tooLarge(maxBytes));
}

/** Over the limit is 413 to REST callers, whatever other protocols make of the code. */
export function contentTooLarge(error: ConnectError): ConnectError {
  return refuse(413, Code.ResourceExhausted, error.rawMessage);
}

/** The one message of a request. */
export async function readMessage(
  rest: RestRequest,
  format: BodyFormat,
  codecs: MethodCodecs,
  options: ClientOptions,
): Promise<Uint8Array> {
  const { request, match, query } = rest;
  const { route } = match;
  const bound = bindRequest(match, query, options);
  const bytes = format === "none" ? undefined : await readRestBody(request, options);
  if (route.body === undefined && bytes && bytes.length > 0) throw noBodyHere();
  const mask = options.updateMask ? derivedMaskField(route) : undefined;
  const derive = mask !== undefined && !bound.fields.has(mask);
  const leaves = new Set<string>();
  const content = bodyContent(format, bytes, rest, codecs, options, derive ? leaves : undefined);
  const encoded = codecs.input.encodeRequest({
    ...(route.body !== undefined && { body: route.body }),
    ...content,
    bound,
    mask: derive && content.json !== undefined,
  });
  if (!derive) return encoded.wire;
  const paths = encoded.mask ?? unboundLeaves(leaves, route, bound);
  return paths.length > 0 ? concat([encoded.wire, maskRecord(mask, paths)]) : encoded.wire;
}

export function noBodyHere(): ConnectError {
  return new ConnectError("this route takes no body", Code.InvalidArgument);
}

async function readRestBody(
  request: Request,
  { readMaxBytes, maxCompressionRatio }: ClientOptions,
): Promise<Uint8Array> {
  try {
    return await readBody(request, readMaxBytes, maxCompressionRatio);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) throw contentTooLarge(error);
    throw error;
  }
}

function bodyContent(
  format: BodyFormat,
  bytes: Uint8Array | undefined,
  { request, match }: RestRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
  leaves: Set<string> | undefined,
): Pick<EncodeRequest, "json" | "bodyWire"> {
  const { body } = match.route;
  if (!bytes || body === undefined) return {};
  if (typeof format === "object") {
    const form = openForm(format, codecs, options, leaves && { leaves });
    form.push(bytes);
    const bodyWire = form.end();
    return bodyWire ? { bodyWire } : {};
  }
  if (format === "json") return bytes.length > 0 ? { json: bytes } : {};
  const content = format === "proto" ? bytes : httpBodyContent(request.headers.get("content-type"), bytes);
  return { bodyWire: body === "*" ? content : bodyRecord(body, content) };
}
