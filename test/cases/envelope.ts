/** Envelopes of Connect and gRPC: a flags byte, a length in four bytes, the payload. The runner's own, apart from src. */
import type { Envelope } from "./case.ts";

export interface Frame {
  readonly flags: number;
  readonly data: Buffer;
}

/** The bytes of an envelope as a case writes it, lies included. */
export function formatEnvelope(envelope: Envelope): Buffer {
  if (envelope.raw_base64 !== undefined) return Buffer.from(envelope.raw_base64, "base64");
  const data =
    envelope.base64 !== undefined ? Buffer.from(envelope.base64, "base64") : Buffer.from(envelope.text ?? "");
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(envelope.flags ?? 0, 0);
  prefix.writeUInt32BE(envelope.declared_length ?? data.length, 1);
  return Buffer.concat([prefix, data]);
}

/** @returns the whole frames, and what is left over behind them. */
export function splitFrames(bytes: Uint8Array): { readonly frames: Frame[]; readonly rest: Buffer } {
  const buffer = Buffer.from(bytes);
  const frames: Frame[] = [];
  let at = 0;
  while (at + 5 <= buffer.length) {
    const end = at + 5 + buffer.readUInt32BE(at + 1);
    if (end > buffer.length) break;
    frames.push({ flags: buffer.readUInt8(at), data: buffer.subarray(at + 5, end) });
    at = end;
  }
  return { frames, rest: buffer.subarray(at) };
}

/** `grpc-status: 5` lines, as a trailers frame of gRPC-Web holds them. Names in lower case. */
export function parseTrailerLines(text: string): Record<string, string> {
  const trailers: Record<string, string> = Object.create(null);
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) trailers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return trailers;
}
