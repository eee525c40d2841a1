/** Options of a gateway, complete: every default in one place, presets resolved, all of it checked once. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { HttpFilter, Policy } from "./call.ts";
import type { JsonOptions } from "./codec/codec.ts";
import type { CorsOptions } from "./filter/cors.ts";
import {
  type Backend,
  describeMismatch,
  type GatewayOptions,
  type OptionKind,
  PLAIN_OPTIONS,
  PRESETS,
} from "./options.ts";
import { coversStrangers, describeBadPattern } from "./protocol/origin.ts";
import type { Fault } from "./schema/model.ts";
import type { ServiceConfig } from "./schema/service-config.ts";

/** GatewayOptions, complete; the schema is read apart from them. */
export interface Config extends JsonOptions {
  readonly backends: ReadonlyMap<string, Required<Backend>>;
  readonly serviceConfig: ServiceConfig | undefined;
  readonly serviceConfigMode: "replace" | "add";
  readonly services: readonly string[] | undefined;
  readonly rpc: "annotated" | "all" | "none";
  readonly onFault: "throw" | "skip";
  readonly warn: (message: string) => void;
  readonly unknownQuery: "error" | "ignore";
  /** ignoredQuery and systemParams together: both are skipped. */
  readonly skippedQuery: ReadonlySet<string>;
  readonly updateMask: boolean;
  readonly forms: boolean;
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxParameters: number;
  readonly maxBodyBytes: number | undefined;
  readonly readMaxBytes: number;
  readonly maxCompressionRatio: number | undefined;
  readonly upstreamReadMaxBytes: number;
  readonly timeoutMs: number | undefined;
  readonly streamIdleMs: number | undefined;
  readonly maxStreams: number | undefined;
  readonly upstreamGzip: boolean;
  readonly connectGet: boolean;
  readonly compressMinBytes: number | undefined;
  readonly ndjsonBare: boolean;
  readonly sseIds: boolean;
  readonly sseRetryMs: number | undefined;
  readonly sseHeartbeatMs: number | undefined;
  readonly allowHeaders: ReadonlySet<string> | undefined;
  readonly denyHeaders: ReadonlySet<string>;
  readonly metadataPrefix: string | undefined;
  readonly clientIpHeader: string | undefined;
  readonly challenge: string;
  readonly cors: Required<CorsOptions> | undefined;
  readonly policies: readonly Policy[];
  readonly filters: readonly HttpFilter[];
}

/** Besides the plain ones. */
const OTHER_OPTIONS: readonly string[] = ["schema", "backends", "serviceConfig", "cors", "warn", "policies", "filters"];

const PROTOCOLS: readonly string[] = ["connect", "grpc-web", "grpc"];

/** Those that the codec has. */
export const JSON_DEFAULTS = {
  unknownFields: "error",
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
} as const satisfies JsonOptions;

/** What an option is when nobody has set it. One that is not named here follows from others, or is then undefined. */
const DEFAULTS = {
  ...JSON_DEFAULTS,
  serviceConfigMode: "replace",
  rpc: "annotated",
  onFault: "throw",
  warn: (message: string) => console.warn(message),
  unknownQuery: "error",
  ignoredQuery: [],
  systemParams: [],
  updateMask: true,
  forms: false,
  maxUrlBytes: 16 * 1024,
  maxHeaderBytes: 128 * 1024,
  maxParameters: 1000,
  readMaxBytes: 4 * 1024 * 1024,
  upstreamGzip: false,
  connectGet: false,
  ndjsonBare: false,
  sseIds: false,
  denyHeaders: [],
  challenge: "Bearer",
  policies: [],
  filters: [],
} as const satisfies Partial<GatewayOptions>;

/** All options: those with a default have a value. */
type Settled = {
  readonly [Name in keyof GatewayOptions]-?: Name extends keyof typeof DEFAULTS
    ? NonNullable<GatewayOptions[Name]>
    : GatewayOptions[Name] | undefined;
};

