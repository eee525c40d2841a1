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

/** Room that an envelope gets on its word; a longer one gets twice what has come, so that a lie costs no memory. */
const TRUSTED_BYTES = 131_072;

/** Cuts envelopes out of bytes that come in chunks of any size. */
export class EnvelopeCutter {
  readonly #maxBytes: number;
  readonly #checkFlags: (flags: number) => void;
  /** Prefix of the envelope that is not whole yet, in the first `#prefixLength` bytes. */
  readonly #prefix = new DataView(new ArrayBuffer(PREFIX_BYTES));
  #prefixLength = 0;
  /** What has come of its data, in the first `#length` bytes. */
  #data: Uint8Array = EMPTY;
  #length = 0;

  /**
   * @param maxBytes of the data of one envelope.
   * @param checkFlags throws for flags that no envelope has. It is asked before the length is believed: bytes that are
   *   no envelope, a page of HTML, look like a huge one.
   */
  constructor(maxBytes: number, checkFlags: (flags: number) => void) {
    this.#maxBytes = maxBytes;
    this.#checkFlags = checkFlags;
  }

  /** Bytes that wait for the rest of their envelope. */
  get rest(): number {
    return this.#prefixLength + this.#length;
  }

  /**
   * All envelopes that are whole with this chunk. Their data is theirs to keep.
   *
   * @throws ConnectError resource_exhausted at an envelope that says it is longer than allowed, and what `checkFlags`
   *   throws; the envelopes before it have come out by then.
   */
  *push(chunk: Uint8Array): Generator<Envelope, void> {
    let at = 0;
    if (this.#prefixLength > 0) {
      at = this.#take(chunk, 0);
      if (this.#prefixLength === PREFIX_BYTES && this.#length === this.#prefix.getUint32(1)) {
        yield { flags: this.#prefix.getUint8(0), data: this.#data.subarray(0, this.#length) };
        this.#data = EMPTY;
        this.#length = this.#prefixLength = 0;
      }
    }
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
    /** The chunk is its reader's: what lies in it whole is copied once for all. */
    let own: Uint8Array | undefined;
    while (chunk.length - at >= PREFIX_BYTES) {
      const end = at + PREFIX_BYTES + this.#sizeIn(view, at);
      if (end > chunk.length) break;
      own ??= chunk.slice();
      yield { flags: view.getUint8(at), data: own.subarray(at + PREFIX_BYTES, end) };
      at = end;
    }
    if (at < chunk.length) this.#take(chunk, at);
  }

  #sizeIn(view: DataView, at: number): number {
    this.#checkFlags(view.getUint8(at));
    const size = view.getUint32(at + 1);
    if (size > this.#maxBytes) throw tooLarge(this.#maxBytes);
    return size;
  }

  /** Keeps what belongs to one envelope, from its start or where it was left. @returns where it ends in the chunk. */
  #take(chunk: Uint8Array, at: number): number {
    let end = at;
    for (; this.#prefixLength < PREFIX_BYTES; end++) {
      const byte = chunk[end];
      if (byte === undefined) return end;
      this.#prefix.setUint8(this.#prefixLength++, byte);
    }
    const size = this.#sizeIn(this.#prefix, 0);
    const bytes = chunk.subarray(end, end + size - this.#length);
    const length = this.#length + bytes.length;
    if (length > this.#data.length) {
      const grown = new Uint8Array(Math.min(size, Math.max(2 * length, TRUSTED_BYTES)));
      grown.set(this.#data.subarray(0, this.#length));
      this.#data = grown;
    }
    this.#data.set(bytes, this.#length);
    this.#length = length;
    return end + bytes.length;
  }
}

const EMPTY = new Uint8Array(0);

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
