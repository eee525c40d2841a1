/** Options of a gateway: documented and partial outside, complete inside, every default in one place, checked once. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { HttpFilter, Policy } from "./call.ts";
import type { Fault } from "./route/route.ts";

export interface GatewayOptions {
  /** Bytes of a google.protobuf.FileDescriptorSet with its imports (`buf build -o set.binpb`). */
  readonly schema: Uint8Array | ArrayBuffer;
  /** Where the services are: full name, `pkg.*` or `*` → backend. The most specific entry counts. */
  readonly backends: Readonly<Record<string, Backend>>;
  /** Services that are reachable: full names or `pkg.*`. Default: those of the files named in the set, never of imports. */
  readonly services?: readonly string[];
  /** Which methods RPC callers reach: those with an http rule, all, or none. Default "annotated". */
  readonly rpc?: "annotated" | "all" | "none";
  /** Faults in http rules: refuse to start, or warn and leave the binding out. Default "throw". */
  readonly onFault?: "throw" | "skip";
  /** Told once at start: faults that were skipped, warnings, services left out. Default: console.warn. */
  readonly warn?: (message: string) => void;

  /** A JSON key or enum name that the schema does not have: refuse or skip. Default "error". */
  readonly unknownFields?: "error" | "ignore";
  /** A query parameter that names no field, or one that the path or body holds: refuse or skip. Default "error". */
  readonly unknownQuery?: "error" | "ignore";
  /** Query parameters that are meant for somebody else and skipped. Default none. */
  readonly ignoredQuery?: readonly string[];
  /** System parameters such as `$alt`, `key`: skipped. Default none. */
  readonly systemParams?: readonly string[];
  /** Write fields without presence although they are zero. Default false. */
  readonly emitDefaults?: boolean;
  /** Write names as in the .proto file. Default false: lowerCamelCase. */
  readonly useProtoFieldName?: boolean;
  /** Write enums as numbers. Default false: names. */
  readonly enumAsInteger?: boolean;
  /** PATCH: fill the request's one FieldMask from the keys of the body. Default true. */
  readonly updateMask?: boolean;
  /** Levels of nesting in any message. Default 100. */
  readonly maxDepth?: number;

  /** Bytes of one request message. Default 4 MiB. Bodies that pass through are not bounded. */
  readonly readMaxBytes?: number;
  /** Bytes of one response message. Default: readMaxBytes. */
  readonly upstreamReadMaxBytes?: number;
  /** Longest time for a call in milliseconds; a shorter one of the caller counts. Default none. */
  readonly timeoutMs?: number;
  /** Call methods without side effects by Connect GET. Default false. */
  readonly connectGet?: boolean;

  /** Only these request headers become metadata. Default: all that are not reserved. */
  readonly allowHeaders?: readonly string[];
  /** These request headers never become metadata. Default none. */
  readonly denyHeaders?: readonly string[];
  /** Request headers with this prefix become metadata without it (`Grpc-Metadata-`). Default none. */
  readonly metadataPrefix?: string;
  /** Header that holds the caller's address; it is appended to x-forwarded-for. Default none: anyone can send it. */
  readonly clientIpHeader?: string;
  /** WWW-Authenticate of a 401. Default "Bearer". */
  readonly challenge?: string;

  /** The inner onion, outermost first. Default none. */
  readonly policies?: readonly Policy[];
  /** The outer onion, outermost first. Default none. */
  readonly filters?: readonly HttpFilter[];
}

export interface Backend {
  /** http or https; a path prefix is kept. */
  readonly url: string;
  /** Default "connect". */
  readonly protocol?: "connect";
  /** How to reach it. Default: the global fetch. A service binding's fetch, a test's own. */
  readonly fetch?: typeof fetch;
}

/** GatewayOptions, complete. */
export interface Config {
  readonly schema: Uint8Array;
  readonly backends: ReadonlyMap<string, Required<Backend>>;
  readonly services: readonly string[] | undefined;
  readonly rpc: "annotated" | "all" | "none";
  readonly onFault: "throw" | "skip";
  readonly warn: (message: string) => void;
  readonly unknownFields: "error" | "ignore";
  readonly unknownQuery: "error" | "ignore";
  /** ignoredQuery and systemParams together: both are skipped. */
  readonly skippedQuery: ReadonlySet<string>;
  readonly emitDefaults: boolean;
  readonly useProtoFieldName: boolean;
  readonly enumAsInteger: boolean;
  readonly updateMask: boolean;
  readonly maxDepth: number;
  readonly readMaxBytes: number;
  readonly upstreamReadMaxBytes: number;
  readonly timeoutMs: number | undefined;
  readonly connectGet: boolean;
  readonly allowHeaders: ReadonlySet<string> | undefined;
  readonly denyHeaders: ReadonlySet<string>;
  readonly metadataPrefix: string | undefined;
  readonly clientIpHeader: string | undefined;
  readonly challenge: string;
  readonly policies: readonly Policy[];
  readonly filters: readonly HttpFilter[];
}

/** Texts stand in headers, where a line break or a wide character would fail every call. */
const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

type Kind = "flag" | "count" | "text" | "list" | readonly string[];

/**
 * Options that are plain values, and what they may be. By one rule each is also a variable of the Worker:
 * `emitDefaults` is `ISTHMUS_EMIT_DEFAULTS`.
 */
