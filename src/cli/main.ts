/** The command line. Each command is a file of its own and one entry here. */
import { ConnectError } from "@connectrpc/connect";
import { Command, InvalidArgumentError } from "commander";
import { PortTakenError } from "../node/port.ts";

const SCHEMA = "a FileDescriptorSet (buf build -o set.binpb), or a folder of .proto files";

/**
 * Runs the command that `argv` (with node and script first) names; ends the process with 1 when it fails.
 * Commands are loaded when they are called for: what one needs must not slow the others.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("isthmus").description("REST/JSON in, Connect out: an edge gateway for protobuf APIs.");
  program
    .command("dev")
    .description("serve a schema in the Workers runtime, in front of a backend")
    .requiredOption("--schema <path>", SCHEMA)
    .requiredOption("--upstream <url>", "where the backend is", parseUrl)
    .option("--upstream-protocol <protocol>", "what it speaks", "connect")
    .option("--port <number>", "0 takes a free one", parsePort, 8787)
    .option("--host <address>", "where to listen", "127.0.0.1")
    .addHelpText(
      "after",
      "\nOptions of the gateway are variables of the environment: ISTHMUS_EMIT_DEFAULTS=true isthmus dev …",
    )
    .action(async (options) => (await import("./dev.ts")).dev(options));
  program
    .command("routes")
    .description("print method, template, RPC and body, one binding a line")
    .requiredOption("--schema <path>", SCHEMA)
    .action(async (options) => (await import("./routes.ts")).listRoutes(options));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error(`error: ${describeFailure(error)}`);
    process.exitCode = 1;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof PortTakenError) return `${error.message}: choose another with --port`;
  if (error instanceof ConnectError) return error.rawMessage;
  return error instanceof Error ? error.message : String(error);
}

function parseUrl(text: string): string {
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("It must be like http://127.0.0.1:8080.");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
