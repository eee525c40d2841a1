/** Follows the envelopes of a gRPC body without keeping any: where one ends, something else may be said. */

const PREFIX_BYTES = 5;

/** In gRPC-Web the bit that makes an envelope the trailers; in gRPC no message has it. */
const TRAILER_FLAG = 0x80;

export class EnvelopeMeter {
  /** Bytes of the current prefix that have come. */
  #prefix = 0;
  /** Bytes of the current message that are still to come; while the prefix comes, its length so far. */
  #left = 0;

  /** True between two envelopes, and before the first. */
  get whole(): boolean {
    return this.#prefix === 0;
  }

  /** @returns false when an envelope begins that a gRPC-Web client would take for the trailers. */
  take(chunk: Uint8Array): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#prefix < PREFIX_BYTES) {
        const byte = chunk[at++] as number;
        if (this.#prefix === 0 && (byte & TRAILER_FLAG) !== 0) return false;
        this.#left = this.#prefix === 0 ? 0 : this.#left * 256 + byte;
        this.#prefix++;
      } else {
        const taken = Math.min(this.#left, chunk.length - at);
        at += taken;
        this.#left -= taken;
      }
      if (this.#prefix === PREFIX_BYTES && this.#left === 0) this.#prefix = 0;
    }
    return true;
  }
}
