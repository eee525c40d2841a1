import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { PLAIN_OPTIONS } from "../src/options.ts";
import { readVariables, variableName } from "../src/variables.ts";
import { failure } from "./failure.ts";

const UPSTREAM = { ISTHMUS_UPSTREAM: "http://backend.example" };
const backends = { "*": { url: "http://backend.example" } };

/** Every plain option by the name of its variable: a text, and the value that it stands for. */
const TEXTS: Readonly<Record<keyof typeof PLAIN_OPTIONS, readonly [name: string, text: string, value: unknown]>> = {
  preset: ["ISTHMUS_PRESET", "envoy", "envoy"],
  services: ["ISTHMUS_SERVICES", "a.B, c.*", ["a.B", "c.*"]],
  rpc: ["ISTHMUS_RPC", "all", "all"],
  onFault: ["ISTHMUS_ON_FAULT", "skip", "skip"],
  serviceConfigMode: ["ISTHMUS_SERVICE_CONFIG_MODE", "add", "add"],
  unknownFields: ["ISTHMUS_UNKNOWN_FIELDS", "ignore", "ignore"],
  unknownQuery: ["ISTHMUS_UNKNOWN_QUERY", "ignore", "ignore"],
  ignoredQuery: ["ISTHMUS_IGNORED_QUERY", "a,b", ["a", "b"]],
  systemParams: ["ISTHMUS_SYSTEM_PARAMS", "$alt", ["$alt"]],
  emitDefaults: ["ISTHMUS_EMIT_DEFAULTS", "true", true],
  useProtoFieldName: ["ISTHMUS_USE_PROTO_FIELD_NAME", "true", true],
  enumAsInteger: ["ISTHMUS_ENUM_AS_INTEGER", "true", true],
  int64AsNumber: ["ISTHMUS_INT64_AS_NUMBER", "true", true],
  forms: ["ISTHMUS_FORMS", "true", true],
  updateMask: ["ISTHMUS_UPDATE_MASK", "false", false],
  maxUrlBytes: ["ISTHMUS_MAX_URL_BYTES", "8000", 8_000],
  maxHeaderBytes: ["ISTHMUS_MAX_HEADER_BYTES", "16000", 16_000],
  maxParameters: ["ISTHMUS_MAX_PARAMETERS", "100", 100],
  maxDepth: ["ISTHMUS_MAX_DEPTH", "50", 50],
  maxJsonBytes: ["ISTHMUS_MAX_JSON_BYTES", "9000", 9_000],
  maxBodyBytes: ["ISTHMUS_MAX_BODY_BYTES", "9000000", 9_000_000],
  readMaxBytes: ["ISTHMUS_READ_MAX_BYTES", "1000", 1_000],
  maxCompressionRatio: ["ISTHMUS_MAX_COMPRESSION_RATIO", "100", 100],
  upstreamReadMaxBytes: ["ISTHMUS_UPSTREAM_READ_MAX_BYTES", "2000", 2_000],
  timeoutMs: ["ISTHMUS_TIMEOUT_MS", "30000", 30_000],
  streamIdleMs: ["ISTHMUS_STREAM_IDLE_MS", "60000", 60_000],
  maxStreams: ["ISTHMUS_MAX_STREAMS", "100", 100],
  upstreamGzip: ["ISTHMUS_UPSTREAM_GZIP", "true", true],
  connectGet: ["ISTHMUS_CONNECT_GET", "true", true],
  compressMinBytes: ["ISTHMUS_COMPRESS_MIN_BYTES", "1024", 1_024],
  ndjsonBare: ["ISTHMUS_NDJSON_BARE", "true", true],
  sseIds: ["ISTHMUS_SSE_IDS", "true", true],
  sseRetryMs: ["ISTHMUS_SSE_RETRY_MS", "3000", 3_000],
  sseHeartbeatMs: ["ISTHMUS_SSE_HEARTBEAT_MS", "15000", 15_000],
  allowHeaders: ["ISTHMUS_ALLOW_HEADERS", "x-a,x-b", ["x-a", "x-b"]],
  denyHeaders: ["ISTHMUS_DENY_HEADERS", "x-a", ["x-a"]],
  metadataPrefix: ["ISTHMUS_METADATA_PREFIX", "Grpc-Metadata-", "Grpc-Metadata-"],
  clientIpHeader: ["ISTHMUS_CLIENT_IP_HEADER", "cf-connecting-ip", "cf-connecting-ip"],
  challenge: ["ISTHMUS_CHALLENGE", 'Bearer realm="a, b"', 'Bearer realm="a, b"'],
};

