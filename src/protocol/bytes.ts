/** Reads whole bodies, bounded. The only file that owns a reader. */
import { Code, ConnectError } from "@connectrpc/connect";

/** Bytes asked of a byte stream at a time. A default reader gets 4 KiB chunks in workerd; BYOB fills what it is given. */
const CHUNK_BYTES = 65_536;

/**
 * All bytes of a body.
 *
 * @param stream null reads as no bytes.
 * @param maxBytes the most that is read; one byte more cancels the stream.
 * @throws ConnectError resource_exhausted over the limit; whatever the stream fails with.
 */
export async function readAll(stream: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  if (!stream) return new Uint8Array(0);
  const { read, cancel } = openReader(stream);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let chunk = await read(); chunk; chunk = await read()) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > maxBytes) {
      await cancel();
      throw tooLarge(maxBytes);
    }
  }
  return concatBytes(chunks, length);
}

/** @returns the error for a message over `readMaxBytes` or `upstreamReadMaxBytes`. */
export function tooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`message is larger than the limit of ${maxBytes} bytes`, Code.ResourceExhausted);
}

interface ChunkReader {
  /** The next bytes, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

function openReader(stream: ReadableStream<Uint8Array>): ChunkReader {
  const byob = byobReader(stream);
  if (byob) {
    return {
      async read() {
        const { done, value } = await byob.read(new Uint8Array(CHUNK_BYTES));
        return done ? undefined : value;
      },
      cancel: () => byob.cancel(),
    };
  }
  const reader = stream.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    cancel: () => reader.cancel(),
  };
}

/** Undefined where the stream is no byte stream, as the body of a Request made in Node. */
function byobReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}

/** @param length the sum of the lengths. */
function concatBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (first && chunks.length === 1) return first;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
