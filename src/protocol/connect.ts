/** The Connect protocol's formats: version, content types, error JSON. https://connectrpc.com/docs/protocol */
import { Code, ConnectError } from "@connectrpc/connect";
import type { End } from "../call.ts";
import { parseBase64, unpaddedBase64 } from "./base64.ts";
import { metadataLists, responseMetadata } from "./metadata.ts";
import { codeName, codeOfStatus, parseCodeName } from "./status.ts";

export const CONNECT_VERSION = "1";
/** Header field of a request that holds it. */
export const VERSION_FIELD = "connect-protocol-version";

/** An error detail as Connect carries it: the full name of its type, and its bytes. */
export interface WireDetail {
  readonly type: string;
  readonly value: Uint8Array<ArrayBuffer>;
}

/** Details that came over the wire or that we made; details with a message object never occur here. */
export function wireDetails(error: ConnectError): readonly WireDetail[] {
  return error.details.filter((detail) => "type" in detail) as readonly WireDetail[];
}

/** The body of a unary error response: JSON, whatever the codec of the call. */
export function formatError(error: ConnectError): string {
  return JSON.stringify(errorJson(error));
}

function errorJson(error: ConnectError): object {
  const details = wireDetails(error).map(({ type, value }) => ({ type, value: unpaddedBase64(value) }));
  return {
    code: codeName(error.code),
    ...(error.rawMessage && { message: error.rawMessage }),
    ...(details.length > 0 && { details }),
  };
}

/**
 * The error that a unary response holds.
 *
 * @param text the body when its type is `application/json`, else undefined.
 * @param status decides the code where the body has none that is valid.
 */
export function parseError(text: string | undefined, status: number, metadata: Headers): ConnectError {
  const json = text === undefined ? undefined : parseObject(text);
  if (json) return errorOf(json, codeOfStatus(status), metadata);
  return new ConnectError(`the backend answered with HTTP ${status}`, codeOfStatus(status), metadata);
}

/** @param fallback the code where there is none that is valid. */
function errorOf(json: JsonObject, fallback: Code, metadata: Headers): ConnectError {
  const message = typeof json.message === "string" ? json.message : "";
  const error = new ConnectError(message, parseCodeName(json.code) ?? fallback, metadata);
  if (Array.isArray(json.details)) error.details = json.details.flatMap(parseDetail);
  return error;
}

type JsonObject = Readonly<Record<string, unknown>>;

function parseObject(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Flag of the envelope that ends a stream: `{"error": …, "metadata": …}` in JSON, whatever the codec. */
export const END_STREAM = 0x02;

/** The data of the envelope that ends a stream. */
export function formatEndStream({ error, trailer }: End): Uint8Array {
  const metadata = metadataLists(trailer);
  return new TextEncoder().encode(
    JSON.stringify({ ...(error && { error: errorJson(error) }), ...(metadata && { metadata }) }),
  );
}

/** @throws ConnectError internal for what is no end of a stream. */
export function parseEndStream(data: Uint8Array): End {
  const json = parseObject(new TextDecoder().decode(data));
  if (!json) throw new ConnectError("the end of the stream is not JSON", Code.Internal);
  const trailer = parseMetadataLists(json.metadata);
  if (json.error === undefined || json.error === null) return { trailer };
  // A stream has no HTTP status of its own to tell the code.
  return { error: errorOf(isObject(json.error) ? json.error : {}, Code.Unknown, new Headers()), trailer };
}

/** What cannot be a header field is left out. */
function parseMetadataLists(lists: unknown): Headers {
  const metadata = new Headers();
  if (!isObject(lists)) return metadata;
  for (const [name, values] of Object.entries(lists)) {
    for (const value of Array.isArray(values) ? values : []) {
      try {
        metadata.append(name, String(value));
      } catch {}
    }
  }
  return responseMetadata(metadata);
}

/** A detail that cannot be read is left out; the error it came with counts. */
function parseDetail(detail: unknown): WireDetail[] {
  if (!isObject(detail)) return [];
  const { type, value } = detail;
  if (typeof type !== "string" || typeof value !== "string") return [];
  const bytes = parseBase64(value);
  // Some write the type as in an Any, as a URL that ends in the name.
  return bytes ? [{ type: type.slice(type.lastIndexOf("/") + 1), value: bytes }] : [];
}

/** @throws ConnectError invalid_argument when the version is given and not ours. */
export function checkVersion(version: string | null, expected: string, where: string): void {
  if (version !== null && version !== expected) {
    throw new ConnectError(`${where} must be "${expected}"`, Code.InvalidArgument);
  }
}

/** @throws ConnectError invalid_argument */
export function checkVersionField(header: Headers): void {
  checkVersion(header.get(VERSION_FIELD), CONNECT_VERSION, VERSION_FIELD);
}
