/** `isthmus dev`: any schema in front of any backend, in the Workers runtime. */
import { startDevServer } from "../node/dev.ts";
import { whenStopped } from "../node/signal.ts";
import { loadSchema } from "./schema.ts";

export interface DevArguments {
  readonly schema: string;
  readonly upstream: string;
  readonly upstreamProtocol: string;
  readonly host: string;
  readonly port: number;
}

/** Serves until it is stopped. Options of the gateway come from the environment, `ISTHMUS_EMIT_DEFAULTS=true`. */
export async function dev({ schema, upstream, upstreamProtocol, host, port }: DevArguments): Promise<void> {
  const stopped = whenStopped();
  const server = await startDevServer({
    schema: await loadSchema(schema),
    variables: {
      ...gatewayVariables(process.env),
      ISTHMUS_UPSTREAM: upstream,
      ISTHMUS_UPSTREAM_PROTOCOL: upstreamProtocol,
    },
    host,
    port,
    warn: (message) => console.error(`warning: ${message}`),
    log: (message) => console.error(message),
  });
  console.log(`listening on ${server.url}`);
  await stopped;
  await server.close();
}

function gatewayVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[0].startsWith("ISTHMUS_"));
  return Object.fromEntries(entries);
}
