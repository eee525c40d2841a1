/** What can be set: the options of a gateway, the table of those that are plain values, and presets of them. */
import type { HttpFilter, Policy } from "./call.ts";
import type { CorsOptions } from "./filter/cors.ts";
import type { SchemaSource } from "./schema/read.ts";
import type { ServiceConfig } from "./schema/service-config.ts";

export interface GatewayOptions {
  /**
   * Bytes that `isthmus compile` has written; bytes of a google.protobuf.FileDescriptorSet with its imports
   * (`buf build -o set.binpb`); or files that @bufbuild/protobuf has generated (`file_pkg_service`).
   */
  readonly schema: SchemaSource;
  /** Where the services are: full name, `pkg.*` or `*` → backend. The most specific entry counts. */
  readonly backends: Readonly<Record<string, Backend>>;
  /**
   * Several options at once, as another gateway has them: `PRESETS` says which. An option that is given counts before
   * its preset. Default none.
   */
  readonly preset?: keyof typeof PRESETS;
  /** A google.api.Service, parsed: http rules by selector (`http.rules`). Default none. */
  readonly serviceConfig?: ServiceConfig;
  /** What a rule of the service config does with the annotation of a method: replace it, or stand beside it. Default "replace". */
  readonly serviceConfigMode?: "replace" | "add";
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
  /** Write 64-bit integers as numbers where these are exact, up to ±(2⁵³ − 1). Default false: strings. */
  readonly int64AsNumber?: boolean;
  /** PATCH: fill the request's one FieldMask from the keys of the body. Default true. */
  readonly updateMask?: boolean;
  /** Levels of nesting in any message. Default 100. */
  readonly maxDepth?: number;
  /**
   * Bytes of JSON that one response message may become, which are many more than its own with `emitDefaults`. Default:
   * 8 × upstreamReadMaxBytes.
   */
  readonly maxJsonBytes?: number;

  /**
   * REST routes take forms, `multipart/form-data` and `application/x-www-form-urlencoded`, too. Pages of any origin can
   * send those without asking (CORS has no preflight for them). Default false: 415.
   */
  readonly forms?: boolean;

  /** Bytes of a request's URL, scheme and host included: 414 over it. Default 16 KiB, which is Cloudflare's own limit. */
  readonly maxUrlBytes?: number;
  /** Bytes of all names and values of a request's header: 431 over it. Default 128 KiB, which is Cloudflare's own limit. */
  readonly maxHeaderBytes?: number;
  /** Parameters of a query (400 over it), and fields of a form (413), empty ones too. Default 1000. */
  readonly maxParameters?: number;
  /**
   * Bytes of a request's body as it comes, also of one that streams or passes through: 413, 429 to RPC callers. Bodies in
   * chunks then do not pass through. Default none: Cloudflare's own limit is that of the plan.
   */
  readonly maxBodyBytes?: number;
  /** Bytes of one request message. Default 4 MiB. Bodies that pass through are not bounded. */
  readonly readMaxBytes?: number;
  /**
   * How many times its own bytes a compressed body or message of a request may become: 413, resource_exhausted to RPC
   * callers. Default none: what one message becomes, readMaxBytes bounds.
   */
  readonly maxCompressionRatio?: number;
  /** Bytes of one response message. Default: readMaxBytes. */
  readonly upstreamReadMaxBytes?: number;
  /** Longest time for a call in milliseconds; a shorter one of the caller counts. Default none. */
  readonly timeoutMs?: number;
  /**
   * A stream on which no message comes or is taken, either way, for so many milliseconds ends with deadline_exceeded.
   * Streams then do not pass through. Default none.
   */
  readonly streamIdleMs?: number;
  /**
   * Streams at once in one isolate; one more is resource_exhausted. Goes with streamIdleMs only: where the runtime does
   * not tell that a caller has left, its streams count until they would have been idle. Default none.
   */
  readonly maxStreams?: number;
  /** Backends may compress streams and answers of gRPC-Web: fewer bytes on a long way, more work here. Default false. */
  readonly upstreamGzip?: boolean;
  /** Call methods without side effects by Connect GET. Default false. */
  readonly connectGet?: boolean;

  /**
   * Answers, and messages of Connect and gRPC-Web, of at least so many bytes are compressed for callers who accept it;
   * REST streams never, which leave message by message. Default: none, since Cloudflare's edge and most proxies do it.
   */
  readonly compressMinBytes?: number;

  /** NDJSON lines are the messages themselves, and a failure is told by `{"error": …}` all the same. Default false: `{"result": …}`. */
  readonly ndjsonBare?: boolean;
  /** Number the events of an event stream. Default false. */
  readonly sseIds?: boolean;
  /** How long a browser waits before it connects to an event stream again, in milliseconds. Default: its own choice. */
  readonly sseRetryMs?: number;
  /** An event stream that is idle gets a comment this often, in milliseconds, once the backend has begun its answer. Default: none. */
  readonly sseHeartbeatMs?: number;

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
  /** Which scripts of other origins may call, and read the answers. Default none: no answer speaks of CORS. */
  readonly cors?: CorsOptions;

