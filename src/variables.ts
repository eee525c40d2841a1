/** Options of a gateway from variables of the environment: `emitDefaults` is `ISTHMUS_EMIT_DEFAULTS`. */
import { misconfigured } from "./config.ts";
import type { CorsOptions } from "./filter/cors.ts";
import { type Backend, describeMismatch, type GatewayOptions, PLAIN_OPTIONS, parseOption } from "./options.ts";
import type { ServiceConfig } from "./schema/service-config.ts";

/** Where the backends are: one for all, or a JSON object as `backends` takes it. */
export const UPSTREAM = "ISTHMUS_UPSTREAM";
export const UPSTREAM_PROTOCOL = "ISTHMUS_UPSTREAM_PROTOCOL";
export const BACKENDS = "ISTHMUS_BACKENDS";
/** A google.api.Service as JSON. */
export const SERVICE_CONFIG = "ISTHMUS_SERVICE_CONFIG";
/** A JSON object as `cors` takes it. */
export const CORS = "ISTHMUS_CORS";

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
  const known = new Set([UPSTREAM, UPSTREAM_PROTOCOL, BACKENDS, SERVICE_CONFIG, CORS]);
  for (const [option, kind] of Object.entries(PLAIN_OPTIONS)) {
    const name = variableName(option);
    known.add(name);
    const given = env[name];
    if (given === "" || given === undefined) continue;
    // Wrangler's `vars` may hold true, 5 or a list as such.
    const value = typeof given === "string" ? parseOption(kind, given) : given;
    const wanted = describeMismatch(kind, value);
    if (wanted) throw misconfigured(`${name}: ${JSON.stringify(given)} is not ${wanted}`);
    options[option] = value;
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith("ISTHMUS_") && !known.has(name)) throw misconfigured(`${name}: no such variable`);
  }
  const serviceConfig = readServiceConfig(env);
  const cors = readObject(env, CORS) as CorsOptions | undefined;
  return { ...options, ...(serviceConfig && { serviceConfig }), ...(cors && { cors }), backends: readBackends(env) };
}

/** @throws ConnectError invalid_argument when the variable holds no object. */
export function readServiceConfig(env: Readonly<Record<string, unknown>>): ServiceConfig | undefined {
  return readObject(env, SERVICE_CONFIG) as ServiceConfig | undefined;
}

function readBackends(env: Readonly<Record<string, unknown>>): Readonly<Record<string, Backend>> {
  const backends = readObject(env, BACKENDS);
  const { [UPSTREAM]: url, [UPSTREAM_PROTOCOL]: protocol } = env;
  if (backends && url) throw misconfigured(`${UPSTREAM} and ${BACKENDS} both say where the backend is: leave one out`);
  if (backends) return backends as Record<string, Backend>;
  if (typeof url !== "string" || url === "") throw misconfigured(`${UPSTREAM}: the URL of the backend is needed`);
  // Which protocols there are, the configuration checks.
  const backend = { url, ...(typeof protocol === "string" && protocol !== "" && { protocol }) } as Backend;
  return { "*": backend };
}

/** The object that the variable is, or that its JSON text holds. */
function readObject(env: Readonly<Record<string, unknown>>, name: string): object | undefined {
  const value = env[name];
  if (value === undefined || value === "") return undefined;
  const read = typeof value === "string" ? parseJson(value) : value;
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw misconfigured(`${name}: not a JSON object`);
  return read;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
