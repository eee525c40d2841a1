/** What people are told of the plain options: `--help`, and the README's table, which a test holds to it. */
import type { PLAIN_OPTIONS } from "../options.ts";

export interface OptionText {
  /** The default, as people read it. */
  readonly default: string;
  /** One line, without a full stop. */
  readonly about: string;
}

export const OPTION_TEXTS = {
  preset: {
    default: "none",
    about: "several options at once, as that gateway has them; an option that is given counts before its preset",
  },
  services: {
    default: "those of the files named",
    about: "full names or `pkg.*`: what is reachable",
  },
  rpc: {
    default: "annotated",
    about: "which methods RPC callers reach: those with an http rule, all, none",
  },
  onFault: {
    default: "throw",
    about: "faults in http rules: refuse to start, or warn and leave the binding out (`isthmus dev` skips)",
  },
  serviceConfigMode: {
    default: "replace",
    about: "whether rules of the service config replace the annotation of a method or stand beside it",
  },
  unknownFields: {
    default: "error",
    about: "JSON keys and enum names that the schema does not have: 400, or skipped",
  },
  unknownQuery: {
    default: "error",
    about: "query parameters that name no field, or one that path or body hold: 400, or skipped",
  },
  ignoredQuery: {
    default: "none",
    about: "query parameters that are always skipped: `utm_source`",
  },
  systemParams: {
    default: "none",
    about: "system parameters, skipped as well: `$alt`",
  },
  emitDefaults: {
    default: "false",
    about: "write fields without presence although they are zero",
  },
  useProtoFieldName: {
    default: "false",
    about: "`page_size` instead of `pageSize` in answers",
  },
  enumAsInteger: {
    default: "false",
    about: "numbers instead of names in answers",
  },
  int64AsNumber: {
    default: "false",
    about: "64-bit integers as numbers in answers where these are exact, up to ±(2⁵³ − 1); beyond that as strings",
  },
  updateMask: {
    default: "true",
    about: "derive the update mask of a PATCH from the keys of its body",
  },
  forms: {
    default: "false",
    about:
      "REST routes take multipart and urlencoded forms too, which any page can have a browser send; off, they are 415",
  },
  maxUrlBytes: {
    default: "16384",
    about: "bytes of a request's URL: 414 over it; Cloudflare's own limit is as high",
  },
  maxHeaderBytes: {
    default: "131072",
    about: "bytes of the names and values of a request's header: 431 over it; Cloudflare's own limit is as high",
  },
  maxParameters: {
    default: "1000",
    about: "parameters of a query (400 over it), fields of a form (413)",
  },
  maxDepth: {
    default: "100",
    about: "levels of nesting in any message",
  },
  maxJsonBytes: {
    default: "8 × upstreamReadMaxBytes",
    about: "bytes of JSON that one response message may become: 429 over it",
  },
  maxBodyBytes: {
    default: "none",
    about: "a request's body as it comes, also one that streams or passes through: 413 (REST), 429 (RPC)",
  },
  readMaxBytes: {
    default: "4194304",
    about: "one request message: 413 (REST), 429 (Connect); bodies that pass through are not bounded",
  },
  maxCompressionRatio: {
    default: "none",
    about: "how many times its own bytes a compressed body or message of a request may become: 413 (REST), 429 (RPC)",
  },
  upstreamGzip: {
    default: "false",
    about: "backends may compress streams and answers of gRPC-Web; of other answers the runtime says so by itself",
  },
  upstreamReadMaxBytes: {
    default: "readMaxBytes",
    about: "one response message",
  },
  timeoutMs: {
    default: "none",
    about: "longest time for a call; a shorter one of the caller counts",
  },
  streamIdleMs: {
    default: "none",
    about: "a stream on which no message comes or is taken, either way, for so long ends with deadline_exceeded",
  },
  maxStreams: {
    default: "none",
    about: "streams at once in one isolate: 429 over it; goes with `streamIdleMs`",
  },
  connectGet: {
    default: "false",
    about: "call methods without side effects by GET, so that caches can answer",
  },
  compressMinBytes: {
    default: "none",
    about: "answers of at least so many bytes are compressed for callers who accept it; REST streams never",
  },
  ndjsonBare: {
    default: "false",
    about: 'NDJSON lines are the messages themselves, without `{"result": …}` around each',
  },
  sseIds: {
    default: "false",
    about: "number the events of an event stream",
  },
  sseRetryMs: {
    default: "none",
    about: "how long a browser waits before it connects to an event stream again",
  },
  sseHeartbeatMs: {
    default: "none",
    about: "an idle event stream gets a comment this often",
  },
  allowHeaders: {
    default: "all",
    about: "the request headers that become metadata; some never do",
  },
  denyHeaders: {
    default: "none",
    about: "request headers that never become metadata",
  },
  metadataPrefix: {
    default: "none",
    about: "request headers with this prefix become metadata without it: `Grpc-Metadata-`",
  },
  clientIpHeader: {
    default: "none",
    about: "header with the caller's address, appended to `x-forwarded-for`; on Cloudflare `cf-connecting-ip`",
  },
  challenge: {
    default: "Bearer",
    about: "`WWW-Authenticate` of a 401",
  },
} as const satisfies Record<keyof typeof PLAIN_OPTIONS, OptionText>;