/** @throws ConnectError invalid_argument naming the option that is unknown, missing or not what it may be. */
export function readConfig(given: GatewayOptions): Config {
  checkOptions(given);
  const { schema, preset, ignoredQuery, systemParams, metadataPrefix, ...options } = settle(given);
  const { readMaxBytes, allowHeaders, cors } = options;
  const { upstreamReadMaxBytes = readMaxBytes, maxJsonBytes = 8 * upstreamReadMaxBytes } = options;
  return {
    ...options,
    maxJsonBytes,
    backends: readBackends(given.backends),
    skippedQuery: new Set([...ignoredQuery, ...systemParams]),
    upstreamReadMaxBytes,
    allowHeaders: allowHeaders && lowerCase(allowHeaders),
    denyHeaders: lowerCase(options.denyHeaders),
    metadataPrefix: metadataPrefix?.toLowerCase(),
    cors: cors === undefined ? cors : readCors(cors),
  };
}

/** @returns the backend of a service: by full name, by the longest `pkg.*`, or `*`. */
export function backendOf(config: Config, service: string): Required<Backend> | undefined {
  const { backends } = config;
  const exact = backends.get(service);
  if (exact) return exact;
  for (let end = service.lastIndexOf("."); end > 0; end = service.lastIndexOf(".", end - 1)) {
    const backend = backends.get(`${service.slice(0, end)}.*`);
    if (backend) return backend;
  }
  return backends.get("*");
}

/** True when `services` has the name, or a `pkg.*` above it. */
export function listsService(services: readonly string[], service: string): boolean {
  return services.some((entry) =>
    entry.endsWith(".*") ? service.startsWith(entry.slice(0, -1)) : entry === service || entry === "*",
  );
}

/** The error for a wrong option or a schema that cannot be served: the gateway does not start. */
export function misconfigured(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

/** One line: where, what, and what to do about it. */
export function formatFault(fault: Fault): string {
  const line = fault.line === undefined ? "" : `:${fault.line}`;
  const column = fault.column === undefined ? "" : ` at column ${fault.column}`;
  const template = fault.template && ` "${fault.template}"${column}`;
  const fix = fault.fix === undefined ? "" : `; ${fault.fix}`;
  return `${fault.file}${line}: ${fault.method}${template}: ${fault.message}${fix}`;
}

function checkOptions(options: GatewayOptions): void {
  // Types are only a promise: whoever has none gets a sentence instead of a TypeError, now instead of at each call.
  if (typeof options?.schema !== "object" || options.schema === null) {
    throw misconfigured(
      "schema: the bytes that `isthmus compile` writes are needed, or those of a google.protobuf.FileDescriptorSet",
    );
  }
  checkPlainOptions(options, PLAIN_OPTIONS, OTHER_OPTIONS);
  const { policies = [], filters = [], warn, maxStreams, streamIdleMs } = options;
  if (maxStreams !== undefined && streamIdleMs === undefined) {
    throw misconfigured("maxStreams: goes with streamIdleMs only");
  }
  if (!isListOf(policies, (policy) => typeof policy?.wrap === "function")) {
    throw misconfigured("policies: not a list of { wrap(next) { … } }");
  }
  if (!isListOf(filters, (filter) => typeof filter === "function")) {
    throw misconfigured("filters: not a list of functions");
  }
  if (warn !== undefined && typeof warn !== "function") throw misconfigured("warn: not a function");
}

/**
 * @param plain the options that may be given, by name.
 * @param others names that may stand beside them, and are checked elsewhere.
 * @throws ConnectError invalid_argument naming the option that is unknown, or not what it may be.
 */
export function checkPlainOptions(
  options: object,
  plain: Readonly<Record<string, OptionKind>>,
  others: readonly string[],
): void {
  for (const [name, value] of Object.entries(options)) {
    if (others.includes(name) || value === undefined) continue;
    const kind = Object.hasOwn(plain, name) ? plain[name] : undefined;
    if (kind === undefined) throw misconfigured(`${name}: no such option`);
    const wanted = describeMismatch(kind, value);
    if (wanted) throw misconfigured(`${name}: ${formatValue(value)} is not ${wanted}`);
  }
}

function isListOf<T>(list: readonly T[], fits: (item: T) => boolean): boolean {
  return Array.isArray(list) && list.every(fits);
}

/** As it was written, where JSON has no word for it too. */
function formatValue(value: unknown): string {
  return typeof value === "number" || typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

/** What is given; of the preset, and then of the defaults, what is not. */
function settle(given: GatewayOptions): Settled {
  return { ...DEFAULTS, ...(given.preset && PRESETS[given.preset]), ...defined(given) } as Settled;
}

function readBackends(backends: GatewayOptions["backends"]): ReadonlyMap<string, Required<Backend>> {
  const entries = Object.entries(backends ?? {});
  if (entries.length === 0) throw misconfigured('backends: name one, as in { "*": { url: "http://127.0.0.1:8080" } }');
  return new Map(entries.map(([name, backend]) => [name, readBackend(name, backend)]));
}

function readBackend(name: string, backend: Backend): Required<Backend> {
  const fail = (problem: string) => misconfigured(`backends["${name}"]: ${problem}`);
  if (typeof backend !== "object" || backend === null) throw fail(`{ url } is needed`);
  const { url, protocol = "connect", fetch, ...rest } = backend;
  const [unknown] = Object.keys(rest);
  if (unknown) throw fail(`${unknown}: no such option`);
  if (!PROTOCOLS.includes(protocol)) {
    throw misconfigured(
      `backends["${name}"]: protocol ${JSON.stringify(protocol)} is not one of ${PROTOCOLS.join(", ")}`,
    );
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search || parsed.hash) {
    throw fail(`${JSON.stringify(url)} is no http or https URL`);
  }
  // fetch would refuse it at each call; and it may be a secret, so it is not repeated.
  if (parsed.username || parsed.password) {
    throw fail(`the URL holds a user name or a password, which cannot be sent`);
  }
  if (fetch !== undefined && typeof fetch !== "function") {
    throw fail(`fetch is not a function`);
  }
  const prefix = parsed.pathname.replace(/\/+$/, "");
  // workerd's fetch must be called on the global object.
  return { url: parsed.origin + prefix, protocol, fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)) };
}

