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
 * @param env texts by name; names that do not begin with `ISTHMUS_`, and empty texts, do not count. Lists are
 *   separated by commas.
 * @throws ConnectError invalid_argument naming a variable that is unknown or cannot be read.
 */
export function readVariables(env: Readonly<Record<string, unknown>>): Omit<GatewayOptions, "schema"> {
  const options: Record<string, unknown> = {};
  const known = new Set([UPSTREAM, UPSTREAM_PROTOCOL, BACKENDS]);
  for (const [option, kind] of Object.entries(PLAIN_OPTIONS)) {
    const name = variableName(option);
    known.add(name);
    const text = env[name];
    if (typeof text === "string" && text !== "") options[option] = parseOption(name, text, kind);
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith("ISTHMUS_") && !known.has(name)) throw misconfigured(`${name}: no such variable`);
  }
  return { ...options, backends: readBackends(env) };
}

function parseOption(name: string, text: string, kind: (typeof PLAIN_OPTIONS)[keyof typeof PLAIN_OPTIONS]): unknown {
  if (kind === "flag") {
    if (text !== "true" && text !== "false") throw misconfigured(`${name}: ${JSON.stringify(text)} is not true or false`);
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
  if (typeof json === "string" && json !== "") return parseBackends(json);
  if (typeof url !== "string" || url === "") throw misconfigured(`${UPSTREAM}: the URL of the backend is needed`);
  // Which protocols there are, the configuration checks.
  const backend = { url, ...(typeof protocol === "string" && protocol !== "" && { protocol }) } as Backend;
  return { "*": backend };
}

function parseBackends(json: string): Readonly<Record<string, Backend>> {
  try {
    const backends: unknown = JSON.parse(json);
    if (typeof backends === "object" && backends !== null) return backends as Record<string, Backend>;
  } catch {
    // Told below, like any other text that is no object.
  }
  throw misconfigured(`${BACKENDS}: not a JSON object`);
}
