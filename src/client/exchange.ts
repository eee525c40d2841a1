/** What every client protocol makes of one request: a call, and an answer in its own dialect. */
import type { ConnectError } from "@connectrpc/connect";
import type { Body, Reply } from "../call.ts";
import type { Codec } from "../codec/codec.ts";
import type { MetadataRules } from "../protocol/metadata.ts";
import type { Method } from "../schema/model.ts";
import type { FramingOptions } from "./framing.ts";

export interface Exchange {
  readonly method: Method;
  /**
   * Looks at the head alone.
   *
   * @throws ConnectError for what the head refuses: 405, 406, 413, 415, a malformed header.
   */
  open(): Opened;
  /** @throws ConnectError when the reply cannot be shown. */
  respond(reply: Reply): Promise<Response>;
}

export interface Opened {
  /** Metadata for the backend. */
  readonly header: Headers;
  /** Lazy: nothing is read before the upstream asks. */
  readonly body: Body;
}

/** JSON in for a method's input, JSON out for its output. */
export interface MethodCodecs {
  readonly input: Codec;
  readonly output: Codec;
}

/** How an error becomes an answer; known before the request is understood. */
export type FormatFailure = (error: ConnectError) => Response;

/** What the client protocols need of the configuration. */
export interface ClientOptions {
  readonly metadata: MetadataRules;
  readonly readMaxBytes: number;
  /** How many times its own bytes what is compressed may become. Undefined: any. */
  readonly maxCompressionRatio: number | undefined;
  /** Parameters of a query, fields of a form. */
  readonly maxParameters: number;
  /** Whether REST routes take forms. */
  readonly forms: boolean;
  /** Here: what becomes of a field of a form that the schema does not have. */
  readonly unknownFields: "error" | "ignore";
  readonly unknownQuery: "error" | "ignore";
  readonly skippedQuery: ReadonlySet<string>;
  readonly updateMask: boolean;
  readonly maxDepth: number;
  /** Answers of at least so many bytes are compressed for callers who take it. Undefined: none. */
  readonly compressMinBytes: number | undefined;
  readonly framing: FramingOptions;
  /** Origins of pages that may open a WebSocket, besides the gateway's own. */
  readonly socketOrigins: (origin: string) => boolean;
  /** An event stream that is idle gets a comment this often. Undefined: none. */
  readonly sseHeartbeatMs: number | undefined;
}
