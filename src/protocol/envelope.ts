/**
 * Envelopes, the frames of Connect's streams, gRPC-Web and gRPC: one byte of flags, four of length (big endian), the
 * data. https://connectrpc.com/docs/protocol#streaming-rpcs, gRPC over HTTP/2 "Length-Prefixed-Message".
 */
import { tooLarge } from "./bytes.ts";

export interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Flag of data that is compressed. */
export const COMPRESSED = 0x01;

const PREFIX_BYTES = 5;

/** Cuts envelopes out of bytes that come in chunks of any size. */
export class EnvelopeCutter {
  readonly #maxBytes: number;
  /** What has come and is no whole envelope yet, in the first `#length` bytes. */
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  /** @param maxBytes of the data of one envelope. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that wait for the rest of their envelope. */
  get rest(): number {
    return this.#length;
  }

  /**
   * All envelopes that are whole with this chunk. Their data is theirs to keep.
   *
   * @throws ConnectError resource_exhausted at an envelope that says it is longer than allowed; those before it have
   *   come out by then.
   */
  *push(chunk: Uint8Array): Generator<Envelope, void> {
    this.#append(chunk);
    const bytes = this.#bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, this.#length);
    let at = 0;
    while (this.#length - at >= PREFIX_BYTES) {
      const size = view.getUint32(at + 1);
      if (size > this.#maxBytes) throw tooLarge(this.#maxBytes);
      const end = at + PREFIX_BYTES + size;
      if (end > this.#length) break;
      yield { flags: view.getUint8(at), data: bytes.subarray(at + PREFIX_BYTES, end) };
      at = end;
    }
    if (at === 0) return;
    this.#bytes = bytes.slice(at, this.#length);
    this.#length -= at;
  }

  /** Doubles when it must: a long message in small chunks is copied a few times, not once for each chunk. */
  #append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(this.#length === 0 ? length : Math.max(length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }
}

/** The envelopes of a batch of messages, in one piece. */
export function formatEnvelopes(messages: readonly Uint8Array[], flags = 0): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const message of messages) length += PREFIX_BYTES + message.length;
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const message of messages) {
    view.setUint8(at, flags);
    view.setUint32(at + 1, message.length);
    bytes.set(message, at + PREFIX_BYTES);
    at += PREFIX_BYTES + message.length;
  }
  return bytes;
}
