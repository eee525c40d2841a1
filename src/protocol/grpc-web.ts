/**
 * gRPC-Web's formats, shared with gRPC: content types, trailers, status and message, timeout.
 * grpc/doc/PROTOCOL-WEB.md and PROTOCOL-HTTP2.md of grpc/grpc.
 */
import { Code } from "@connectrpc/connect";
import { isCode } from "./status.ts";

/** Flag of the frame that holds the trailers and ends the stream. */
export const TRAILER = 0x80;

/** Text of `grpc-message`, percent-decoded; an escape that is none stays as it is. */
export function decodeMessage(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text.replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
  } catch {
    return text;
  }
}

/** `grpc-message`: UTF-8, percent-encoded but for printable ASCII other than "%". A space at an end is lost in HTTP. */
export function encodeMessage(message: string): string {
  return message.toWellFormed().replace(/^ | $|[^\x20-\x24\x26-\x7e]+/g, (run) => {
    let escaped = "";
    for (const byte of new TextEncoder().encode(run)) escaped += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    return escaped;
  });
}

/** @returns undefined for success; unknown for what is no code, a missing one included. */
export function parseStatus(text: string | null): Code | undefined {
  const number = text !== null && /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number === 0) return undefined;
  return isCode(number) ? number : Code.Unknown;
}

/** Lines of HTTP/1 in a frame. Lines that are no field, and names or values that cannot be one, are left out. */
export function parseTrailers(data: Uint8Array): Headers {
  const trailers = new Headers();
  for (const line of new TextDecoder().decode(data).split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    try {
      trailers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    } catch {}
  }
  return trailers;
}

/** `grpc-timeout`: at most eight digits, so a long one takes a coarser unit, rounded up. */
export function formatTimeout(timeoutMs: number): string {
  const MAX = 99_999_999;
  for (const [unit, unitMs] of [
    ["m", 1],
    ["S", 1_000],
    ["M", 60_000],
  ] as const) {
    if (timeoutMs <= MAX * unitMs) return `${Math.ceil(timeoutMs / unitMs)}${unit}`;
  }
  return `${Math.min(MAX, Math.ceil(timeoutMs / 3_600_000))}H`;
}
