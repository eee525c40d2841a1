/** `npm start`: the example's backend, and the Worker in the Workers runtime in front of it, until Ctrl-C. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startDevServer } from "../../src/node/dev.ts";
import { PortTakenError } from "../../src/node/port.ts";
import { compileProtos } from "../../src/node/protos.ts";
import { whenStopped } from "../../src/node/signal.ts";
import { type Backend, startBackend } from "./backend.ts";
import { FIRST_PAGE, listCurls } from "./curls.ts";

const HOST = "127.0.0.1";
const PROTOS = fileURLToPath(new URL("../../proto", import.meta.url));

/** Each port: its flag, the variable of the environment that stands in for it, and what it is otherwise. */
const PORTS = {
  port: { variable: "PORT", default: "8787" },
  "backend-port": { variable: "BACKEND_PORT", default: "8080" },
  "h2c-port": { variable: "H2C_PORT", default: "8081" },
} as const;
type Flag = keyof typeof PORTS;

try {
  await start();
} catch (error) {
  console.error(`error: ${describeFailure(error)}`);
  process.exitCode = 1;
}

async function start(): Promise<void> {
  const stopped = whenStopped();
  const ports = readPorts();
  const schema = await compileProtos(PROTOS);
  const backend = await startBackend({ schema, host: HOST, port: ports["backend-port"], h2cPort: ports["h2c-port"] });
  try {
    const gateway = await startGateway(schema, backend, ports.port);
    try {
      printWelcome(gateway.url, backend, await fetchPageToken(gateway.url + FIRST_PAGE));
      await stopped;
    } finally {
      await gateway.close();
    }
  } finally {
    await backend.close();
  }
}

function startGateway(schema: Uint8Array, backend: Backend, port: number) {
  return startDevServer({
    schema,
    variables: { ISTHMUS_UPSTREAM: `http://${HOST}:${backend.port}` },
    host: HOST,
    port,
    warn: (message) => console.error(`warning: ${message}`),
    log: (message) => console.error(message),
  });
}

/** One call through the gateway to the backend: both answer. */
async function fetchPageToken(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${url} answers ${response.status}: ${text}`);
  return (JSON.parse(text) as { nextPageToken: string }).nextPageToken;
}

function printWelcome(gateway: string, backend: Backend, pageToken: string): void {
  const { port, h2cPort } = backend;
  console.log(
    `\ngateway  ${gateway}\nbackend  http://${HOST}:${port} (HTTP/1.1), http://${HOST}:${h2cPort} (HTTP/2)\n`,
  );
  for (const { title, command } of listCurls(gateway, pageToken)) console.log(`# ${title}\n${command}\n`);
  console.log("Ctrl-C ends both.");
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof PortTakenError)) return error.message;
  const flag = Object.entries(readPorts()).find(([, port]) => port === error.port)?.[0] as Flag;
  const other = error.port + 1000;
  return `${error.message}: choose another, ${PORTS[flag].variable}=${other} npm start (or npm start -- --${flag} ${other})`;
}

function readPorts(): Record<Flag, number> {
  const flags = Object.keys(PORTS) as Flag[];
  const { values } = parseArgs({ options: Object.fromEntries(flags.map((flag) => [flag, { type: "string" }])) });
  const entries = flags.map((flag) => [flag, readPort(flag, values[flag])]);
  return Object.fromEntries(entries) as Record<Flag, number>;
}

function readPort(flag: Flag, value: unknown): number {
  const { variable, default: fallback } = PORTS[flag];
  const text = String(value ?? process.env[variable] ?? fallback);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new Error(`--${flag} (or ${variable}): "${text}" is no port`);
  return port;
}
