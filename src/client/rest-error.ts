/** Errors as REST callers see them: google.rpc.Status in JSON, or problem details (RFC 9457). */
import type { ConnectError } from "@connectrpc/connect";
import { encodeBase64 } from "../codec/base64.ts";
import type { Codec } from "../codec/codec.ts";
import * as WireType from "../codec/wire-type.ts";
import { WireWriter } from "../codec/wire-writer.ts";
import { type WireDetail, wireDetails } from "../protocol/connect.ts";
import { negotiate } from "../protocol/media-type.ts";
import { appendMetadata, responseMetadata } from "../protocol/metadata.ts";
import { codeName, httpOfError } from "../protocol/status.ts";

export interface RestErrorOptions {
  /** Codec of google.protobuf.Any: details are shown by their type. */
  readonly any: Codec;
  /** Codec of google.rpc.RetryInfo. */
  readonly retryInfo: Codec;
  /** WWW-Authenticate of a 401 that has none. */
  readonly challenge: string;
}

/** Of problem details (RFC 9457). */
export const PROBLEM = "application/problem+json";

/** @param accept the request's Accept; it asks for problem details by naming them. */
export function formatRestFailure(error: ConnectError, accept: string | null, options: RestErrorOptions): Response {
  const { status, header } = httpOfError(error);
  const headers = new Headers(header);
  appendMetadata(headers, responseMetadata(error.metadata));
  const details = wireDetails(error);
  const retryAfter = headers.has("retry-after") ? undefined : retryAfterS(details, options.retryInfo);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  if (status === 401 && !headers.has("www-authenticate")) headers.set("www-authenticate", options.challenge);
  const problem = accept?.includes(PROBLEM) && negotiate(accept, [PROBLEM, "application/json"]) === PROBLEM;
  headers.set("content-type", problem ? PROBLEM : "application/json");
  const body = problem ? formatProblem(error, status, options) : formatStatus(error, options);
  return new Response(body, { status, headers });
}

/** google.rpc.Status in JSON. */
export function formatStatus(error: ConnectError, options: Pick<RestErrorOptions, "any">): string {
  const message = error.rawMessage && `,"message":${JSON.stringify(error.rawMessage)}`;
  return `{"code":${error.code}${message}${formatDetails(error, options)}}`;
}

/** RFC 9457 §3: no `type` of our own, so its title is the status's meaning; code and details are extension members. */
function formatProblem(error: ConnectError, status: number, options: RestErrorOptions): string {
  const detail = error.rawMessage && `,"detail":${JSON.stringify(error.rawMessage)}`;
  const title = codeName(error.code).replaceAll("_", " ");
  return `{"title":"${title}","status":${status}${detail},"code":${error.code}${formatDetails(error, options)}}`;
}

function formatDetails(error: ConnectError, { any }: Pick<RestErrorOptions, "any">): string {
  const details = wireDetails(error).map((detail) => formatDetail(detail, any));
  return details.length > 0 ? `,"details":[${details.join(",")}]` : "";
}

/** A type that nobody knows, or bytes that are not of it, are shown as base64: a detail must not hide its error. */
function formatDetail({ type, value }: WireDetail, any: Codec): string {
  const typeUrl = `type.googleapis.com/${type}`;
  const wire = new WireWriter();
  wire.tag(1, WireType.LEN);
  wire.string(typeUrl);
  wire.tag(2, WireType.LEN);
  wire.bytes(value);
  try {
    return new TextDecoder().decode(any.decode(wire.finish()));
  } catch {
    return JSON.stringify({ "@type": typeUrl, value: encodeBase64(value) });
  }
}

/** Seconds of google.rpc.RetryInfo, rounded up. Undefined without one, or with one that cannot be read. */
function retryAfterS(details: readonly WireDetail[], retryInfo: Codec): number | undefined {
  const detail = details.find(({ type }) => type === "google.rpc.RetryInfo");
  if (!detail) return undefined;
  try {
    const [retryDelay] = retryInfo.message.fields;
    if (!retryDelay) return undefined;
    // A Duration in JSON, "1.500s"; null when it is unset.
    const duration: unknown = JSON.parse(new TextDecoder().decode(retryInfo.decodeField(detail.value, retryDelay)));
    const seconds = Number.parseFloat(String(duration));
    return seconds >= 0 ? Math.ceil(seconds) : undefined;
  } catch {
    return undefined;
  }
}
