/** Connect's streams: `application/connect+json` and `application/connect+proto`. */
import type { End } from "../call.ts";
import { checkVersionField, END_STREAM, formatEndStream } from "../protocol/connect.ts";
import { formatEnvelopes } from "../protocol/envelope.ts";
import type { Dialect } from "./enveloped.ts";

export const CONNECT_STREAM_TYPES = ["application/connect+json", "application/connect+proto"] as const;

/** @param essence one of CONNECT_STREAM_TYPES, else there is no dialect. */
export function connectStreamDialect(essence: string): Dialect | undefined {
  const [json, proto] = CONNECT_STREAM_TYPES;
  if (essence !== json && essence !== proto) return undefined;
  return {
    contentType: essence,
    codec: essence === json ? "json" : "proto",
    encodingField: "connect-content-encoding",
    acceptField: "connect-accept-encoding",
    check: ({ headers }) => checkVersionField(headers),
    formatEnd: (end: End) => formatEnvelopes([formatEndStream(end)], END_STREAM),
  };
}
