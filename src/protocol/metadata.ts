/**
 * Which header fields cross the gateway (DESIGN §4). The only file that iterates headers: it costs more than the codec,
 * so it is done once for each direction.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { isBase64 } from "./base64.ts";
import { refuse } from "./status.ts";

export interface MetadataRules {
  /** When given, only these names pass (lower case). Default: all that are not dropped. */
  readonly allow: ReadonlySet<string> | undefined;
  /** These names never pass (lower case). Default none. */
  readonly deny: ReadonlySet<string>;
  /** Request fields with this prefix (lower case) pass without it, allowed or not; what is never passed stays so. Default none. */
  readonly prefix: string | undefined;
  /** Name of the field that holds the caller's address; it is appended to x-forwarded-for. Default none. */
  readonly clientIpHeader: string | undefined;
  /** Bytes of all names and values of a request, those included that do not pass. */
  readonly maxBytes: number;
}

/** Fields of one exchange, not of the call: hop-by-hop (RFC 9110 §7.6.1), negotiation, and what is made anew. */
const NEVER: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-grpc-web",
  "x-server-timeout",
]);

/** Families that belong to HTTP framing, the RPC protocols, the platform, or that backends trust. */
const FAMILY = /^(?:content-|grpc-|connect-|sec-websocket-|cf-|x-forwarded-|x-gateway-)/;

const REQUEST_EXCEPTIONS: ReadonlySet<string> = new Set(["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"]);
const RESPONSE_EXCEPTIONS: ReadonlySet<string> = new Set(["content-disposition", "content-language"]);

/** Connect protocol, ASCII-Value. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Request metadata for the backend.
 *
 * @throws ConnectError invalid_argument naming a `-bin` field that is not base64; resource_exhausted, shown as 431, over
 *   the limit.
 */
export function requestMetadata(from: Headers, rules: MetadataRules): Headers {
  const passed = new Headers();
  const hops = connectionNames(from);
  let bytes = 0;
  for (const [name, value] of from) {
    bytes += name.length + value.length;
    if (bytes > rules.maxBytes) throw headerTooLarge(rules.maxBytes);
    const target = requestName(name, rules);
    if (target === undefined || (hops && name in hops) || !PRINTABLE.test(value)) continue;
    if (target.endsWith("-bin")) checkBinary(target, value);
    passed.append(target, value);
  }
  appendClientAddress(passed, from, rules);
  return passed;
}

/** RFC 6585 §5. */
function headerTooLarge(maxBytes: number): ConnectError {
  return refuse(431, Code.ResourceExhausted, `the header is larger than the limit of ${maxBytes} bytes`);
}

function requestName(name: string, rules: MetadataRules): string | undefined {
  const { prefix = "", allow, deny } = rules;
  const prefixed = prefix !== "" && name.startsWith(prefix) && name.length > prefix.length;
  const target = prefixed ? name.slice(prefix.length) : name;
  if (NEVER.has(target) || deny.has(name) || deny.has(target)) return undefined;
  if (FAMILY.test(target) && !REQUEST_EXCEPTIONS.has(target)) return undefined;
  return prefixed || !allow || allow.has(name) ? target : undefined;
}

function appendClientAddress(passed: Headers, from: Headers, rules: MetadataRules): void {
  const address = rules.clientIpHeader && from.get(rules.clientIpHeader);
  if (!address || !PRINTABLE.test(address)) return;
  passed.append("x-forwarded-for", address);
}

/** Response metadata for the caller. */
export function responseMetadata(from: Headers): Headers {
  const passed = new Headers();
  const hops = connectionNames(from);
  for (const [name, value] of from) {
    if ((hops && name in hops) || !PRINTABLE.test(value)) continue;
    // One that becomes a trailer is a field of that name there: `trailer-grpc-status` would be a second status.
    if (passesBack(name.startsWith(TRAILER_PREFIX) ? name.slice(TRAILER_PREFIX.length) : name)) {
      passed.append(name, value);
    }
  }
  return passed;
}

/** workerd's Headers take a field without a name. */
function passesBack(name: string): boolean {
  return name !== "" && !NEVER.has(name) && (!FAMILY.test(name) || RESPONSE_EXCEPTIONS.has(name));
}

/** Connect carries trailing metadata of a unary call in header fields with this prefix. */
const TRAILER_PREFIX = "trailer-";

/** Takes the `trailer-` fields out of a header, without their prefix. Undefined when there are none. */
export function takeTrailer(header: Headers): Headers | undefined {
  const names = [...header.keys()].filter((name) => name.startsWith(TRAILER_PREFIX) && name !== TRAILER_PREFIX);
  if (names.length === 0) return undefined;
  const trailer = new Headers();
  for (const name of names) {
    trailer.append(name.slice(TRAILER_PREFIX.length), header.get(name) ?? "");
    header.delete(name);
  }
  return trailer;
}

/** Writes trailing metadata into a header, each name with its prefix. */
export function putTrailer(header: Headers, trailer: Headers): void {
  for (const [name, value] of trailer) header.append(TRAILER_PREFIX + name, value);
}

/** Appends every field of `from` to `to`, repeated fields included. */
export function appendMetadata(to: Headers, from: Headers): void {
  for (const [name, value] of from) to.append(name, value);
}

/** Names that Connection lists are hop-by-hop too. */
function connectionNames(header: Headers): Readonly<Record<string, true>> | undefined {
  const connection = header.get("connection");
  if (!connection) return undefined;
  // No Set: in V8 names that are numbers can be chosen to collide there.
  const names: Record<string, true> = Object.create(null);
  for (const name of connection.split(",")) names[name.trim().toLowerCase()] = true;
  return names;
}

/** gRPC over HTTP/2, Custom-Metadata: base64, padded or not, values may be joined by commas. */
function checkBinary(name: string, value: string): void {
  if (value.split(",").every((one) => isBase64(one.trim()))) return;
  throw new ConnectError(`header ${name}: not base64`, Code.InvalidArgument);
}

/** Values by name, as Connect's end of a stream writes them. Undefined when there are none. */
export function metadataLists(from: Headers): Record<string, string[]> | undefined {
  const lists: Record<string, string[]> = Object.create(null);
  let isEmpty = true;
  for (const [name, value] of from) {
    lists[name] = [...(lists[name] ?? []), value];
    isEmpty = false;
  }
  return isEmpty ? undefined : lists;
}

/** Lines of HTTP/1, as gRPC-Web's trailers are written. No space: Cloudflare's edge would keep it when it makes gRPC of them. */
export function metadataLines(from: Headers): string {
  let lines = "";
  for (const [name, value] of from) lines += `${name}:${value}\r\n`;
  return lines;
}
