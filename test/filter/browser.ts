/** What a browser does with a request of a script to another origin: the CORS protocol of the Fetch standard. */
import type { FetchFn } from "../../src/call.ts";

export interface Page {
  readonly origin: string;
  /** The credentials mode of its requests is "include". Default false. */
  readonly credentials?: boolean;
}

export interface Browser {
  /** Rejects with a TypeError, as scripts see it, when the server does not let the page. */
  readonly fetch: typeof fetch;
  /** Methods of the requests that reached the server. */
  readonly sent: readonly string[];
}

export function createBrowser(page: Page, server: FetchFn): Browser {
  const credentials = page.credentials ?? false;
  const sent: string[] = [];

  async function send(request: Request): Promise<Response> {
    request.headers.set("origin", page.origin);
    sent.push(request.method);
    const response = await server(request);
    if (!passesCorsCheck(response, page.origin, credentials)) throw new TypeError("CORS check");
    return response;
  }

  /** Fetch, "CORS-preflight fetch". */
  async function preflight(request: Request, unsafe: readonly string[]): Promise<void> {
    const headers = new Headers({ accept: "*/*", "access-control-request-method": request.method });
    if (unsafe.length > 0) headers.set("access-control-request-headers", unsafe.join(","));
    const response = await send(new Request(request.url, { method: "OPTIONS", headers }));
    if (!response.ok) throw new TypeError("preflight: status");
    const methods = listOf(response, "access-control-allow-methods");
    const anyMethod = methods.includes("*") && !credentials;
    if (!isSafeMethod(request.method) && !methods.includes(request.method) && !anyMethod) {
      throw new TypeError("preflight: method");
    }
    const names = listOf(response, "access-control-allow-headers").map((name) => name.toLowerCase());
    const anyName = names.includes("*") && !credentials;
    for (const name of unsafe) {
      if (names.includes(name) || (anyName && name !== "authorization")) continue;
      throw new TypeError(`preflight: header ${name}`);
    }
  }

  return {
    sent,
    async fetch(input, init) {
      const request = new Request(input, init);
      const unsafe = [...request.headers].filter(([name, value]) => !isSafeHeader(name, value)).map(([name]) => name);
      if (!isSafeMethod(request.method) || unsafe.length > 0) await preflight(request, unsafe);
      return filterResponse(await send(request), credentials);
    },
  };
}

/** Fetch, "CORS check". */
function passesCorsCheck(response: Response, origin: string, credentials: boolean): boolean {
  const allowed = response.headers.get("access-control-allow-origin");
  if (!credentials && allowed === "*") return true;
  if (allowed !== origin) return false;
  return !credentials || response.headers.get("access-control-allow-credentials") === "true";
}

function isSafeMethod(method: string): boolean {
  return ["GET", "HEAD", "POST"].includes(method);
}

/** Fetch, "CORS-safelisted request-header"; values of the length and with the bytes that the tests use. */
function isSafeHeader(name: string, value: string): boolean {
  if (["accept", "accept-language", "content-language"].includes(name)) return true;
  const simple = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
  return name === "content-type" && simple.includes(value.split(";")[0] ?? "");
}

const SAFE_RESPONSE_HEADERS = [
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma",
];

/** Fetch, "CORS filtered response". */
function filterResponse(response: Response, credentials: boolean): Response {
  const exposed = listOf(response, "access-control-expose-headers").map((name) => name.toLowerCase());
  const all = exposed.includes("*") && !credentials;
  const seen = [...response.headers].filter(
    ([name]) => all || exposed.includes(name) || SAFE_RESPONSE_HEADERS.includes(name),
  );
  return new Response(response.body, { status: response.status, headers: seen });
}

function listOf(response: Response, name: string): string[] {
  return (response.headers.get(name) ?? "").split(",").map((one) => one.trim());
}