function readCors(given: CorsOptions): Required<CorsOptions> {
  if (typeof given !== "object" || given === null) throw misconfigured("cors: { allowOrigins } is needed");
  const {
    allowOrigins,
    allowCredentials = false,
    allowHeaders = [],
    exposeHeaders = [],
    maxAgeS = 7200,
    ...rest
  } = given;
  const [unknown] = Object.keys(rest);
  if (unknown) throw misconfigured(`cors.${unknown}: no such option`);
  const check = (name: keyof CorsOptions, value: unknown, wanted: string | undefined): void => {
    if (wanted) throw misconfigured(`cors.${name}: ${formatValue(value)} is not ${wanted}`);
  };
  const checkNames = (name: keyof CorsOptions, list: readonly string[]): void => {
    check(name, list, describeMismatch("list", list));
    for (const one of list) check(name, one, describeMismatch("name", one));
  };
  check("allowOrigins", allowOrigins, describeMismatch("list", allowOrigins));
  if (allowOrigins.length === 0) throw misconfigured("cors.allowOrigins: name one");
  for (const pattern of allowOrigins) check("allowOrigins", pattern, describeBadPattern(pattern));
  check("allowCredentials", allowCredentials, describeMismatch("flag", allowCredentials));
  checkNames("allowHeaders", allowHeaders);
  checkNames("exposeHeaders", exposeHeaders);
  if (maxAgeS !== 0) check("maxAgeS", maxAgeS, describeMismatch("count", maxAgeS));
  const stars = allowHeaders.concat(exposeHeaders).filter((name) => name === "*");
  const [open] = allowOrigins.filter(coversStrangers).concat(stars);
  if (allowCredentials && open) {
    throw misconfigured(`cors.allowCredentials: cannot go with ${formatValue(open)}; name what is to be trusted`);
  }
  return { allowOrigins, allowCredentials, allowHeaders, exposeHeaders, maxAgeS };
}

/** What is given as undefined is not given. */
export function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

function lowerCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}
