/** Reads whole bodies, bounded, and watches those that pass. The only file that owns a reader or an IdentityTransformStream. */
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
  let bytes: Uint8Array = new Uint8Array(0);
  let length = 0;
  for (let chunk = await read(); chunk; chunk = await read()) {
    const end = length + chunk.byteLength;
    if (end > maxBytes) {
      await cancel();
      throw tooLarge(maxBytes);
    }
    if (end > bytes.length) bytes = grow(bytes, Math.min(Math.max(end, 2 * bytes.length), maxBytes));
    bytes.set(chunk, length);
    length = end;
  }
  return bytes.subarray(0, length);
}

/** @returns the error for a message over `readMaxBytes` or `upstreamReadMaxBytes`. */
export function tooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`message is larger than the limit of ${maxBytes} bytes`, Code.ResourceExhausted);
}

/** workerd's own: bytes go through it without waking JavaScript. Node has none, and no cheaper way to see an end. */
const { IdentityTransformStream = TransformStream<Uint8Array, Uint8Array> } = globalThis as {
  readonly IdentityTransformStream?: new () => TransformStream<Uint8Array, Uint8Array>;
};

/**
 * The same bytes, for a body that an abort has to reach after the answer was returned. When workerd hands on a fetched
 * body natively, it ends all else of the call with the return, timers too; in Node a timer stays until it is cleared.
 *
 * @param stream not compressed: workerd would decode it here, and compress it anew behind.
 * @param onEnd told when the body has ended, well or not.
 */
export function watchBody(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  // Why it failed, the readable side tells the caller by a broken transfer.
  stream.pipeTo(writable).then(onEnd, onEnd);
  return readable;
}

interface ChunkReader {
  /** The next bytes, or undefined at the end. They are good until the next read. */
  read(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

function openReader(stream: ReadableStream<Uint8Array>): ChunkReader {
  const byob = byobReader(stream);
  if (byob) {
    // One buffer goes back and forth: with one a read, a body in pieces of a byte would hold 64 KiB for each.
    let buffer = new ArrayBuffer(CHUNK_BYTES);
    return {
      async read() {
        const { done, value } = await byob.read(new Uint8Array(buffer));
        if (done) return undefined;
        buffer = value.buffer;
        return value;
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

function grow(bytes: Uint8Array, length: number): Uint8Array {
  const grown = new Uint8Array(length);
  grown.set(bytes);
  return grown;
}
