/** Reads bodies whole or in chunks, writes them, and watches those that pass. The only file that owns readers and writers. */
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
  const { read, cancel } = openChunks(stream);
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
export function tooLarge(maxBytes: number, what = "message"): ConnectError {
  return new ConnectError(`${what} is larger than the limit of ${maxBytes} bytes`, Code.ResourceExhausted);
}

/** workerd's own: bytes go through it without waking JavaScript. Node has none, and no cheaper way to see an end. */
const { IdentityTransformStream = TransformStream<Uint8Array, Uint8Array> } = globalThis as {
  readonly IdentityTransformStream?: new () => TransformStream<Uint8Array, Uint8Array>;
};

const HAS_IDENTITY_STREAM = "IdentityTransformStream" in globalThis;

/**
 * The same bytes, for a body that an abort has to reach after the answer was returned. When workerd hands on a fetched
 * body natively, it ends all else of the call with the return, timers too; in Node a timer stays until it is cleared.
 *
 * @param stream none that the runtime knows to be compressed: workerd would decode it here.
 * @param onEnd told when the body has ended, well or not.
 */
export function watchBody(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  // Why it failed, the readable side tells the caller by a broken transfer.
  stream.pipeTo(writable).then(onEnd, onEnd);
  return readable;
}

/** A body as it arrives. */
export interface Chunks {
  /** The next bytes, or undefined at the end. They are good until the next read. Rejects when the body breaks off. */
  read(): Promise<Uint8Array | undefined>;
  /** The rest is not wanted. A pending read then comes to its end, which in workerd is an error. Never rejects. */
  cancel(): Promise<void>;
}

/** Locks the stream; nothing is read yet. */
export function openChunks(stream: ReadableStream<Uint8Array>): Chunks {
  const byob = byobReader(stream);
  if (byob) {
    // One buffer goes back and forth: with one a read, a body in pieces of a byte would hold 64 KiB for each.
    let buffer: ArrayBuffer | undefined;
    return {
      async read() {
        const { done, value } = await byob.read(new Uint8Array(buffer ?? new ArrayBuffer(CHUNK_BYTES)));
        if (done) return undefined;
        buffer = value.buffer;
        return value;
      },
      cancel: () => byob.cancel().catch(ignore),
    };
  }
  const reader = stream.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    cancel: () => reader.cancel().catch(ignore),
  };
}

/**
 * The same bytes, each chunk looked at on its way.
 *
 * @param look what it throws breaks the stream, and cancels where the bytes come from.
 */
export function watchChunks(
  stream: ReadableStream<Uint8Array>,
  look: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  const { read, cancel } = openChunks(stream);
  return streamOf({
    async next() {
      const chunk = await read();
      try {
        if (chunk) look(chunk.length);
      } catch (error) {
        await cancel();
        throw error;
      }
      // Its memory is used anew for the next.
      return chunk?.slice();
    },
    cancel,
  });
}

/** A body that nobody wants. Never rejects; one that is being read is left to its reader. */
export async function discard(stream: ReadableStream<Uint8Array> | null): Promise<void> {
  await stream?.cancel().catch(ignore);
}

/** What broke is broken already, and who cancels asks for no more than that. */
function ignore(): void {}

/** What a body is written from, chunk by chunk, as fast as it is read and no faster. */
export interface ChunkSource {
  /** The next bytes, which may be none; undefined: the body ends well. Rejects: the transfer has to break, so that nobody takes it for whole. */
  next(): Promise<Uint8Array | undefined>;
  /** Whoever reads the body has left. In workerd that shows at the next write. Not called after the end. */
  cancel(): unknown;
}

/** A body that is pulled from a source as fast as it is read. */
export function streamOf(source: ChunkSource): ReadableStream<Uint8Array> {
  return HAS_IDENTITY_STREAM ? writtenStream(source) : pulledStream(source);
}

/**
 * How long chunks are gathered after a write, for each write is one to the caller's socket: a stream of 10,000 messages of
 * 1 kB costs 0.41 of the CPU that it costs with a write for each. The first chunk after a pause is written at once.
 */
const GATHER_MS = 1;

/** In workerd: a native stream, which costs half of one that JavaScript serves. */
function writtenStream(source: ChunkSource): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  let isOpen = true;
  const leave = () => {
    if (isOpen) source.cancel();
    isOpen = false;
  };
  writer.closed.catch(leave);
  let gathered: Uint8Array[] = [];
  let length = 0;
  let written = Promise.resolve();
  /** Writes what is gathered when the write before is done. @returns when it was taken. */
  const flush = () => {
    written = written.then(() => {
      const chunks = gathered;
      gathered = [];
      length = 0;
      return chunks.length > 0 ? writer.write(concat(chunks)) : undefined;
    });
    return written;
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** From a write until so long after it that nothing was gathered. */
  let isResting = false;
  const rest = () => {
    isResting = true;
    timer = setTimeout(() => {
      if (length > 0) flush().then(rest, leave);
      else isResting = false;
    }, GATHER_MS);
  };
  const pump = async () => {
    try {
      for (let chunk = await source.next(); chunk && isOpen; chunk = await source.next()) {
        if (chunk.length === 0) continue;
        gathered.push(chunk);
        length += chunk.length;
        if (!isResting) rest();
        else if (length < CHUNK_BYTES) continue;
        await flush();
      }
      if (!isOpen) return;
      await flush();
      isOpen = false;
      await writer.close();
    } catch (error) {
      leave();
      await flush().catch(ignore);
      await nextTask();
      await writer.abort(error);
    } finally {
      clearTimeout(timer);
    }
  };
  pump().catch(ignore);
  return readable;
}

function pulledStream(source: ChunkSource): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let chunk = await source.next();
          while (chunk?.length === 0) chunk = await source.next();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        } catch (error) {
          await nextTask();
          throw error;
        }
      },
      async cancel() {
        await source.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Without a task between the last write and the break, the runtime drops the whole answer, its head included. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
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

/** All parts in one piece; a single part as it is. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