export const PLAIN_OPTIONS = {
  services: "list",
  rpc: ["annotated", "all", "none"],
  onFault: ["throw", "skip"],
  unknownFields: ["error", "ignore"],
  unknownQuery: ["error", "ignore"],
  ignoredQuery: "list",
  systemParams: "list",
  emitDefaults: "flag",
  useProtoFieldName: "flag",
  enumAsInteger: "flag",
  updateMask: "flag",
  maxDepth: "count",
  readMaxBytes: "count",
  upstreamReadMaxBytes: "count",
  timeoutMs: "count",
  connectGet: "flag",
  allowHeaders: "list",
  denyHeaders: "list",
  metadataPrefix: "text",
  clientIpHeader: "text",
  challenge: "text",
} as const satisfies Partial<Record<keyof GatewayOptions, Kind>>;

const OTHER_OPTIONS: readonly string[] = ["schema", "backends", "warn", "policies", "filters"];

const DEFAULT_READ_MAX_BYTES = 4 * 1024 * 1024;

/** @throws ConnectError invalid_argument naming the option that is unknown, missing or not what it may be. */
export function readConfig(options: GatewayOptions): Config {
  checkOptions(options);
  const readMaxBytes = options.readMaxBytes ?? DEFAULT_READ_MAX_BYTES;
  return {
    schema: options.schema instanceof ArrayBuffer ? new Uint8Array(options.schema) : options.schema,
    backends: readBackends(options.backends),
    services: options.services,
    rpc: options.rpc ?? "annotated",
    onFault: options.onFault ?? "throw",
    warn: options.warn ?? ((message) => console.warn(message)),
    unknownFields: options.unknownFields ?? "error",
    unknownQuery: options.unknownQuery ?? "error",
    skippedQuery: new Set([...(options.ignoredQuery ?? []), ...(options.systemParams ?? [])]),
    emitDefaults: options.emitDefaults ?? false,
    useProtoFieldName: options.useProtoFieldName ?? false,
    enumAsInteger: options.enumAsInteger ?? false,
    updateMask: options.updateMask ?? true,
    maxDepth: options.maxDepth ?? 100,
    readMaxBytes,
    upstreamReadMaxBytes: options.upstreamReadMaxBytes ?? readMaxBytes,
    timeoutMs: options.timeoutMs,
    connectGet: options.connectGet ?? false,
    allowHeaders: options.allowHeaders && lowerCase(options.allowHeaders),
    denyHeaders: lowerCase(options.denyHeaders ?? []),
    metadataPrefix: options.metadataPrefix?.toLowerCase(),
    clientIpHeader: options.clientIpHeader,
    challenge: options.challenge ?? "Bearer",
    policies: options.policies ?? [],
    filters: options.filters ?? [],
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

/** One line: what, where. */
export function formatFault(fault: Fault): string {
  const line = fault.line === undefined ? "" : `:${fault.line}`;
  const column = fault.column === undefined ? "" : ` at column ${fault.column}`;
  const template = fault.template && ` "${fault.template}"${column}`;
  return `${fault.file}${line}: ${fault.method}${template}: ${fault.message}`;
}

function checkOptions(options: GatewayOptions): void {
  if (!(options.schema instanceof Uint8Array || options.schema instanceof ArrayBuffer)) {
    throw misconfigured("schema: the bytes of a google.protobuf.FileDescriptorSet are needed");
  }
  for (const [name, value] of Object.entries(options)) {
    if (OTHER_OPTIONS.includes(name) || value === undefined) continue;
    const kind: Kind | undefined = Object.hasOwn(PLAIN_OPTIONS, name)
      ? PLAIN_OPTIONS[name as keyof typeof PLAIN_OPTIONS]
      : undefined;
    if (!kind) throw misconfigured(`${name}: no such option`);
    const wanted = describeMismatch(kind, value);
    if (wanted) throw misconfigured(`${name}: ${JSON.stringify(value)} is not ${wanted}`);
  }
}

function describeMismatch(kind: Kind, value: unknown): string | undefined {
  if (kind === "flag") return typeof value === "boolean" ? undefined : "true or false";
  if (kind === "count") return Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a positive whole number";
  if (kind === "text") return typeof value === "string" && HEADER_TEXT.test(value) ? undefined : "a text for a header";
  if (kind === "list") return isTextList(value) ? undefined : "a list of texts";
  return kind.some((choice) => choice === value) ? undefined : `one of ${kind.join(", ")}`;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function readBackends(backends: GatewayOptions["backends"]): ReadonlyMap<string, Required<Backend>> {
  const entries = Object.entries(backends ?? {});
  if (entries.length === 0) throw misconfigured('backends: name one, as in { "*": { url: "http://127.0.0.1:8080" } }');
  return new Map(entries.map(([name, backend]) => [name, readBackend(name, backend)]));
}

function readBackend(name: string, backend: Backend): Required<Backend> {
  if (typeof backend !== "object" || backend === null) throw misconfigured(`backends["${name}"]: { url } is needed`);
  const { url, protocol = "connect", fetch, ...rest } = backend;
  const [unknown] = Object.keys(rest);
  if (unknown) throw misconfigured(`backends["${name}"]: ${unknown}: no such option`);
  if (protocol !== "connect")
    throw misconfigured(`backends["${name}"]: protocol ${JSON.stringify(protocol)} is not connect`);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search || parsed.hash) {
    throw misconfigured(`backends["${name}"]: ${JSON.stringify(url)} is no http or https URL`);
  }
  const prefix = parsed.pathname.replace(/\/+$/, "");
  // workerd's fetch must be called on the global object.
  return { url: parsed.origin + prefix, protocol, fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)) };
}

function lowerCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}
