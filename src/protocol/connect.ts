/** The Connect protocol's formats: version, content types, error JSON. https://connectrpc.com/docs/protocol */
import { Code, ConnectError } from "@connectrpc/connect";
import { parseBase64, unpaddedBase64 } from "./base64.ts";
import { codeName, codeOfStatus, parseCodeName } from "./status.ts";

export const CONNECT_VERSION = "1";

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
  const details = wireDetails(error).map(({ type, value }) => ({ type, value: unpaddedBase64(value) }));
  return JSON.stringify({
    code: codeName(error.code),
    ...(error.rawMessage && { message: error.rawMessage }),
    ...(details.length > 0 && { details }),
  });
}

/**
 * The error that a unary response holds.
 *
 * @param text the body when its type is `application/json`, else undefined.
 * @param status decides the code where the body has none that is valid.
 */
export function parseError(text: string | undefined, status: number, metadata: Headers): ConnectError {
  const json = text === undefined ? undefined : parseObject(text);
  const code = parseCodeName(json?.code) ?? codeOfStatus(status);
  const message = typeof json?.message === "string" ? json.message : "";
  const error = new ConnectError(json ? message : `the backend answered with HTTP ${status}`, code, metadata);
  const details = json?.details;
  if (Array.isArray(details)) error.details = details.flatMap(parseDetail);
  return error;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  } catch {
    // Not JSON: the status tells what there is to tell.
  }
  return undefined;
}

/** A detail that cannot be read is left out; the error it came with counts. */
function parseDetail(detail: unknown): WireDetail[] {
  if (typeof detail !== "object" || detail === null || !("type" in detail) || !("value" in detail)) return [];
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