for (const option of Object.keys(PLAIN_OPTIONS) as (keyof typeof PLAIN_OPTIONS)[]) {
  const [name, text, value] = TEXTS[option];
  test(`${name} is ${option}`, () => {
    expect(variableName(option)).toBe(name);
    expect(readVariables({ ...UPSTREAM, [name]: text })).toEqual({ backends, [option]: value });
    expect(readVariables({ ...UPSTREAM, [name]: "" })).toEqual({ backends });
    // As Wrangler's vars may hold it.
    expect(readVariables({ ...UPSTREAM, [name]: value })).toEqual({ backends, [option]: value });
  });
}

test("what does not begin with ISTHMUS_ is somebody else's", () => {
  expect(readVariables({ ...UPSTREAM, PATH: "/bin", KV: {}, isthmus_rpc: "none" })).toEqual({ backends });
});

test.each(["ISTHMUS_EMIT_DEFAULT", "ISTHMUS_", "ISTHMUS_rpc", "ISTHMUS_SCHEMA"])("%s is no variable", (name) => {
  expect(() => readVariables({ ...UPSTREAM, [name]: "x" })).toThrow(failure(Code.InvalidArgument, name));
});

test.each([
  ["ISTHMUS_EMIT_DEFAULTS", "yes"],
  ["ISTHMUS_EMIT_DEFAULTS", "TRUE"],
  ["ISTHMUS_MAX_DEPTH", "ten"],
  ["ISTHMUS_MAX_DEPTH", "1.5"],
  ["ISTHMUS_MAX_DEPTH", "-1"],
  ["ISTHMUS_PRESET", "apache"],
  ["ISTHMUS_SERVICE_CONFIG", "http: {}"],
  ["ISTHMUS_SERVICE_CONFIG", "[]"],
  ["ISTHMUS_CORS", "https://app.example"],
  ["ISTHMUS_CORS", '["https://app.example"]'],
  ["ISTHMUS_BACKENDS", "{"],
  ["ISTHMUS_BACKENDS", "[]"],
  ["ISTHMUS_BACKENDS", '"http://a.example"'],
  ["ISTHMUS_BACKENDS", "null"],
  ["ISTHMUS_BACKENDS", '{"*":{"url":"http://a.example"}}'],
])("%s cannot be %j", (name, text) => {
  expect(() => readVariables({ ...UPSTREAM, [name]: text })).toThrow(failure(Code.InvalidArgument, name));
});

test("the backends: one for all, with its protocol, or an object", () => {
  expect(readVariables({ ...UPSTREAM, ISTHMUS_UPSTREAM_PROTOCOL: "connect" }).backends).toEqual({
    "*": { url: "http://backend.example", protocol: "connect" },
  });
  const own = { "a.*": { url: "http://a.example" }, "*": { url: "http://b.example" } };
  for (const given of [own, JSON.stringify(own)])
    expect(readVariables({ ISTHMUS_BACKENDS: given }).backends).toEqual(own);
});

test("the service config: an object, or its JSON", () => {
  const serviceConfig = { http: { rules: [{ selector: "a.B.C", get: "/c" }] } };
  for (const given of [serviceConfig, JSON.stringify(serviceConfig)])
    expect(readVariables({ ...UPSTREAM, ISTHMUS_SERVICE_CONFIG: given })).toEqual({ backends, serviceConfig });
  expect(readVariables({ ...UPSTREAM, ISTHMUS_SERVICE_CONFIG: "" })).toEqual({ backends });
});

test("cors: an object, or its JSON", () => {
  const cors = { allowOrigins: ["https://app.example"], allowCredentials: true };
  for (const given of [cors, JSON.stringify(cors)])
    expect(readVariables({ ...UPSTREAM, ISTHMUS_CORS: given })).toEqual({ backends, cors });
  expect(readVariables({ ...UPSTREAM, ISTHMUS_CORS: "" })).toEqual({ backends });
});

test.each([{}, { ISTHMUS_UPSTREAM: "" }])("without any backend, what is missing is named: %j", (env) => {
  expect(() => readVariables(env)).toThrow(failure(Code.InvalidArgument, "ISTHMUS_UPSTREAM"));
});
