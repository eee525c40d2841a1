/** The messages of an enveloped body: envelopes cut, decompressed, and the last one understood. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { End, Messages } from "../call.ts";
import { type Chunks, openChunks } from "./bytes.ts";
import { isIdentity, readDecoded } from "./compression.ts";
import { COMPRESSED, EnvelopeCutter } from "./envelope.ts";
import { createMessages, type MessageSource } from "./messages.ts";

export interface EnvelopeReading {
  /** Bytes of one message, before and after it is decompressed. */
  readonly maxBytes: number;
  /** How many times its own bytes a compressed message may become. Default: any. */
  readonly maxRatio?: number | undefined;
  /** How compressed envelopes are: one that `isKnownEncoding` knows. Identity: none may be. */
  readonly encoding: string | null;
  /** Flag of the envelope that ends the stream; 0: the end of the body does. */
  readonly endFlag: number;
  /** What came with the body, for the error of one that holds no envelopes at all. */
  readonly origin?: string;
  /** Code of a body that is not made of envelopes as it should be. */
  readonly faultCode: Code;
  /**
   * How the stream ended.
   *
   * @param last data of the envelope with `endFlag`; undefined: the body ended without.
   * @param messages how many came.
   * @throws ConnectError
   */
  end(last: Uint8Array | undefined, messages: number): End;
  /** What it means that the body broke off. */
  describe(error: unknown): ConnectError;
  /** The bytes between the body and its envelopes. Default: the body's own. */
  open?(stream: ReadableStream<Uint8Array>): Chunks;
}

/** @param stream null reads as no bytes. */
export function readEnvelopes(stream: ReadableStream<Uint8Array> | null, reading: EnvelopeReading): Messages {
  const chunks = stream ? (reading.open ?? openChunks)(stream) : NO_CHUNKS;
  return createMessages(readSource(chunks, reading), { cancel: () => chunks.cancel(), describe: reading.describe });
}

const NO_CHUNKS: Chunks = { read: async () => undefined, cancel: async () => undefined };

async function* readSource(chunks: Chunks, reading: EnvelopeReading): MessageSource {
  const cutter = new EnvelopeCutter(reading.maxBytes, (flags) => checkFlags(flags, reading));
  let last: Uint8Array | undefined;
  let count = 0;
  for (let chunk = await chunks.read(); chunk; chunk = await chunks.read()) {
    let batch: Uint8Array[] = [];
    let bytes = 0;
    let fault: unknown;
    try {
      for (const envelope of cutter.push(chunk)) {
        if (last) throw faulty(reading, "an envelope follows the one that ends the stream");
        const data = await (envelope.flags & COMPRESSED ? decompress(envelope.data, reading) : envelope.data);
        if (reading.endFlag && envelope.flags & reading.endFlag) {
          last = data;
          continue;
        }
        count++;
        bytes += data.length;
        batch.push(data);
        // A chunk of compressed envelopes may hold a thousand times its size.
        if (bytes > reading.maxBytes) {
          yield batch;
          batch = [];
          bytes = 0;
        }
      }
    } catch (error) {
      fault = error;
    }
    // Those before the fault are good.
    if (batch.length > 0) yield batch;
    if (fault !== undefined) throw fault;
  }
  if (cutter.rest > 0) throw faulty(reading, "the body ends inside an envelope");
  return reading.end(last, count);
}

function checkFlags(flags: number, { endFlag, encoding, origin }: EnvelopeReading): void {
  if (flags & ~(COMPRESSED | endFlag)) {
    const from = origin === undefined ? "" : `; ${origin}`;
    throw new ConnectError(`an envelope has unknown flags: ${flags}${from}`, Code.Internal);
  }
  if (flags & COMPRESSED && isIdentity(encoding)) {
    throw new ConnectError("an envelope is compressed, but no coding was declared", Code.Internal);
  }
}

/** Nothing compressed is nothing. */
async function decompress(data: Uint8Array, reading: EnvelopeReading): Promise<Uint8Array> {
  if (data.length === 0) return data;
  try {
    const coded = new Blob([data as Uint8Array<ArrayBuffer>]).stream();
    return await readDecoded(coded, reading.encoding, reading.maxBytes, reading.maxRatio);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.ResourceExhausted) throw error;
    throw faulty(reading, `an envelope is not valid ${reading.encoding}`);
  }
}

function faulty({ faultCode }: EnvelopeReading, message: string): ConnectError {
  return new ConnectError(message, faultCode);
}
