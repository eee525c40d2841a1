/** One case of a catalogue file: its form, and reading it. Messages are canonical ProtoJSON throughout. */
import { readFile } from "node:fs/promises";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Case {
  readonly id: string;
  readonly area: string;
  readonly why?: string;
  readonly options?: CaseOptions | null;
  readonly request: CaseRequest | null;
  /** null: the backend must not be called. */
  readonly expect_rpc: ExpectRpc | null;
  readonly upstream: Upstream | null;
  readonly expect_http: ExpectHttp | null;
  readonly template?: TemplateCase;
  readonly rule?: RuleCase;
}

export type CaseOptions = JsonObject;

export interface CaseRequest {
  readonly method: string;
  readonly path: string;
  /** null: absent; a list: sent repeatedly. */
  readonly headers: Readonly<Record<string, string | readonly string[] | null>>;
  readonly body?: string | null;
  readonly body_base64?: string | null;
  readonly envelopes?: readonly Envelope[] | null;
}

export interface Envelope {
  readonly flags?: number;
  readonly text?: string;
  readonly base64?: string;
  readonly message_json?: Json;
  /** A length prefix that lies. */
  readonly declared_length?: number;
  /** Bytes without a prefix. */
  readonly raw_base64?: string;
  /** Expectations only: the payload as JSON, or as trailer lines. */
  readonly json?: Json;
  readonly trailers?: Readonly<Record<string, string>>;
}

export interface ExpectRpc {
  readonly method: string;
  readonly message_json?: Json;
  readonly messages_json?: readonly Json[];
  readonly messages_json_prefix?: readonly Json[];
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly metadata_absent?: readonly string[];
  /** Padded base64 of the bytes. */
  readonly metadata_binary?: Readonly<Record<string, readonly string[]>>;
  readonly metadata_joined?: Readonly<Record<string, string>>;
  readonly metadata_any_of?: readonly Readonly<Record<string, readonly string[]>>[];
  /** null: none. */
  readonly timeout_ms?: number | null;
  readonly may_be_uncalled?: boolean;
  readonly cancelled_or_uncalled?: boolean;
  readonly wire?: ExpectWire;
}

export interface ExpectWire {
  readonly protocol?: Protocol;
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headers_match?: Readonly<Record<string, string>>;
  readonly headers_at_most?: Readonly<Record<string, number>>;
  readonly headers_absent?: readonly string[];
  readonly body_base64?: string | null;
  readonly envelopes?: readonly Envelope[];
}

export type Protocol = "connect" | "grpc-web" | "grpc";

export interface Upstream {
  readonly protocol?: Protocol;
  readonly message_json?: Json;
  readonly message_base64?: string;
  readonly error?: UpstreamError;
  readonly stream?: readonly StreamItem[];
  readonly metadata?: {
    readonly headers?: Readonly<Record<string, readonly string[]>>;
    readonly trailers?: Readonly<Record<string, readonly string[]>>;
  };
  readonly hangs?: boolean;
  readonly unreachable?: boolean;
  readonly after_messages?: number;
  readonly raw?: RawAnswer;
}

export interface UpstreamError {
  readonly code: number;
  readonly message: string;
  readonly details?: readonly JsonObject[];
  readonly details_binary?: readonly { readonly type_url: string; readonly value_base64: string }[];
}

export interface StreamItem {
  readonly message_json?: Json;
  readonly message_base64?: string;
  readonly error?: UpstreamError;
  readonly pause?: boolean;
  readonly hangs?: boolean;
  readonly client_cancels?: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly trailers?: readonly (readonly [string, string])[];
  readonly body_text?: string;
  readonly body_base64?: string;
  readonly envelopes?: readonly Envelope[];
}

export interface ExpectHttp {
  readonly status?: number;
  readonly status_any_of?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly headers_present?: readonly string[];
  readonly headers_absent?: readonly string[];
  readonly headers_contain?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers_lack?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers_list?: Readonly<Record<string, readonly string[]>>;
  readonly headers_any_of?: Readonly<Record<string, readonly string[]>>;
  readonly allow_includes?: readonly string[];
  readonly allow_excludes?: readonly string[];
  readonly body_json?: Json;
  readonly body_json_partial?: Json;
  readonly body_json_any_of?: readonly Json[];
  readonly body_json_invalid?: boolean;
  readonly body_text?: string;
  readonly body_base64?: string;
  readonly body_prefix?: string;
  readonly body_ndjson?: readonly Json[];
  readonly body_ndjson_partial?: readonly Json[];
  readonly body_sse?: readonly JsonObject[];
  readonly envelopes?: readonly Envelope[];
  readonly envelopes_partial?: readonly Envelope[];
  readonly envelopes_base64_text?: readonly Envelope[];
  readonly trailers_anywhere?: Readonly<Record<string, string>>;
  readonly trailers_anywhere_if_200?: Readonly<Record<string, string>>;
  readonly chunks?: readonly string[];
  readonly aborted?: boolean;
  readonly upstream_cancelled?: boolean;
  readonly message_mentions?: readonly string[];
}

export interface TemplateCase {
  readonly text: string;
  readonly valid: boolean;
  readonly segments?: readonly string[];
  readonly verb?: string;
  readonly variables?: readonly { field: string; start: number; end: number; multi: boolean }[];
  readonly warning?: boolean;
}

export interface RuleCase {
  /** `pkg.Service/Method` */
  readonly method: string;
  /** google.api.HttpRule as ProtoJSON. */
  readonly http_rule: Json;
  readonly valid: boolean;
  readonly message_mentions?: readonly string[];
}

/**
 * @returns the cases of a .jsonl file, in order.
 * @throws Error when a line is no JSON object with an id, or an id stands twice.
 */
export async function readCases(file: string): Promise<Case[]> {
  const seen = new Set<string>();
  const cases: Case[] = [];
  for (const [i, line] of (await readFile(file, "utf8")).split("\n").entries()) {
    if (line.trim() === "") continue;
    const test = JSON.parse(line) as Case;
    if (typeof test.id !== "string") throw new Error(`${file}:${i + 1}: a case without id`);
    if (seen.has(test.id)) throw new Error(`${file}:${i + 1}: ${test.id} stands twice`);
    seen.add(test.id);
    cases.push(test);
  }
  return cases;
}
