/** JSON text (RFC 8259) as UTF-8, without white space. */
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./ascii.ts";
import { jsonTooLarge } from "./error.ts";
import { sequenceEnd, utf8 } from "./utf8.ts";

/** Up to this length plain ASCII is written faster byte by byte than by a TextEncoder. */
const SHORT = 64;

/** The member name with its colon, ready for `key`. */
export function formatKey(name: string): Uint8Array {
  return utf8.encode(`${JSON.stringify(name)}:`);
}

/** A growing buffer. The caller sees to it that what it writes is well-formed as a whole; commas come by themselves. */
export class JsonWriter {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(256);
  #length = 0;

  /** @param maxBytes over it, whatever is written or finished throws ConnectError resource_exhausted. */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes written so far: a mark for `truncate`. */
  get length(): number {
    return this.#length;
  }

  /** Forgets what was written after the mark. */
  truncate(length: number): void {
    this.#length = length;
  }

  openObject(): void {
    this.#byte(OPEN_BRACE);
  }

  closeObject(): void {
    this.#byte(CLOSE_BRACE);
  }

  openArray(): void {
    this.#byte(OPEN_BRACKET);
  }

  closeArray(): void {
    this.#byte(CLOSE_BRACKET);
  }

  /** Begins a member: a comma, when it is not the first, and its key. */
  key(key: Uint8Array): void {
    this.element();
    this.raw(key);
  }

  /** Begins an element of an array: a comma, when it is not the first. */
  element(): void {
    const last = this.#bytes[this.#length - 1];
    // No value ends in an opening bracket: these stand at the end only when nothing has followed yet.
    if (last !== OPEN_BRACE && last !== OPEN_BRACKET) this.#byte(COMMA);
  }

  /** JSON as it is, of ASCII characters only: `true`, `null`, `12`, `"12"`. */
  ascii(text: string): void {
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  /** Well-formed text as a JSON string. */
  string(text: string): void {
    if (text.length > SHORT || !this.#shortPlain(text)) this.raw(utf8.encode(JSON.stringify(text)));
  }

  /**
   * bytes[start…end) as a JSON string.
   *
   * @returns false, with nothing written, when they are not UTF-8 (Unicode §3.9, table 3-7).
   */
  utf8(bytes: Uint8Array, start: number, end: number): boolean {
    const mark = this.#length;
    this.#byte(QUOTE);
    let copied = start;
    let at = start;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte >= 0x80) {
        const next = sequenceEnd(bytes, at, end);
        if (next === undefined) {
          this.#length = mark;
          return false;
        }
        at = next;
      } else if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) {
        this.raw(bytes.subarray(copied, at));
        this.ascii(escapes[byte] as string);
        copied = ++at;
      } else {
        at++;
      }
    }
    this.raw(bytes.subarray(copied, end));
    this.#byte(QUOTE);
    return true;
  }

  /** A copy of all that was written. */
  finish(): Uint8Array {
    if (this.#length > this.#maxBytes) throw jsonTooLarge(this.#maxBytes);
    return this.#bytes.slice(0, this.#length);
  }

  /** @returns false, with nothing written, when a character is not ASCII or has to be escaped. */
  #shortPlain(text: string): boolean {
    this.#reserve(text.length + 2);
    let at = this.#length;
    this.#bytes[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code >= 0x80 || code === QUOTE || code === BACKSLASH) return false;
      this.#bytes[at++] = code;
    }
    this.#bytes[at++] = QUOTE;
    this.#length = at;
    return true;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** JSON as it is. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    if (this.#length > this.#maxBytes) throw jsonTooLarge(this.#maxBytes);
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** By character code: what a quote, a backslash and the control characters look like in a string. */
const escapes: readonly string[] = Array.from({ length: BACKSLASH + 1 }, (_, code) =>
  JSON.stringify(String.fromCharCode(code)).slice(1, -1),
);
