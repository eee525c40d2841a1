/** What a call failed with when the backend did not say so itself, as gRPC's specification maps it. */
import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeOfStatus } from "../protocol/status.ts";
import { isGrpcType } from "./bridge-header.ts";
import type { Unreachable } from "./unreachable.ts";

/** RFC 9113 §7, by number. */
const RESETS = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
] as const;

/** PROTOCOL-HTTP2, "Errors"; every other one is INTERNAL. */
const CODE_OF_RESET: ReadonlyMap<string, Code> = new Map<(typeof RESETS)[number], Code>([
  ["REFUSED_STREAM", Code.Unavailable],
  ["CANCEL", Code.Canceled],
  ["ENHANCE_YOUR_CALM", Code.ResourceExhausted],
  ["INADEQUATE_SECURITY", Code.PermissionDenied],
]);

/** @param rstCode of RST_STREAM. */
export function resetName(rstCode: number): string {
  return RESETS[rstCode] ?? String(rstCode);
}

/** @param isLate the deadline has passed. Some servers then cancel the stream, and leave it to their clients to know why. */
export function failureOfReset(rstCode: number, isLate: boolean): ConnectError {
  const name = resetName(rstCode);
  if (isLate && name === "CANCEL") return new ConnectError("the deadline has passed", Code.DeadlineExceeded);
  return new ConnectError(`the backend reset the stream: ${name}`, CODE_OF_RESET.get(name) ?? Code.Internal);
}

export function failureOfConnection(): ConnectError {
  return new ConnectError("the connection to the backend was lost", Code.Unavailable);
}

export function failureOfConnecting({ message }: Unreachable): ConnectError {
  return new ConnectError(`the backend cannot be reached: ${message}`, Code.Unavailable);
}

/** @param error of an HTTP/2 session that takes no such request. */
export function failureOfRequest(error: unknown): ConnectError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectError(`the request cannot go over HTTP/2: ${reason}`, Code.Internal);
}

export function missingTrailers(): ConnectError {
  return new ConnectError("the backend ended its answer without trailers", Code.Internal);
}

export function brokenEnvelope(): ConnectError {
  return new ConnectError("the backend sent an envelope that is not one of gRPC", Code.Internal);
}

/** @returns what is wrong with an answer that is none of gRPC; undefined when it is one (http-grpc-status-mapping). */
export function failureOfHeader(header: IncomingHttpHeaders & IncomingHttpStatusHeader): ConnectError | undefined {
  const { ":status": status = 0, "content-type": type } = header;
  // Who knows the status, means it: whatever a proxy did to HTTP's.
  if (isGrpcType(type) && (status === 200 || header["grpc-status"] !== undefined)) return undefined;
  const answer = `HTTP ${status}, content type ${type ?? "none"}`;
  return new ConnectError(`the backend does not answer in gRPC: ${answer}`, codeOfStatus(status));
}
