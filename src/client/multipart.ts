/**
 * Cuts the parts of multipart/form-data (RFC 7578; RFC 2046 §5.1.1) out of bytes that come in chunks of any size. Of a
 * part's content nothing is kept, so a part may have any length.
 *
 *     multipart-body    := [preamble CRLF] dash-boundary transport-padding CRLF body-part
 *                          *(delimiter transport-padding CRLF body-part)
 *                          delimiter "--" transport-padding [CRLF epilogue]
 *     dash-boundary     := "--" boundary
 *     delimiter         := CRLF dash-boundary
 *     body-part         := MIME-part-headers [CRLF *OCTET]
 *     transport-padding := *LWSP-char
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import { refuse } from "../protocol/status.ts";
import { malformedForm, type PartHead, parsePartHead } from "./part-head.ts";

/** What the parts are told to, one after the other. What it throws ends the form. */
export interface PartSink {
  begin(head: PartHead): void;
  /** The next bytes of the part's content: good until it returns, and never none. */
  append(bytes: Uint8Array): void;
  finish(): void;
}

/** Both methods throw ConnectError: invalid_argument; resource_exhausted, shown as 413, for too many parts. */
export interface PartCutter {
  push(chunk: Uint8Array): void;
  /** The bytes have ended: has the form? */
  end(): void;
}

/** Bytes of a part's head, or of what follows a boundary on its line. */
const MAX_HEAD_BYTES = 8_192;

const CR = 0x0d;
const LF = 0x0a;
const LINE_END_BYTES = 2;

/** @returns the error for a form of more than `maxFields` fields. */
export function tooManyFields(maxFields: number): ConnectError {
  return refuse(413, Code.ResourceExhausted, `the form has more than ${maxFields} fields`);
}

/**
 * @param boundary as in the content type.
 * @param maxParts each costs more than its bytes say.
 */
export function cutParts(boundary: string, maxParts: number, sink: PartSink): PartCutter {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  /** "line" is the rest of the delimiter's. */
  let state: "preamble" | "line" | "head" | "data" | "epilogue" = "preamble";
  /** Bytes of the delimiter that the last chunk ended in. Where the form begins, a line does. */
  let matched = LINE_END_BYTES;
  /** How many of these are no content if the rest does not follow. */
  let foreign = LINE_END_BYTES;
  /** Bytes of a head, or of the delimiter's line, up to the last whole line; and all of them. */
  const kept = new Uint8Array(MAX_HEAD_BYTES);
  let lineStart = 0;
  let length = 0;
  let parts = 0;

  /**
   * Looks for the delimiter. There is one CR in it, at its start, so that the search never goes back.
   *
   * @returns where to go on: behind the delimiter, or at the end of the chunk.
   */
  function search(chunk: Uint8Array, from: number): number {
    let at = from;
    if (matched > 0) {
      const held = delimiter.subarray(foreign, matched);
      while (at < chunk.length && matched < delimiter.length && chunk[at] === delimiter[matched]) {
        at++;
        matched++;
      }
      if (matched === delimiter.length) {
        found();
        return at;
      }
      if (at === chunk.length) return at;
      content(held);
      matched = 0;
      foreign = 0;
    }
    for (let cr = chunk.indexOf(CR, at); cr !== -1; cr = chunk.indexOf(CR, at)) {
      at = cr;
      while (at < chunk.length && matched < delimiter.length && chunk[at] === delimiter[matched]) {
        at++;
        matched++;
      }
      if (matched === delimiter.length || at === chunk.length) {
        content(chunk.subarray(from, cr));
        if (matched === delimiter.length) found();
        return at;
      }
      matched = 0;
    }
    content(chunk.subarray(from));
    return chunk.length;
  }

  function content(bytes: Uint8Array): void {
    if (state === "data" && bytes.length > 0) sink.append(bytes);
  }

  function found(): void {
    if (state === "data") sink.finish();
    state = "line";
  }

  /** Keeps what there is of a line. @returns where the next one begins, or the end of the chunk. */
  function takeLine(chunk: Uint8Array, from: number): number {
    const lf = chunk.indexOf(LF, from);
    const end = lf === -1 ? chunk.length : lf + 1;
    if (length + end - from > MAX_HEAD_BYTES) throw malformedForm(`a head is longer than ${MAX_HEAD_BYTES} bytes`);
    kept.set(chunk.subarray(from, end), length);
    length += end - from;
    return end;
  }

  /** A line is whole when its end is there, which is never an LF alone. */
  function isLineWhole(): boolean {
    if (kept[length - 1] !== LF) return false;
    if (length - lineStart < LINE_END_BYTES || kept[length - LINE_END_BYTES] !== CR) {
      throw malformedForm("a line ends in LF alone");
    }
    return true;
  }

  function endDelimiterLine(): void {
    const rest = new TextDecoder().decode(kept.subarray(0, length));
    if (/^--[ \t]*\r\n$/.test(rest)) state = "epilogue";
    else if (/^[ \t]*\r\n$/.test(rest)) state = "head";
    else throw malformedForm("something follows a boundary on its line");
    forgetLines();
  }

  function endHeadLine(): void {
    if (length - lineStart > LINE_END_BYTES) {
      lineStart = length;
      return;
    }
    if (++parts > maxParts) throw tooManyFields(maxParts);
    sink.begin(parsePartHead(kept.subarray(0, lineStart), `part ${parts}`));
    state = "data";
    // Of a part without content the empty line may be missing: then this one ends the head and begins the delimiter.
    matched = LINE_END_BYTES;
    foreign = LINE_END_BYTES;
    forgetLines();
  }

  function forgetLines(): void {
    lineStart = 0;
    length = 0;
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length && state !== "epilogue") {
        if (state === "preamble" || state === "data") {
          at = search(chunk, at);
        } else {
          at = takeLine(chunk, at);
          if (!isLineWhole()) continue;
          if (state === "line") endDelimiterLine();
          else endHeadLine();
        }
      }
    },
    end() {
      const rest = new TextDecoder().decode(kept.subarray(0, length));
      const isClosed = state === "epilogue" || (state === "line" && /^--[ \t]*$/.test(rest));
      if (!isClosed) throw malformedForm("the last boundary is missing");
    },
  };
}
