/** `isthmus dev`: any schema in front of any backend, in the Workers runtime. */
import { startDevServer } from "../node/dev.ts";
import { whenStopped } from "../node/signal.ts";
import { BACKENDS, CORS, SERVICE_CONFIG, UPSTREAM, UPSTREAM_PROTOCOL } from "../variables.ts";
import { formatVariables, type PlainOptions } from "./gateway-flags.ts";
import { loadSchema, loadServiceConfig } from "./schema.ts";

export interface DevArguments extends PlainOptions {
  readonly schema: string;
  readonly upstream?: string;
  readonly upstreamProtocol?: string;
  /** JSON, as `backends` of the gateway. */
  readonly backends?: string;
  /** Path of a YAML or JSON file. */
  readonly serviceConfig?: string;
  /** JSON, as `cors` of the gateway. */
  readonly cors?: string;
  readonly host: string;
  readonly port: number;
}

/** Serves until it is stopped. */
export async function dev(args: DevArguments): Promise<void> {
  const stopped = whenStopped();
  const server = await startDevServer({
    schema: await loadSchema(args.schema),
    variables: await readGatewayVariables(args),
    host: args.host,
    port: args.port,
    warn: (message) => console.error(`warning: ${message}`),
    log: (message) => console.error(message),
  });
  console.log(`listening on ${server.url}`);
  console.error(`serving ${args.schema} as it is now: start again to see changes`);
  await stopped;
  await server.close();
}

/** The gateway's variables of the environment, and the flags in their place. */
async function readGatewayVariables(args: DevArguments): Promise<Readonly<Record<string, string>>> {
  const { upstream, upstreamProtocol, backends, serviceConfig, cors } = args;
  const variables: Record<string, string> = { ...gatewayVariables(process.env), ...formatVariables(args) };
  // Either says where the backend is, and the one that is a flag counts.
  if (upstream !== undefined) Object.assign(variables, { [UPSTREAM]: upstream, [BACKENDS]: "" });
  if (upstreamProtocol !== undefined) variables[UPSTREAM_PROTOCOL] = upstreamProtocol;
  if (backends !== undefined) Object.assign(variables, { [BACKENDS]: backends, [UPSTREAM]: "" });
  if (serviceConfig !== undefined) variables[SERVICE_CONFIG] = JSON.stringify(await loadServiceConfig(serviceConfig));
  if (cors !== undefined) variables[CORS] = cors;
  if (!variables[UPSTREAM] && !variables[BACKENDS]) {
    throw new Error("no backend: say where it is, as in --upstream http://127.0.0.1:8080, or --backends <json>");
  }
  return variables;
}

function gatewayVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[0].startsWith("ISTHMUS_"));
  return Object.fromEntries(entries);
}
