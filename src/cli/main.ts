/** The command line. Each command is a file of its own and one entry here. */
import { readFileSync } from "node:fs";
import { ConnectError } from "@connectrpc/connect";
import { Command, InvalidArgumentError, Option } from "commander";
import { PortTakenError } from "../node/port.ts";
import { createFlag, PLAIN_OPTION_NAMES } from "./gateway-flags.ts";

const SCHEMA = "a folder of .proto files, a FileDescriptorSet (buf build -o set.binpb), or what `compile` wrote";
const SERVICE_CONFIG =
  "http rules by selector: a google.api.Service in YAML or JSON (env: ISTHMUS_SERVICE_CONFIG, JSON itself)";
const CA = "certificates in PEM to trust in place of Node's own";

/**
 * Runs the command that `argv` (with node and script first) names; ends the process with 1 when it fails.
 * Commands are loaded when they are called for: what one needs must not slow the others.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("isthmus")
    .description("REST/JSON in, Connect out: an edge gateway for protobuf APIs.")
    .version(readVersion());
  addDev(program);
  schemaCommand(program, "routes", "print method, template, RPC and body, one binding a line").action(async (options) =>
    (await import("./routes.ts")).listRoutes(options),
  );
  addCheck(program);
  program
    .command("bridge")
    .description("stand between a gateway and one gRPC server: gRPC-Web over HTTP/1.1 in, gRPC over HTTP/2 out")
    .addOption(
      new Option("--to <url>", "the gRPC server: http://host:port without TLS, https://host with")
        .argParser(parseUrl)
        .makeOptionMandatory(),
    )
    .option("--port <number>", "where to listen on 127.0.0.1; 0 takes a free one", parsePort, 8788)
    .option("--ca <file>", CA)
    .action(async (options) => (await import("./bridge.ts")).bridge(options));
  program
    .command("compile")
    .description("write the schema image that a Worker bundles")
    .requiredOption("--schema <path>", SCHEMA)
    .requiredOption("--out <file>", "where to, gen/schema.bin for the Worker of this package")
    .option("--service-config <file>", "http rules by selector, for the image: a google.api.Service in YAML or JSON")
    .addOption(createFlag("serviceConfigMode"))
    .addOption(
      new Option("--on-fault <throw|skip>", "faults in http rules: write nothing, or warn")
        .choices(["throw", "skip"])
        .default("throw"),
    )
    .action(async (options) => (await import("./compile.ts")).compile(options));
  program
    .command("init")
    .description("make a new project: a Worker with a gateway, an API and what deploys it")
    .argument("[folder]", "an empty folder, or one that is not there yet", ".")
    .action(async (folder) => (await import("./init.ts")).init(folder));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error(`error: ${describeFailure(error)}`);
    process.exitCode = 1;
  }
}

function addDev(program: Command): void {
  const command = program
    .command("dev")
    .description("serve a schema in the Workers runtime, in front of a backend")
    .requiredOption("--schema <path>", SCHEMA)
    .addOption(
      new Option("--upstream <url>", "where the backend is (env: ISTHMUS_UPSTREAM)")
        .argParser(parseUrl)
        .conflicts("backends"),
    )
    .option(
      "--upstream-protocol <protocol>",
      "what it speaks: connect, grpc-web, grpc (env: ISTHMUS_UPSTREAM_PROTOCOL)",
    )
    .option("--backends <json>", 'several: {"pkg.*": {"url": "…"}, "*": …} (env: ISTHMUS_BACKENDS)')
    .option("--service-config <file>", SERVICE_CONFIG)
    .option("--cors <json>", 'pages that may call: {"allowOrigins": ["http://localhost:*"]} (env: ISTHMUS_CORS)')
    .option("--port <number>", "0 takes a free one", parsePort, 8787)
    .option("--host <address>", "where to listen", "127.0.0.1");
  for (const name of PLAIN_OPTION_NAMES) command.addOption(createFlag(name).helpGroup("Options of the gateway:"));
  command.action(async (options) => (await import("./dev.ts")).dev(options));
}

function addCheck(program: Command): void {
  const command = program
    .command("check")
    .description(
      "tell every fault of the http rules and what is unusual, and whether a backend answers; end with 1 when one is wrong",
    )
    .option("--schema <path>", SCHEMA);
  addRuleOptions(command)
    .addOption(
      new Option(
        "--upstream <url>",
        "a backend to try: why does it not answer?; --schema may then be left out",
      ).argParser(parseUrl),
    )
    .addOption(
      new Option("--upstream-protocol <protocol>", "what it should speak")
        .choices(["connect", "grpc-web", "grpc"])
        .default("connect"),
    )
    .option("--ca <file>", CA)
    .option("--json", "one array of faults, for machines")
    .action(async (options) => (await import("./check.ts")).check(options));
}

/** A command about the http rules of a schema. */
function schemaCommand(program: Command, name: string, description: string): Command {
  return addRuleOptions(program.command(name).description(description).requiredOption("--schema <path>", SCHEMA));
}

function addRuleOptions(command: Command): Command {
  return command
    .option("--service-config <file>", SERVICE_CONFIG)
    .addOption(createFlag("serviceConfigMode"))
    .addOption(createFlag("services"));
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

/** The package's own; this file lies two folders below it, built or not. */
function readVersion(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}
