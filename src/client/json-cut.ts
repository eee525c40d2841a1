/** Cuts the JSON texts of a stream out of bytes that come in chunks of any size: lines (NDJSON), or elements of an array. */
import { Code, ConnectError } from "@connectrpc/connect";
import { Pending } from "./pending.ts";

export interface JsonCutter {
  /**
   * The texts that are whole with this chunk; theirs to keep, and not looked at inside.
   *
   * @throws ConnectError invalid_argument, resource_exhausted; the texts before it have come out by then.
   */
  push(chunk: Uint8Array): Generator<Uint8Array, void>;
  /** What is left when the bytes have ended. Throws likewise. */
  end(): Generator<Uint8Array, void>;
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const EXPECTED_ARRAY = "a stream of messages is an array: expected [";

const NOTHING = new Uint8Array(0);

/**
 * A text on each line; blank lines are skipped.
 *
 * @param maxBytes of one line.
 */
export function cutLines(maxBytes: number): JsonCutter {
  const pending = new Pending(maxBytes);
  return {
    *push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
        const line = pending.take(chunk.subarray(start, at));
        start = at + 1;
        if (!isBlank(line)) yield line;
      }
      pending.append(chunk.subarray(start));
    },
    *end() {
      const line = pending.take(NOTHING);
      if (!isBlank(line)) yield line;
    },
  };
}

/**
 * The elements of one array. No bytes at all are no elements. An object comes out as soon as it is closed: its comma may
 * come much later, with the next one.
 *
 * @param maxBytes of one element.
 */
export function cutArray(maxBytes: number): JsonCutter {
  const pending = new Pending(maxBytes);
  let state: "start" | "element" | "separator" | "end" = "start";
  let elements = 0;
  /** Nothing stands where the last element should. */
  let isMissing = false;
  /** Of brackets and braces that the element has open. */
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** Bytes of a byte order mark seen (RFC 8259 §8.1 lets them be ignored). */
  let mark = 0;

  /** @returns where the elements start. */
  function open(chunk: Uint8Array): number {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === BYTE_ORDER_MARK[mark]) {
        mark++;
        continue;
      }
      const isWholeMark = mark === 0 || mark === BYTE_ORDER_MARK.length;
      if (!isWholeMark || !(byte === BRACKET || isSpace(byte))) throw malformed(EXPECTED_ARRAY);
      mark = BYTE_ORDER_MARK.length;
      if (byte === BRACKET) {
        state = "element";
        return at + 1;
      }
    }
    return chunk.length;
  }

  /** @returns where the element ends: behind what closes it, or before what follows it; undefined when it goes on. */
  function scan(chunk: Uint8Array, from: number): number | undefined {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === BRACKET || byte === BRACE) depth++;
      else if (byte === BRACKET_END || byte === BRACE_END) {
        if (depth === 0) return at;
        if (--depth === 0) return at + 1;
      } else if (byte === COMMA && depth === 0) return at;
    }
    return undefined;
  }

  function separate(byte: number): void {
    if (isSpace(byte)) return;
    const isLast = byte === BRACKET_END;
    if (!isLast && byte !== COMMA) throw malformed(`expected , or ] after ${elements} whole elements`);
    if (isMissing && (!isLast || elements > 0)) throw malformed(`element ${elements + 1} of the array is missing`);
    state = isLast ? "end" : "element";
  }

  return {
    *push(chunk) {
      let at = state === "start" ? open(chunk) : 0;
      while (at < chunk.length && state !== "end") {
        if (state === "separator") {
          separate(chunk[at++] as number);
          continue;
        }
        const end = scan(chunk, at);
        if (end === undefined) {
          pending.append(chunk.subarray(at));
          return;
        }
        const element = pending.take(chunk.subarray(at, end));
        at = end;
        state = "separator";
        isMissing = isBlank(element);
        if (isMissing) continue;
        elements++;
        yield element;
      }
      if (!isBlank(chunk.subarray(at))) throw malformed("text follows the array");
    },
    // biome-ignore lint/correctness/useYield: what is left of an array is never an element.
    *end() {
      if (state === "start" && mark % BYTE_ORDER_MARK.length !== 0) throw malformed(EXPECTED_ARRAY);
      if (state === "element" || state === "separator") {
        throw malformed(`the array breaks off after ${elements} whole elements`);
      }
    },
  };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09;
}

function isBlank(text: Uint8Array): boolean {
  return text.every(isSpace);
}

function malformed(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}
