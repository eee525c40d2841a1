/** Which keys the runner understands. A case with another one counts as failed, for its expectation would go unseen. */
import type { Case, Json } from "./case.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const CASE =
  words(`id area basis source schema request expect_rpc upstream expect_http why disagree template options rule
  transport`);
const REQUEST = words("method path headers body body_base64 envelopes");
const RPC = words(`method message_json messages_json messages_json_prefix metadata metadata_absent metadata_binary
  metadata_joined metadata_any_of timeout_ms may_be_uncalled cancelled_or_uncalled wire`);
const WIRE = words(`protocol method path query headers headers_match headers_at_most headers_absent body_base64
  envelopes`);
const UPSTREAM = words(
  `protocol message_json message_base64 error stream metadata hangs unreachable after_messages raw`,
);
const UPSTREAM_ERROR = words("code message details details_binary");
const ITEM = words("message_json message_base64 error pause hangs client_cancels");
const METADATA = words("headers trailers");
const RAW = words("status headers trailers body_text body_base64 envelopes");
const HTTP =
  words(`status status_any_of headers headers_present headers_absent headers_contain headers_lack headers_list
  headers_any_of allow_includes allow_excludes body_json body_json_partial body_json_any_of body_json_invalid body_text
  body_base64 body_prefix body_ndjson body_ndjson_partial body_sse envelopes envelopes_partial envelopes_base64_text
  trailers_anywhere trailers_anywhere_if_200 chunks aborted upstream_cancelled message_mentions`);
const TEMPLATE = words("text valid segments verb variables warning");
const RULE = words("method http_rule valid message_mentions");
const SENT_ENVELOPE = words("flags text base64 message_json declared_length raw_base64");
const SEEN_ENVELOPE = words("flags text base64 message_json json trailers");

/** @returns one line for each key that the runner does not know, `cannot express expect_http.foo`. */
export function unknownKeys(test: Case): string[] {
  const found: string[] = [];
  const check = (where: string, value: unknown, known: ReadonlySet<string>): void => {
    if (value === null || value === undefined) return;
    for (const key of Object.keys(value as { [key: string]: Json })) {
      if (!known.has(key)) found.push(`cannot express ${where}${where ? "." : ""}${key}`);
    }
  };
  const checkAll = (where: string, values: readonly unknown[] | null | undefined, known: ReadonlySet<string>): void => {
    for (const [i, value] of (values ?? []).entries()) check(`${where}[${i}]`, value, known);
  };
  check("", test, CASE);
  check("request", test.request, REQUEST);
  checkAll("request.envelopes", test.request?.envelopes, SENT_ENVELOPE);
  check("expect_rpc", test.expect_rpc, RPC);
  check("expect_rpc.wire", test.expect_rpc?.wire, WIRE);
  checkAll("expect_rpc.wire.envelopes", test.expect_rpc?.wire?.envelopes, SEEN_ENVELOPE);
  check("upstream", test.upstream, UPSTREAM);
  check("upstream.error", test.upstream?.error, UPSTREAM_ERROR);
  checkAll("upstream.stream", test.upstream?.stream, ITEM);
  check("upstream.metadata", test.upstream?.metadata, METADATA);
  check("upstream.raw", test.upstream?.raw, RAW);
  checkAll("upstream.raw.envelopes", test.upstream?.raw?.envelopes, SENT_ENVELOPE);
  check("expect_http", test.expect_http, HTTP);
  for (const key of ["envelopes", "envelopes_partial", "envelopes_base64_text"] as const) {
    checkAll(`expect_http.${key}`, test.expect_http?.[key], SEEN_ENVELOPE);
  }
  check("template", test.template, TEMPLATE);
  check("rule", test.rule, RULE);
  return found;
}
