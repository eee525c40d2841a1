/**
 * A cursor over JSON text (RFC 8259, strict) in UTF-8 bytes. A leading byte order mark is skipped.
 *
 * Objects and arrays are walked by the caller:
 *
 *     reader.openObject();
 *     for (let key = reader.firstKey(); key !== undefined; key = reader.nextKey()) { …read one value… }
 *
 * Every method throws ConnectError `invalid_argument`, with line and column, when the text is not JSON.
 */

import { hashKey } from "../schema/hash-key.ts";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOT,
  LETTER_U,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  ZERO,
} from "./ascii.ts";
import { type Position, quote, syntaxError } from "./error.ts";
import { strictUtf8, utf8 } from "./utf8.ts";

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

const ascii = (text: string): Uint8Array => utf8.encode(text);
const literals = { true: ascii("true"), false: ascii("false"), null: ascii("null") };

/** What may follow a backslash, the hexadecimal `u` aside. */
const escapes = new Set(ascii('"\\/bfnrt'));
/** Up to this length ASCII is read faster byte by byte than by a TextDecoder. */
const SHORT = 24;

export class JsonReader {
  readonly #bytes: Uint8Array;
  /** Where the text begins: behind the byte order mark. */
  readonly #start: number;
  #offset: number;
  #tokenStart: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    this.#offset = this.#start;
    this.#tokenStart = this.#start;
  }

  /** Where the cursor stands: a mark for `seek`. */
  get offset(): number {
    return this.#offset;
  }

  /** Where the value last peeked at, or the key last read, begins: a mark for `seek`, and for errors. */
  get tokenStart(): number {
    return this.#tokenStart;
  }

  seek(offset: number): void {
    this.#offset = offset;
  }

  position(offset: number): Position {
    let line = 1;
    let column = 1;
    for (let i = this.#start; i < offset; i++) {
      const byte = this.#bytes[i] as number;
      if (byte === 0x0a) {
        line++;
        column = 1;
      } else if ((byte & 0xc0) !== 0x80) {
        column++;
      }
    }
    return { line, column };
  }

  /** The kind of the value that comes next, judged by its first character. */
  peek(): JsonKind {
    this.#skipSpace();
    this.#tokenStart = this.#offset;
    const byte = this.#bytes[this.#offset];
    switch (byte) {
      case OPEN_BRACE:
        return "object";
      case OPEN_BRACKET:
        return "array";
      case QUOTE:
        return "string";
      case 0x74: // t
      case 0x66: // f
        return "boolean";
      case 0x6e: // n
        return "null";
      default:
        if (byte === MINUS || isDigit(byte)) return "number";
        throw this.#fail("expected a value");
    }
  }

  openObject(): void {
    this.#expect(OPEN_BRACE, "'{'");
  }

  /** The first key of the object that was opened, with its colon read; undefined when it is empty, and closed now. */
  firstKey(): string | undefined {
    this.#skipSpace();
    if (this.#take(CLOSE_BRACE)) return undefined;
    return this.#key();
  }

  /** After a member's value: the next key, or undefined at the end of the object. */
  nextKey(): string | undefined {
    this.#skipSpace();
    if (this.#take(CLOSE_BRACE)) return undefined;
    this.#expect(COMMA, "',' or '}'");
    this.#skipSpace();
    return this.#key();
  }

  openArray(): void {
    this.#expect(OPEN_BRACKET, "'['");
  }

  /** Whether the array that was opened has an element; it is closed when not. */
  firstElement(): boolean {
    this.#skipSpace();
    return !this.#take(CLOSE_BRACKET);
  }

  /** After an element: whether another one follows. */
  nextElement(): boolean {
    this.#skipSpace();
    if (this.#take(CLOSE_BRACKET)) return false;
    this.#expect(COMMA, "',' or ']'");
    return true;
  }

  /** A string, unescaped. It may hold lone surrogates, because JSON's escapes may. */
  readString(): string {
    this.#expect(QUOTE, "a string");
    const start = this.#offset;
    const escaped = this.#findEndOfString();
    // The token has been checked to be a JSON string, so the engine can unescape it.
    if (escaped) return JSON.parse(this.#decode(start - 1, this.#offset)) as string;
    return this.#decode(start, this.#offset - 1);
  }

  /** A number, as it is written. */
  readNumber(): string {
    this.#skipSpace();
    const start = this.#offset;
    this.#take(MINUS);
    if (!this.#take(ZERO)) this.#digits();
    if (this.#take(DOT)) this.#digits();
    if (this.#take(0x65) || this.#take(0x45)) {
      if (!this.#take(PLUS)) this.#take(MINUS);
      this.#digits();
    }
    return this.#decode(start, this.#offset);
  }

  readBoolean(): boolean {
    this.#skipSpace();
    const value = this.#bytes[this.#offset] === literals.true[0];
    this.#literal(value ? "true" : "false");
    return value;
  }

  readNull(): void {
    this.#skipSpace();
    this.#literal("null");
  }

  /**
   * Passes over one value, whatever it is; an object in it must not have a key twice. It does not recurse.
   *
   * @param levels how deep objects and arrays may nest in it.
   * @param onKey called for each member of each object, with the offset of the object; the cursor is before the value.
   */
  skip(levels: number, onKey?: (object: number, key: string) => void): void {
    /** What is open, from the outside in: offset and keys of an object; undefined for an array. */
    const open: ({ readonly offset: number; readonly keys: Set<string> } | undefined)[] = [];
    for (;;) {
      const kind = this.peek();
      if (kind === "object" || kind === "array") {
        if (open.length >= levels) throw this.#fail("nesting depth is over the limit");
        open.push(kind === "object" ? { offset: this.#tokenStart, keys: new Set() } : undefined);
        this.#offset++;
      } else {
        this.#skipScalar(kind);
      }
      // A container was just opened, or a value has ended: find the next value, closing what ends before it.
      for (let first = kind === "object" || kind === "array"; ; first = false) {
        if (open.length === 0) return;
        const object = open.at(-1);
        if (object === undefined) {
          if (first ? this.firstElement() : this.nextElement()) break;
        } else {
          const key = first ? this.firstKey() : this.nextKey();
          if (key !== undefined) {
            const identity = hashKey(key);
            if (object.keys.has(identity))
              throw this.#fail(`the key ${quote(key)} is given more than once`, this.#tokenStart);
            object.keys.add(identity);
            onKey?.(object.offset, key);
            break;
          }
        }
        open.pop();
      }
    }
  }

  /** Nothing but white space may be left. */
  end(): void {
    this.#skipSpace();
    if (this.#offset < this.#bytes.length) throw this.#fail("expected the end");
  }

  #skipScalar(kind: JsonKind): void {
    if (kind === "string") this.readString();
    else if (kind === "number") this.readNumber();
    else if (kind === "boolean") this.readBoolean();
    else this.readNull();
  }

  #key(): string {
    this.#tokenStart = this.#offset;
    if (this.#bytes[this.#offset] !== QUOTE) throw this.#fail("expected a key in double quotes");
    const key = this.readString();
    this.#expect(COLON, "':'");
    return key;
  }

  /** From behind the opening quote to behind the closing one. @returns whether there are escapes, all of them legal. */
  #findEndOfString(): boolean {
    let escaped = false;
    for (;;) {
      const byte = this.#bytes[this.#offset];
      if (byte === QUOTE) break;
      if (byte === undefined) throw this.#fail("the string does not end");
      if (byte < 0x20) throw this.#fail("a control character in a string must be escaped");
      if (byte === BACKSLASH) {
        escaped = true;
        this.#checkEscape();
      } else {
        this.#offset++;
      }
    }
    this.#offset++;
    return escaped;
  }

  #checkEscape(): void {
    const byte = this.#bytes[this.#offset + 1];
    if (byte === LETTER_U) {
      for (let i = 2; i < 6; i++) {
        if (!isHex(this.#bytes[this.#offset + i])) throw this.#fail("\\u needs four hexadecimal digits");
      }
      this.#offset += 6;
    } else if (byte !== undefined && escapes.has(byte)) {
      this.#offset += 2;
    } else {
      throw this.#fail("no such escape");
    }
  }

  #decode(start: number, end: number): string {
    if (end - start <= SHORT) {
      let text = "";
      let at = start;
      for (; at < end && (this.#bytes[at] as number) < 0x80; at++)
        text += String.fromCharCode(this.#bytes[at] as number);
      if (at === end) return text;
    }
    try {
      return strictUtf8.decode(this.#bytes.subarray(start, end));
    } catch {
      throw this.#fail("the text is not UTF-8", start);
    }
  }

  #digits(): void {
    if (!isDigit(this.#bytes[this.#offset])) throw this.#fail("expected a digit");
    while (isDigit(this.#bytes[this.#offset])) this.#offset++;
  }

  #literal(name: keyof typeof literals): void {
    for (const byte of literals[name]) {
      if (!this.#take(byte)) throw this.#fail(`expected ${name}`);
    }
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#bytes[this.#offset];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#offset++;
    }
  }

  #take(byte: number): boolean {
    if (this.#bytes[this.#offset] !== byte) return false;
    this.#offset++;
    return true;
  }

  #expect(byte: number, what: string): void {
    this.#skipSpace();
    if (!this.#take(byte)) throw this.#fail(`expected ${what}`);
  }

  #fail(description: string, offset = this.#offset): Error {
    const early = offset < this.#bytes.length ? "" : ", but the text ends";
    return syntaxError(description + early, this.position(offset));
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}
