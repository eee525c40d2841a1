/** `isthmus check`: everything that is wrong or unusual about the http rules of a schema, and whether a backend answers. */
import { formatFault } from "../config.ts";
import { type ProbeOptions, probeBackend } from "../node/probe.ts";
import { adviseRoutes } from "../route/advice.ts";
import type { Fault, Method } from "../schema/model.ts";
import { readCa } from "./ca.ts";
import { loadRules, type Rules, type SchemaArguments } from "./schema.ts";

export interface CheckArguments extends Omit<SchemaArguments, "schema"> {
  readonly schema?: string;
  /** URL of a backend. */
  readonly upstream?: string;
  readonly upstreamProtocol: ProbeOptions["protocol"];
  /** Path of a PEM file. */
  readonly ca?: string;
  /** One JSON array of faults on standard output, and nothing else there. */
  readonly json?: boolean;
}

/** Ends the process with 1 when there are errors; warnings alone are 0. */
export async function check(args: CheckArguments): Promise<void> {
  const { schema, upstream } = args;
  if (schema === undefined && upstream === undefined)
    throw new Error("nothing to check: give --schema, --upstream, or both");
  if (schema !== undefined) await checkRules({ ...args, schema });
  if (upstream !== undefined) await checkUpstream(upstream, args);
}

async function checkRules({ json, ...args }: SchemaArguments & Pick<CheckArguments, "json">): Promise<void> {
  const rules = await loadRules(args);
  const faults = [...rules.faults, ...adviseRoutes(rules.routes, takenPaths(rules))];
  const errors = faults.filter((fault) => fault.severity === "error").length;
  process.stdout.write(json ? `${JSON.stringify(faults, null, 2)}\n` : formatReport(faults, errors, rules));
  if (errors > 0) process.exitCode = 1;
}

async function checkUpstream(url: string, { upstreamProtocol, ca, json }: CheckArguments): Promise<void> {
  const { ok, message } = await probeBackend({ url, protocol: upstreamProtocol, ...(await readCa(ca)) });
  (json ? process.stderr : process.stdout).write(`${ok ? "" : "error: "}${url}: ${message}\n`);
  if (!ok) process.exitCode = 1;
}

function formatReport(faults: readonly Fault[], errors: number, rules: Rules): string {
  const lines = faults.map((fault) => `${fault.severity}: ${formatFault(fault)}\n`);
  const counts = [
    count(errors, "error"),
    count(faults.length - errors, "warning"),
    `${count(rules.routes.length, "binding")} served`,
  ];
  const bare = servedMethods(rules).filter((method) => method.rules.length === 0);
  const names = bare.map(({ name, service }) => `${service.name}.${name}`).join(", ");
  if (bare.length > 0) lines.push(`without an http rule, so only served where rpc is "all": ${names}\n`);
  return `${lines.join("")}${counts.join(", ")}\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function servedMethods({ schema, services }: Rules): readonly Method[] {
  return schema.services.filter(({ name }) => services.has(name)).flatMap(({ methods }) => methods);
}

/** Paths that a Worker with the defaults answers before it looks at routes. */
function takenPaths(rules: Rules): ReadonlyMap<string, string> {
  return new Map([
    ["/healthz", "the health check of the Worker"],
    ...servedMethods(rules)
      .filter(({ rules }) => rules.length > 0)
      .map(({ path, name, service }) => [path, `the RPC path of ${service.name}.${name}, for Connect calls`] as const),
  ]);
}
