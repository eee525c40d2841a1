/** What the suite's programs say to one another: protobuf messages, each behind its length in four bytes, big-endian. */
import type { Readable } from "node:stream";
import {
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** Of connectrpc.conformance.v1.ServerCompatRequest. */
export interface ServerRequest extends Message {
  protocol: number;
  httpVersion: number;
  messageReceiveLimit: number;
}

/** connectrpc.conformance.v1.ServerCompatResponse. */
export interface ServerResponse extends Message {
  host: string;
  port: number;
}

/** Of connectrpc.conformance.v1.ClientCompatRequest. */
export interface ClientRequest extends Message {
  protocol: number;
  httpVersion: number;
  readonly codec: number;
  port: number;
  readonly requestHeaders: { readonly name: string; value: string[] }[];
}

interface Names {
  readonly ServerCompatRequest: ServerRequest;
  readonly ServerCompatResponse: ServerResponse;
  readonly ClientCompatRequest: ClientRequest;
}

/** Numbers of connectrpc.conformance.v1.Protocol. */
export const PROTOCOLS = { connect: 1, grpc: 2, "grpc-web": 3 } as const;
export type ProtocolName = keyof typeof PROTOCOLS;

/** A number of connectrpc.conformance.v1.Codec. */
export const CODEC_PROTO = 1;

const LENGTH_BYTES = 4;

/** The messages by name, as descriptors. */
export class Language {
  readonly #registry: FileRegistry;

  /** @param set bytes of the suite's FileDescriptorSet. */
  constructor(set: Uint8Array) {
    this.#registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  }

  parse<N extends keyof Names>(name: N, bytes: Uint8Array): Names[N] {
    return fromBinary(this.#message(name), bytes) as Names[N];
  }

  format<N extends keyof Names>(name: N, message: Names[N]): Uint8Array {
    return toBinary(this.#message(name), message);
  }

  #message(name: keyof Names): DescMessage {
    const message = this.#registry.getMessage(`connectrpc.conformance.v1.${name}`);
    if (!message) throw new Error(`the suite has no ${name}`);
    return message;
  }
}

/** The messages of a stream as they come, without their lengths. Ends with the stream. */
export async function* readMessages(stream: Readable): AsyncGenerator<Uint8Array, undefined> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readUInt32BE();
      if (rest.length < end) break;
      yield rest.subarray(LENGTH_BYTES, end);
      rest = rest.subarray(end);
    }
  }
}

/** The one message that is due. */
export async function readMessage(stream: Readable): Promise<Uint8Array> {
  const { value } = await readMessages(stream).next();
  if (!value) throw new Error("the suite said nothing");
  return value;
}

export function withLength(message: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(LENGTH_BYTES + message.length);
  bytes.writeUInt32BE(message.length);
  bytes.set(message, LENGTH_BYTES);
  return bytes;
}
