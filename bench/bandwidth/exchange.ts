/** One call over a connection of its own, and every byte of it. */
import { Agent, request } from "node:http";
import type { HttpCall } from "../peers/dialect.ts";

export interface Bytes {
  /** Content, as it was on the wire: compressed where it was. */
  readonly bodyUp: number;
  readonly bodyDown: number;
  /** All else: lines and fields of heads, and the framing of chunks. */
  readonly headUp: number;
  readonly headDown: number;
}

export interface Exchanged {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly body: Uint8Array;
  readonly bytes: Bytes;
}

export function exchange(port: number, { method, path, header, body }: HttpCall): Promise<Exchanged> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { ...header, ...(body ? { "content-length": body.length } : {}) };
  return new Promise<Exchanged>((resolve, reject) => {
    const outgoing = request({ agent, host: "127.0.0.1", port, method, path, headers }, (answer) => {
      const { socket } = answer;
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const received = Buffer.concat(chunks);
        const [bodyUp, bodyDown] = [body?.length ?? 0, received.length];
        const bytes = {
          bodyUp,
          bodyDown,
          headUp: socket.bytesWritten - bodyUp,
          headDown: socket.bytesRead - bodyDown,
        };
        resolve({
          status: answer.statusCode ?? 0,
          encoding: answer.headers["content-encoding"],
          body: received,
          bytes,
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  }).finally(() => agent.destroy());
}
