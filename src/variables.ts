/** Options of a gateway from variables of the environment: `emitDefaults` is `ISTHMUS_EMIT_DEFAULTS`. */
import { type Backend, type GatewayOptions, misconfigured, PLAIN_OPTIONS } from "./config.ts";

/** Where the backends are: one for all, or a JSON object as `backends` takes it. */
const UPSTREAM = "ISTHMUS_UPSTREAM";
const UPSTREAM_PROTOCOL = "ISTHMUS_UPSTREAM_PROTOCOL";
const BACKENDS = "ISTHMUS_BACKENDS";

/** The name of an option's variable. */
export function variableName(option: string): string {
  return `ISTHMUS_${option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * @param env texts by name, or values as the options take them; names that do not begin with `ISTHMUS_`, and empty
 *   texts, do not count. Lists are separated by commas.
 * @throws ConnectError invalid_argument naming a variable that is unknown or cannot be read.
 */
export function readVariables(env: Readonly<Record<string, unknown>>): Omit<GatewayOptions, "schema"> {
  const options: Record<string, unknown> = {};
  const known = new Set([UPSTREAM, UPSTREAM_PROTOCOL, BACKENDS]);
  for (const [option, kind] of Object.entries(PLAIN_OPTIONS)) {
    const name = variableName(option);
    known.add(name);
    const value = env[name];
    // Wrangler's `vars` may hold true, 5 or a list as such: what the configuration takes, or refuses.
    if (value !== "" && value !== undefined)
      options[option] = typeof value === "string" ? parseOption(name, value, kind) : value;
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith("ISTHMUS_") && !known.has(name)) throw misconfigured(`${name}: no such variable`);
  }
  return { ...options, backends: readBackends(env) };
}

function parseOption(name: string, text: string, kind: (typeof PLAIN_OPTIONS)[keyof typeof PLAIN_OPTIONS]): unknown {
  if (kind === "flag") {
    if (text !== "true" && text !== "false")
      throw misconfigured(`${name}: ${JSON.stringify(text)} is not true or false`);
    return text === "true";
  }
  if (kind === "count") {
    if (!/^[0-9]{1,15}$/.test(text)) throw misconfigured(`${name}: ${JSON.stringify(text)} is not a whole number`);
    return Number(text);
  }
  if (kind === "list") return text.split(",").map((item) => item.trim());
  return text;
}

function readBackends(env: Readonly<Record<string, unknown>>): Readonly<Record<string, Backend>> {
  const { [UPSTREAM]: url, [UPSTREAM_PROTOCOL]: protocol, [BACKENDS]: json } = env;
  if (isObject(json)) return json as Record<string, Backend>;
  if (typeof json === "string" && json !== "") return parseBackends(json);
  if (typeof url !== "string" || url === "") throw misconfigured(`${UPSTREAM}: the URL of the backend is needed`);
  // Which protocols there are, the configuration checks.
  const backend = { url, ...(typeof protocol === "string" && protocol !== "" && { protocol }) } as Backend;
  return { "*": backend };
}

function parseBackends(json: string): Readonly<Record<string, Backend>> {
  try {
    const backends: unknown = JSON.parse(json);
    if (isObject(backends)) return backends as Record<string, Backend>;
  } catch {
    // Told below, like any other text that is no object.
  }
  throw misconfigured(`${BACKENDS}: not a JSON object`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
