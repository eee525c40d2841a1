/** Bodies made to cost as much as they can, each of about 4 MiB: the default limit of a message. */
import type { CodecOptions } from "../../src/codec-api.ts";

export const HOSTILE_BYTES = 4 << 20;

export interface HostileInput {
  readonly name: string;
  /** Whether it ends in an error. Default false. */
  readonly refused?: boolean;
  /** Of the codec. Default none. */
  readonly options?: CodecOptions;
  /** Input for a bench.v1.Tree: JSON to encode, wire to decode. */
  create(): Uint8Array;
}