  /** The inner onion, outermost first. Default none. */
  readonly policies?: readonly Policy[];
  /** The outer onion, outermost first. Default none. */
  readonly filters?: readonly HttpFilter[];
}

/** The options of a gateway that knows schema images only. */
export interface ImageGatewayOptions extends GatewayOptions {
  /** Bytes that `isthmus compile` has written. */
  readonly schema: Uint8Array | ArrayBuffer;
}

export interface Backend {
  /** http or https; a path prefix is kept. */
  readonly url: string;
  /**
   * Default "connect". "grpc" means gRPC-Web that Cloudflare's edge, or else `isthmus bridge`, turns into gRPC: a Worker
   * has no trailers of HTTP/2.
   */
  readonly protocol?: "connect" | "grpc-web" | "grpc";
  /** How to reach it. Default: the global fetch. A service binding's fetch, a test's own. */
  readonly fetch?: typeof fetch;
}

export type OptionKind = "flag" | "count" | "text" | "name" | "list" | readonly string[];

/**
 * The options that are plain values, and what each may be. By one rule each is also a variable of the Worker and of the
 * environment, and a flag of the command line: `emitDefaults` is `ISTHMUS_EMIT_DEFAULTS` and `--emit-defaults`. What
 * people are told of them stands in `cli/option-texts.ts`, which a Worker need not carry.
 */
export const PLAIN_OPTIONS = {
  preset: ["grpc-gateway", "envoy"],
  services: "list",
  rpc: ["annotated", "all", "none"],
  onFault: ["throw", "skip"],
  serviceConfigMode: ["replace", "add"],
  unknownFields: ["error", "ignore"],
  unknownQuery: ["error", "ignore"],
  ignoredQuery: "list",
  systemParams: "list",
  emitDefaults: "flag",
  useProtoFieldName: "flag",
  enumAsInteger: "flag",
  int64AsNumber: "flag",
  updateMask: "flag",
  forms: "flag",
  maxUrlBytes: "count",
  maxHeaderBytes: "count",
  maxParameters: "count",
  maxDepth: "count",
  maxJsonBytes: "count",
  maxBodyBytes: "count",
  readMaxBytes: "count",
  maxCompressionRatio: "count",
  upstreamReadMaxBytes: "count",
  upstreamGzip: "flag",
  timeoutMs: "count",
  streamIdleMs: "count",
  maxStreams: "count",
  connectGet: "flag",
  compressMinBytes: "count",
  ndjsonBare: "flag",
  sseIds: "flag",
  sseRetryMs: "count",
  sseHeartbeatMs: "count",
  allowHeaders: "list",
  denyHeaders: "list",
  metadataPrefix: "name",
  clientIpHeader: "name",
  challenge: "text",
} as const satisfies Partial<Record<keyof GatewayOptions, OptionKind>>;

/** What each preset sets, and nothing else. */
export const PRESETS = {
  /** As protoc-gen-grpc-gateway's runtime: protojson with EmitUnpopulated and DiscardUnknown, and its header prefix. */
  "grpc-gateway": {
    emitDefaults: true,
    unknownFields: "ignore",
    unknownQuery: "ignore",
    metadataPrefix: "Grpc-Metadata-",
  },
  /** As the grpc_json_transcoder filter: unknown JSON fields are skipped, zero values omitted. */
  envoy: { emitDefaults: false, unknownFields: "ignore", unknownQuery: "ignore" },
} as const satisfies Record<string, Partial<GatewayOptions>>;

/** Texts stand in headers, where a line break or a wide character would fail every call. */
const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A field name, or the beginning of one (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** @returns what the value should have been, to follow "is not"; undefined when it is that. */
export function describeMismatch(kind: OptionKind, value: unknown): string | undefined {
  if (kind === "flag") return typeof value === "boolean" ? undefined : "true or false";
  if (kind === "count") return Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a positive whole number";
  if (kind === "text") return typeof value === "string" && HEADER_TEXT.test(value) ? undefined : "a text for a header";
  if (kind === "name") return typeof value === "string" && HEADER_NAME.test(value) ? undefined : "a header name";
  if (kind === "list") return isTextList(value) ? undefined : "a list of texts";
  return kind.some((choice) => choice === value) ? undefined : `one of ${kind.join(", ")}`;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** @returns the value that the text stands for; the text itself when it stands for none (`describeMismatch` says so). */
export function parseOption(kind: OptionKind, text: string): unknown {
  if (kind === "flag") return text === "true" || (text === "false" ? false : text);
  if (kind === "count") return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
  if (kind === "list") return text.split(",").map((item) => item.trim());
  return text;
}
