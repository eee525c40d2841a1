/** Bytes that come in pieces, kept until they are whole. */
import { tooLarge } from "../protocol/bytes.ts";

/** The bytes of one text, up to a limit: over it, resource_exhausted. */
export class Pending {
  readonly #maxBytes: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(this.#length === 0 ? length : Math.max(length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** All of it, with its last part; what comes then begins another. */
  take(part: Uint8Array): Uint8Array {
    this.append(part);
    const text = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return text;
  }
}
