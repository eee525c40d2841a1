/** Frames of HTTP/2 as bytes (RFC 9113 §4.1), and header blocks that need no table (RFC 7541 §6.2.2). */

export const FrameType = { data: 0, headers: 1, rstStream: 3, settings: 4, continuation: 9 } as const;

export const END_STREAM = 1;
export const END_HEADERS = 4;

/** What a client sends before its frames. */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  /** 0: of the connection. */
  readonly stream: number;
  readonly payload: Buffer;
}

const PREFIX_BYTES = 9;

export function formatFrame({ type, flags, stream, payload }: Frame): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUIntBE(payload.length, 0, 3);
  prefix.writeUInt8(type, 3);
  prefix.writeUInt8(flags, 4);
  prefix.writeUInt32BE(stream, 5);
  return Buffer.concat([prefix, payload]);
}

/** Cuts frames out of bytes that come in chunks. */
export class FrameCutter {
  #rest: Buffer = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<Frame, void> {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const frame = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      yield {
        type: frame.readUInt8(3),
        flags: frame.readUInt8(4),
        stream: frame.readUInt32BE(5) & 0x7fffffff,
        payload: frame.subarray(PREFIX_BYTES),
      };
    }
  }
}

/** Each field as a literal, name and value in plain text. */
export function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  const literals = Object.entries(fields).flatMap(([name, value]) => [Uint8Array.of(0), text(name), text(value)]);
  return Buffer.concat(literals);
}

function text(value: string): Buffer {
  return Buffer.concat([Uint8Array.from(integer(value.length)), Buffer.from(value)]);
}

/** RFC 7541 §5.1, with a prefix of seven bits. */
function integer(value: number): number[] {
  if (value < 127) return [value];
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}
