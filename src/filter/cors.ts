/** CORS (Fetch, "CORS protocol"): lets scripts of chosen origins call, and read every answer, errors included. */
import type { HttpFilter } from "../call.ts";
import { compileOrigins } from "../protocol/origin.ts";

export interface CorsOptions {
  /**
   * Who may call: `https://app.example`; `https://*.app.example` for every name below it; `http://localhost:*` for any
   * port; `*` for everybody, which cannot go with credentials.
   */
  readonly allowOrigins: readonly string[];
  /** Scripts may send cookies and read the answer. Default false. */
  readonly allowCredentials?: boolean;
  /**
   * Request headers that scripts may send beside those that are always allowed (`ALWAYS_ALLOWED`). `*` allows all; not
   * with credentials. Default none.
   */
  readonly allowHeaders?: readonly string[];
  /**
   * Response headers that scripts may read beside those that are always exposed (`ALWAYS_EXPOSED`): response metadata,
   * and trailing metadata of unary Connect and REST calls as `trailer-` + name. `*` exposes all; not with credentials.
   * Default none.
   */
  readonly exposeHeaders?: readonly string[];
  /** How long browsers may keep the answer to a preflight, in seconds; they have limits of their own. 0: not at all. Default 7200. */
  readonly maxAgeS?: number;
}

/** What callers of the gateway send by themselves. */
export const ALWAYS_ALLOWED: readonly string[] = [
  // Any body; Accept needs permission when its value is unusual.
  "accept",
  "content-type",
  "content-encoding",
  "authorization",
  // Connect
  "connect-protocol-version",
  "connect-timeout-ms",
  "connect-content-encoding",
  "connect-accept-encoding",
  // gRPC-Web
  "grpc-timeout",
  "grpc-encoding",
  "grpc-accept-encoding",
  "x-grpc-web",
  "x-user-agent",
  // REST
  "x-server-timeout",
  "if-match",
  "if-none-match",
  "idempotency-key",
  "last-event-id",
  // Tracing
  "x-request-id",
  "traceparent",
  "tracestate",
];

/** What callers of the gateway need to understand an answer, beside what Fetch lets every script read. */
export const ALWAYS_EXPOSED: readonly string[] = [
  // gRPC-Web
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "grpc-encoding",
  // Connect
  "connect-content-encoding",
  "content-encoding",
  // REST
  "allow",
  "content-disposition",
  "etag",
  "link",
  "location",
  "retry-after",
  "www-authenticate",
  // Tracing
  "x-request-id",
];

/** What a backend or another filter says about CORS does not count here. */
const OURS: readonly string[] = [
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-expose-headers",
  "access-control-max-age",
];

/** The methods of HTTP that a request's path has; `*` among them: any; none for a path that nothing has. */
export type MethodsOf = (request: Request) => readonly string[];

/**
 * The lists are sent as they are, whatever is asked for: the browser compares, and nothing of a request is echoed but
 * an origin that is allowed and, where a route takes any, the method.
 *
 * A preflight is answered here, always with 204: one that grants nothing for an origin or method that is not allowed.
 * For a path that does not exist it grants no method, which lets GET and POST through to an error that the script can read.
 *
 * @param options checked.
 */
export function createCors(options: Required<CorsOptions>, methodsOf: MethodsOf): HttpFilter {
  const { allowOrigins, allowCredentials, maxAgeS } = options;
  const isOpen = allowOrigins.includes("*");
  const allowedOrigin = isOpen ? () => "*" : compileNamed(allowOrigins);
  const allowHeaders = ALWAYS_ALLOWED.concat(options.allowHeaders).join(", ");
  const exposeHeaders = ALWAYS_EXPOSED.concat(options.exposeHeaders).join(", ");

  /**
   * Without Origin too: a cache may give the answer to somebody else, so it must say that it varies, and may not vary
   * when everybody is let in.
   *
   * @returns whether the origin is allowed.
   */
  function grant(headers: Headers, origin: string | null): boolean {
    for (const name of OURS) headers.delete(name);
    if (!isOpen) addVary(headers, "Origin");
    const allowed = allowedOrigin(origin);
    if (allowed === undefined) return false;
    headers.set("access-control-allow-origin", allowed);
    if (allowCredentials) headers.set("access-control-allow-credentials", "true");
    return true;
  }

  function answerPreflight(request: Request, origin: string, httpMethod: string): Response {
    const headers = new Headers();
    if (grant(headers, origin)) {
      const methods = methodsOf(request);
      // To browsers a star means every method only without credentials.
      const isAny = methods.includes("*");
      if (isAny) addVary(headers, "Access-Control-Request-Method");
      if (methods.length > 0) headers.set("access-control-allow-methods", isAny ? httpMethod : methods.join(", "));
      headers.set("access-control-allow-headers", allowHeaders);
      headers.set("access-control-max-age", String(maxAgeS));
    }
    return new Response(null, { status: 204, headers });
  }

  return (next) => async (request) => {
    const origin = request.headers.get("origin");
    const asked = request.method === "OPTIONS" ? request.headers.get("access-control-request-method") : null;
    if (origin !== null && asked !== null) return answerPreflight(request, origin, asked);
    return changeHeaders(await next(request), (headers) => {
      if (grant(headers, origin)) headers.set("access-control-expose-headers", exposeHeaders);
    });
  };
}

/** Each origin is answered with itself. */
function compileNamed(patterns: readonly string[]): (origin: string | null) => string | undefined {
  const isAllowed = compileOrigins(patterns);
  return (origin) => (origin !== null && isAllowed(origin) ? origin : undefined);
}

/** In place, so that a body whose length is known keeps it; the headers of what fetch or a cache gave cannot be changed. */
function changeHeaders(response: Response, change: (headers: Headers) => void): Response {
  try {
    change(response.headers);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    change(copy.headers);
    return copy;
  }
}

/** RFC 9110 §12.5.5: once, and not beside a star. */
function addVary(headers: Headers, name: string): void {
  const named = headers.get("vary")?.toLowerCase().split(",") ?? [];
  if (named.some((one) => ["*", name.toLowerCase()].includes(one.trim()))) return;
  headers.append("vary", name);
}
