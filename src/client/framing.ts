/** How a stream of JSON messages stands in the body of an answer (DESIGN §4, "streams to REST"). */

export interface Framing {
  /** A batch of JSON texts. */
  batch(messages: readonly Uint8Array[]): Uint8Array;
  /**
   * The last bytes.
   *
   * @param status google.rpc.Status in JSON when the stream failed.
   * @returns undefined when the format has no place for a failure: the transfer has to break.
   */
  end(status: string | undefined): Uint8Array | undefined;
}

export interface FramingOptions {
  /** NDJSON without `{"result": …}` around each message. */
  readonly ndjsonBare: boolean;
  /** SSE: events are numbered from 1. */
  readonly sseIds: boolean;
  /** SSE: how long a browser waits before it connects again. Undefined: its own choice. */
  readonly sseRetryMs: number | undefined;
}

/** Media types that a stream can be had as, the preferred first. */
export const STREAM_TYPES = ["application/json", "application/x-ndjson", "text/event-stream"] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** Header fields of an answer of this type. A cache would hold events back, or play them again. */
export function headerOf(type: string): Readonly<Record<string, string>> {
  return { "content-type": type, ...(type === "text/event-stream" && { "cache-control": "no-cache" }) };
}

const encoder = new TextEncoder();

export function createFraming(type: StreamType, options: FramingOptions): Framing {
  if (type === "application/json") return arrayFraming();
  if (type === "application/x-ndjson") return ndjsonFraming(options);
  return eventFraming(options);
}

function arrayFraming(): Framing {
  let before = "[";
  return {
    batch(messages) {
      const first = before;
      before = ",";
      return join(messages, (i) => (i === 0 ? first : ","), "");
    },
    end: (status) => (status === undefined ? encoder.encode(before === "[" ? "[]" : "]") : undefined),
  };
}

/** https://github.com/ndjson/ndjson-spec: one JSON text a line, each ended by LF. */
function ndjsonFraming({ ndjsonBare }: FramingOptions): Framing {
  const [before, after] = ndjsonBare ? ["", "\n"] : ['{"result":', "}\n"];
  return {
    batch: (messages) => join(messages, () => before, after),
    end: (status) => encoder.encode(status === undefined ? "" : `{"error":${status}}\n`),
  };
}

/** WHATWG HTML §9.2, server-sent events. JSON as the codec writes it has no line breaks. */
function eventFraming({ sseIds, sseRetryMs }: FramingOptions): Framing {
  let count = 0;
  let before = sseRetryMs === undefined ? "" : `retry: ${sseRetryMs}\n`;
  const open = (): string => {
    const first = before;
    before = "";
    return `${first}${sseIds ? `id: ${++count}\n` : ""}data: `;
  };
  return {
    batch: (messages) => join(messages, open, "\n\n"),
    end: (status) =>
      encoder.encode(
        before + (status === undefined ? "event: end\ndata: {}\n\n" : `event: error\ndata: ${status}\n\n`),
      ),
  };
}

/** A comment, which every reader of events skips: it keeps proxies from closing a stream that is idle. */
export const HEARTBEAT = encoder.encode(":\n\n");

/** All messages with what goes around each, in one piece. */
function join(messages: readonly Uint8Array[], before: (index: number) => string, after: string): Uint8Array {
  const tail = encoder.encode(after);
  const heads = messages.map((_, i) => encoder.encode(before(i)));
  let length = 0;
  messages.forEach((message, i) => {
    length += (heads[i]?.length ?? 0) + message.length + tail.length;
  });
  const bytes = new Uint8Array(length);
  let at = 0;
  messages.forEach((message, i) => {
    const head = heads[i] ?? tail;
    bytes.set(head, at);
    bytes.set(message, at + head.length);
    bytes.set(tail, at + head.length + message.length);
    at += head.length + message.length + tail.length;
  });
  return bytes;
}
