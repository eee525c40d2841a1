/** The text form of gRPC-Web: the frames in base64, each piece that was flushed padded by itself. */
import { type Code, ConnectError } from "@connectrpc/connect";
import { base64, parseBase64 } from "./base64.ts";
import { type Chunks, openChunks } from "./bytes.ts";

/** @param faultCode code of the error when the text is no base64. */
export function openBase64(stream: ReadableStream<Uint8Array>, faultCode: Code): Chunks {
  const text = openChunks(stream);
  /** Characters of a group of four that is not whole yet. */
  let rest = "";
  return {
    cancel: text.cancel,
    async read() {
      for (;;) {
        const chunk = await text.read();
        if (!chunk && rest !== "") throw new ConnectError("the body ends inside its base64", faultCode);
        if (!chunk) return undefined;
        for (const byte of chunk) rest += String.fromCharCode(byte);
        const whole = rest.length - (rest.length % 4);
        if (whole === 0) continue;
        const bytes = decodePieces(rest.slice(0, whole));
        if (!bytes) throw new ConnectError("the body is not base64", faultCode);
        rest = rest.slice(whole);
        return bytes;
      }
    },
  };
}

/** @returns undefined for what is no base64. */
function decodePieces(text: string): Uint8Array | undefined {
  if (!text.slice(0, -2).includes("=")) return parseBase64(text);
  const pieces: number[] = [];
  for (const piece of text.split(/(?<==)(?!=)/)) {
    const bytes = parseBase64(piece);
    if (!bytes) return undefined;
    for (const byte of bytes) pieces.push(byte);
  }
  return Uint8Array.from(pieces);
}

/** One piece, padded. */
export function encodeBase64Piece(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(base64(bytes));
}
