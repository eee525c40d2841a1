/** Origins of web pages (Fetch, "Origin header"), and the patterns that say which of them are let in. */

interface OriginParts {
  readonly scheme: string;
  readonly host: string;
  /** ":8080"; "" for the scheme's own. */
  readonly port: string;
}

interface Pattern extends OriginParts {
  /** `*.` before the host: any name below it. */
  readonly below: boolean;
  /** `:*` behind it. */
  readonly anyPort: boolean;
}

const SCHEME = "(?<scheme>[a-z][a-z0-9+.-]*)";
const HOST = String.raw`(?<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)`;
const ORIGIN = new RegExp(`^${SCHEME}://${HOST}(?<port>:[0-9]{1,5})?$`);
const PATTERN = new RegExp(String.raw`^${SCHEME}://(?<below>\*\.)?${HOST}(?<port>:[0-9]{1,5}|:\*)?$`);

/**
 * Patterns are whole origins, compared as they are written, but for two stars:
 *
 * - `https://*.example.com` is every name below example.com, however deep, and not example.com itself;
 * - `http://localhost:*` is any port, the scheme's own included.
 *
 * `*` alone is every origin, `null` among them.
 *
 * @param patterns those that `describeBadPattern` has nothing to say of.
 * @returns whether an Origin header is one of them: in time linear in the length of the header.
 */
export function compileOrigins(patterns: readonly string[]): (origin: string) => boolean {
  if (patterns.includes("*")) return () => true;
  const whole = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const starred = patterns.filter((pattern) => pattern.includes("*")).flatMap((pattern) => parsePattern(pattern) ?? []);
  return (origin) => {
    if (whole.has(origin)) return true;
    if (starred.length === 0) return false;
    const parts = parseOrigin(origin);
    return parts !== undefined && starred.some((pattern) => fits(pattern, parts));
  };
}

/** @returns what the text should have been, to follow "is not"; undefined when it is a pattern of origins. */
export function describeBadPattern(text: string): string | undefined {
  if (text === "*") return undefined;
  const withPort = text.replace(/:\*$/, "");
  // What a browser would send for a URL like this: lower case, no path, no port that goes without saying.
  const sent = URL.canParse(withPort) ? new URL(withPort).origin : "null";
  if (sent !== "null" && sent !== withPort) return `an origin: browsers send ${JSON.stringify(sent)}`;
  if (parsePattern(text)) return undefined;
  return 'an origin such as "https://app.example", "https://*.app.example" or "http://localhost:*"';
}

/** True for `*`, and for a star above a name without a dot, `https://*.com`: nobody knows who that is. */
export function coversStrangers(pattern: string): boolean {
  if (pattern === "*") return true;
  const parsed = parsePattern(pattern);
  return parsed?.below === true && !parsed.host.includes(".");
}

function parseOrigin(text: string): OriginParts | undefined {
  const { scheme = "", host = "", port = "" } = ORIGIN.exec(text)?.groups ?? {};
  return host === "" ? undefined : { scheme, host, port };
}

function parsePattern(text: string): Pattern | undefined {
  const { scheme = "", below, host = "", port = "" } = PATTERN.exec(text)?.groups ?? {};
  return host === "" ? undefined : { scheme, host, port, below: below !== undefined, anyPort: port === ":*" };
}

function fits(pattern: Pattern, { scheme, host, port }: OriginParts): boolean {
  if (scheme !== pattern.scheme || !(pattern.anyPort || port === pattern.port)) return false;
  return pattern.below ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
}
