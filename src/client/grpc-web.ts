/**
 * gRPC-Web, binary and text, protobuf and JSON. Native gRPC comes so too where the platform's edge converts it.
 * grpc/doc/PROTOCOL-WEB.md of grpc/grpc.
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import type { End } from "../call.ts";
import * as WireType from "../codec/wire-type.ts";
import { WireWriter } from "../codec/wire-writer.ts";
import { unpaddedBase64 } from "../protocol/base64.ts";
import { encodeBase64Piece, openBase64 } from "../protocol/base64-stream.ts";
import { type WireDetail, wireDetails } from "../protocol/connect.ts";
import { formatEnvelopes } from "../protocol/envelope.ts";
import { encodeMessage, TRAILER } from "../protocol/grpc-web.ts";
import { metadataLines } from "../protocol/metadata.ts";
import type { Dialect } from "./enveloped.ts";

const TYPE = /^application\/grpc-web(-text)?(?:\+(proto|json))?$/;

/** @returns undefined for a type that is none of gRPC-Web's. */
export function grpcWebDialect(essence: string): Dialect | undefined {
  const [match, text, codec = "proto"] = TYPE.exec(essence) ?? [];
  if (match === undefined) return undefined;
  return {
    contentType: essence,
    codec: codec === "json" ? "json" : "proto",
    encodingField: "grpc-encoding",
    acceptField: "grpc-accept-encoding",
    formatEnd: (end) => formatEnvelopes([new TextEncoder().encode(formatTrailers(end))], TRAILER),
    ...(text && { open: (stream) => openBase64(stream, Code.InvalidArgument), encode: encodeBase64Piece }),
  };
}

function formatTrailers({ error, trailer }: End): string {
  const details = error ? wireDetails(error) : [];
  const lines = [
    `grpc-status:${error?.code ?? 0}`,
    ...(error?.rawMessage ? [`grpc-message:${encodeMessage(error.rawMessage)}`] : []),
    ...(error && details.length > 0 ? [`grpc-status-details-bin:${unpaddedBase64(formatStatus(error, details))}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n${metadataLines(trailer)}`;
}

/** A google.rpc.Status. */
function formatStatus(error: ConnectError, details: readonly WireDetail[]): Uint8Array {
  const wire = new WireWriter();
  wire.tag(1, WireType.VARINT);
  wire.varint(error.code);
  if (error.rawMessage) {
    wire.tag(2, WireType.LEN);
    wire.string(error.rawMessage);
  }
  for (const { type, value } of details) {
    const any = new WireWriter();
    any.tag(1, WireType.LEN);
    any.string(`type.googleapis.com/${type}`);
    any.tag(2, WireType.LEN);
    any.bytes(value);
    wire.tag(3, WireType.LEN);
    wire.bytes(any.finish());
  }
  return wire.finish();
}
