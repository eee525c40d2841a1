/** Why nobody answers at an address, in words for people. */

/** What kind of obstacle it is, for those who look further. */
export type Obstacle =
  | "dns"
  | "refused"
  | "route"
  | "timeout"
  | "closed"
  | "tls"
  | "certificate"
  | "no-h2"
  | "no-http1";

/** No connection that could carry a call. The message says why and names no address: callers may read it. */
export class Unreachable extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle, message: string, cause?: unknown) {
    super(message, { cause });
    this.obstacle = obstacle;
  }
}

const BY_CODE: ReadonlyMap<string, readonly [Obstacle, string]> = new Map([
  ["ECONNREFUSED", ["refused", "nobody listens there (connection refused)"]],
  ["ENOTFOUND", ["dns", "its host name has no address (DNS)"]],
  ["EAI_AGAIN", ["dns", "its host name cannot be looked up now (DNS)"]],
  ["EHOSTUNREACH", ["route", "there is no route to it"]],
  ["ENETUNREACH", ["route", "there is no route to it"]],
  ["ETIMEDOUT", ["timeout", "it does not answer in time"]],
  ["ECONNRESET", ["closed", "it closes the connection"]],
  ["EPIPE", ["closed", "it closes the connection"]],
  ["CERT_HAS_EXPIRED", ["certificate", "its certificate has expired"]],
  ["CERT_NOT_YET_VALID", ["certificate", "its certificate is not valid yet"]],
  ["ERR_TLS_CERT_ALTNAME_INVALID", ["certificate", "its certificate is for another host name"]],
]);

/** Of OpenSSL, as are the next: the peer has no protocol that was asked for. */
const NO_PROTOCOL = /no.application.protocol/i;

/** Plain text taken for a record of TLS. Some errors have such words as their code, some in the message. */
const PLAIN_TEXT = /wrong.version.number|packet.length.too.long/i;

/** A chain that ends in nobody we know. */
const UNKNOWN_ISSUER = /SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY/;

/** What connecting or a handshake failed with: errors of net, tls, http and http2. */
export function explainFailure(error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = BY_CODE.get(code);
  if (known) return new Unreachable(...known, error);
  if (UNKNOWN_ISSUER.test(code)) {
    return new Unreachable("certificate", `its certificate is of an issuer that is not trusted here (${code})`, error);
  }
  const words = `${code} ${error}`;
  if (NO_PROTOCOL.test(words)) return new Unreachable("no-h2", "its TLS does not offer the protocol (ALPN)", error);
  if (PLAIN_TEXT.test(words)) {
    return new Unreachable("tls", "it speaks no TLS: is it http:// instead of https://?", error);
  }
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return new Unreachable("tls", `the TLS handshake fails (${code})`, error);
  if (code.startsWith("ERR_HTTP2_")) return new Unreachable("no-h2", "it does not speak HTTP/2", error);
  if (code.startsWith("HPE_")) return new Unreachable("no-http1", "it does not speak HTTP/1.1", error);
  return new Unreachable("closed", `the connection fails (${code || "no reason given"})`, error);
}
