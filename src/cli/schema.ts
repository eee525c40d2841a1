/** Reads what `--schema` and `--service-config` name, and what the http rules in it are. */
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { parseDocument } from "yaml";
import { listsService } from "../config.ts";
import { compileProtos } from "../node/protos.ts";
import type { Route } from "../route/route.ts";
import { compileRules } from "../route/rule.ts";
import type { Fault, Schema } from "../schema/model.ts";
import { readSchema } from "../schema/read.ts";
import { applyServiceConfig, type ServiceConfig } from "../schema/service-config.ts";
import { readServiceConfig, SERVICE_CONFIG } from "../variables.ts";

/** What names a schema on the command line. */
export interface SchemaArguments {
  readonly schema: string;
  /** Path of a YAML or JSON file. */
  readonly serviceConfig?: string;
  readonly serviceConfigMode?: "replace" | "add";
  readonly services?: readonly string[];
}

export interface Rules {
  readonly schema: Schema;
  /** Full names of the services that are served. */
  readonly services: ReadonlySet<string>;
  readonly routes: readonly Route[];
  readonly faults: readonly Fault[];
}

/**
 * @param path a FileDescriptorSet, a schema image, or a folder of .proto files.
 * @returns bytes of a FileDescriptorSet or a schema image, unchecked.
 * @throws Error or ProtoError whose message is for people.
 */
export async function loadSchema(path: string): Promise<Uint8Array> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) throw new Error(`${path}: there is no such file or folder; --schema takes either`);
  if (stats.isDirectory()) return compileProtos(path);
  if (path.endsWith(".proto"))
    throw new Error(`${path}: is one .proto file; give --schema the folder that imports count from`);
  return readFile(path);
}

/**
 * @param path a google.api.Service in YAML or JSON.
 * @throws Error whose message is for people, with line and column where the text is neither.
 */
export async function loadServiceConfig(path: string): Promise<ServiceConfig> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) throw new Error(`${path}: there is no such file; --service-config takes a YAML or JSON file`);
  // JSON is YAML, but its own parser does not take YAML for it.
  const config = extname(path) === ".json" ? parseJson(path, text) : parseYaml(path, text);
  if (typeof config === "object" && config !== null && !Array.isArray(config)) return config as ServiceConfig;
  throw new Error(`${path}: holds no google.api.Service, as in { http: { rules: [{ selector, get }] } }`);
}

function parseYaml(path: string, text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (!error) return document.toJS({ maxAliasCount: 100 });
  const [{ line, col } = { line: 1, col: 1 }] = error.linePos ?? [];
  throw new Error(`${path}:${line}:${col}: ${error.message.split(/ at line \d+/)[0]}`);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The routes as a gateway with the same options has them, and every fault. */
export async function loadRules({ schema: path, ...rest }: SchemaArguments): Promise<Rules> {
  const annotated = readSchema(await loadSchema(path));
  const { schema, faults } = await configure(annotated, rest);
  const services = chosenServices(schema, rest.services);
  const rules = compileRules(schema, services);
  return { schema, services, routes: rules.routes, faults: [...faults, ...rules.faults] };
}

async function configure(schema: Schema, { serviceConfig: path, serviceConfigMode }: Omit<SchemaArguments, "schema">) {
  if (path !== undefined) return applyServiceConfigFile(schema, path, serviceConfigMode);
  const config = readServiceConfig(process.env);
  if (!config) return { schema, faults: [] };
  return applyServiceConfig(schema, config, { mode: serviceConfigMode, name: SERVICE_CONFIG });
}

/** @param path a google.api.Service in YAML or JSON. */
export async function applyServiceConfigFile(schema: Schema, path: string, mode: "replace" | "add" | undefined) {
  return applyServiceConfig(schema, await loadServiceConfig(path), { mode, name: basename(path) });
}

function chosenServices(schema: Schema, services: readonly string[] | undefined): ReadonlySet<string> {
  if (!services) return schema.named;
  const unknown = services.filter((entry) => !schema.services.some(({ name }) => listsService([entry], name)));
  if (unknown.length > 0) throw new Error(`--services: the schema has no ${unknown.join(", ")}`);
  return new Set(schema.services.map(({ name }) => name).filter((name) => listsService(services, name)));
}
