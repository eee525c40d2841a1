/** From the options of a case to the gateway that it speaks to. */
import type { Case, Json, JsonObject, Protocol } from "./case.ts";

/** Base urls of the backends, without a slash at the end. */
export interface Origins {
  readonly http1: string;
  /** The bridge in front of the backend's gRPC. */
  readonly grpc: string;
  /** Nothing listens there. */
  readonly closed: string;
}

/** A gateway that some cases share. */
export interface Target {
  /** Equal options, equal key. */
  readonly key: string;
  /** createGateway's options, but for the schema. */
  readonly options: JsonObject;
}

/** How the runner itself behaves for a case. */
export interface Delivery {
  /** The request body goes out chunked, without Content-Length. */
  readonly bodyAsStream: boolean;
  /** The backend cuts its answer into writes of so many bytes. */
  readonly upstreamChunkBytes?: number;
}

const GATEWAY_NAMES: ReadonlyMap<string, string> = new Map([
  ["unknown_query", "unknownQuery"],
  ["ignored_query", "ignoredQuery"],
  ["system_params", "systemParams"],
  ["emit_defaults", "emitDefaults"],
  ["enums_as_ints", "enumAsInteger"],
  ["proto_field_names", "useProtoFieldName"],
  ["max_request_bytes", "readMaxBytes"],
  ["max_response_bytes", "upstreamReadMaxBytes"],
  ["connect_get", "connectGet"],
  ["client_ip_header", "clientIpHeader"],
  ["preset", "preset"],
  ["forms", "forms"],
  ["ndjson_bare", "ndjsonBare"],
  ["sse_ids", "sseIds"],
  ["sse_retry_ms", "sseRetryMs"],
  ["sse_heartbeat_ms", "sseHeartbeatMs"],
  ["compress_min_bytes", "compressMinBytes"],
]);

const CORS_NAMES: ReadonlyMap<string, string> = new Map([
  ["allow_origins", "allowOrigins"],
  ["allow_credentials", "allowCredentials"],
  ["expose_headers", "exposeHeaders"],
  ["allow_headers", "allowHeaders"],
  ["max_age_s", "maxAgeS"],
]);

/** Read elsewhere: by `delivery`, and for the backend's url. */
const OTHER_NAMES: ReadonlySet<string> = new Set(["body_as_stream", "upstream_chunk_bytes", "upstream_url"]);

/** @throws Error `cannot express options.x` for an option that the runner does not know. */
export function targetOf(test: Case, origins: Origins): Target {
  const protocol = protocolOf(test);
  const options: JsonObject = { rpc: "all", backends: { "*": { url: backendUrl(test, protocol, origins), protocol } } };
  for (const [name, value] of Object.entries(test.options ?? {})) {
    const known = GATEWAY_NAMES.get(name);
    if (known) options[known] = value;
    else if (name === "ignore_unknown_fields") options.unknownFields = value ? "ignore" : "error";
    else if (name === "cors") options.cors = renameCors(value);
    else if (!OTHER_NAMES.has(name)) throw new Error(`cannot express options.${name}`);
  }
  return { key: JSON.stringify(options), options };
}

export function deliveryOf(test: Case): Delivery {
  const chunk = test.options?.upstream_chunk_bytes;
  return {
    bodyAsStream: test.options?.body_as_stream === true,
    ...(typeof chunk === "number" ? { upstreamChunkBytes: chunk } : {}),
  };
}

/** The path of the backend's url, without a slash at the end. */
export function prefixOf(test: Case): string {
  const url = test.options?.upstream_url;
  return typeof url === "string" ? new URL(url).pathname.replace(/\/$/, "") : "";
}

function protocolOf(test: Case): Protocol {
  return test.upstream?.protocol ?? test.expect_rpc?.wire?.protocol ?? "connect";
}

function backendUrl(test: Case, protocol: Protocol, origins: Origins): string {
  if (test.upstream?.unreachable) return origins.closed;
  const origin = protocol === "grpc" ? origins.grpc : origins.http1;
  const url = test.options?.upstream_url;
  return typeof url === "string" ? origin + new URL(url).pathname : origin;
}

function renameCors(value: Json): Json {
  const renamed: JsonObject = {};
  for (const [name, setting] of Object.entries(value as JsonObject)) {
    const known = CORS_NAMES.get(name);
    if (!known) throw new Error(`cannot express options.cors.${name}`);
    renamed[known] = setting;
  }
  return renamed;
}
