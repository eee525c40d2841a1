/** The status of a gRPC call as its trailers tell it. grpc/doc/PROTOCOL-HTTP2.md, "Responses". */
import { ConnectError } from "@connectrpc/connect";
import { readRecords } from "../codec/wire-records.ts";
import { parseBase64 } from "../protocol/base64.ts";
import type { WireDetail } from "../protocol/connect.ts";
import { decodeMessage, parseStatus } from "../protocol/grpc-web.ts";

/** Field numbers of google.rpc.Status and google.protobuf.Any. */
const STATUS_DETAILS = 3;
const ANY_TYPE_URL = 1;
const ANY_VALUE = 2;

/** @returns undefined for success. */
export function parseGrpcStatus(trailers: Headers): ConnectError | undefined {
  const code = parseStatus(trailers.get("grpc-status"));
  if (code === undefined) return undefined;
  const error = new ConnectError(decodeMessage(trailers.get("grpc-message") ?? ""), code);
  error.details = parseDetails(trailers.get("grpc-status-details-bin"));
  return error;
}

/** Details that cannot be read are dropped: code and message count. */
function parseDetails(text: string | null): WireDetail[] {
  const status = text === null ? undefined : parseBase64(text);
  if (!status) return [];
  try {
    return [...readRecords(status)].flatMap(({ number, content }) =>
      number === STATUS_DETAILS && content ? [parseAny(content)] : [],
    );
  } catch {
    return [];
  }
}

function parseAny(any: Uint8Array): WireDetail {
  let typeUrl = "";
  let value: Uint8Array = new Uint8Array(0);
  for (const { number, content } of readRecords(any)) {
    if (number === ANY_TYPE_URL && content) typeUrl = new TextDecoder().decode(content);
    if (number === ANY_VALUE && content) value = content;
  }
  return { type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value: value.slice() };
}
