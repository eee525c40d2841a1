/** The caller's side of note.v1: connect-es as a gRPC-Web client over HTTP/1.1, and what tests of it need. */
import { setTimeout as sleep } from "node:timers/promises";
import { createFileRegistry, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { noteSet } from "./grpc-backend.ts";

function findService(name: string): DescService {
  const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, noteSet)).getService(name);
  if (!service) throw new Error(`no ${name}`);
  return service;
}

export const noteService = findService("note.v1.Notes");

interface NoteInit {
  text?: string;
  data?: Uint8Array;
  count?: number;
  size?: number;
}
interface Options {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
  onHeader?: (header: Headers) => void;
  onTrailer?: (trailer: Headers) => void;
}
/** What createClient makes of a service that is known by its descriptor only. */
export interface Notes {
  echo(note: NoteInit, options?: Options): Promise<Required<NoteInit>>;
  list(note: NoteInit, options?: Options): AsyncIterable<Required<NoteInit>>;
  collect(notes: AsyncIterable<NoteInit>, options?: Options): Promise<Required<NoteInit>>;
  talk(notes: AsyncIterable<NoteInit>, options?: Options): AsyncIterable<Required<NoteInit>>;
}

export function notesClient(url: string): Notes {
  const transport = createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" });
  return createClient(noteService as never, transport) as Client<never> as Notes;
}

export async function* several(...notes: readonly NoteInit[]): AsyncGenerator<NoteInit> {
  yield* notes;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function failureOf(work: Promise<unknown>): Promise<ConnectError> {
  try {
    await work;
  } catch (error) {
    return ConnectError.from(error);
  }
  return expect.fail("it did not fail");
}

export async function until(reached: () => boolean): Promise<void> {
  for (let waited = 0; !reached(); waited += 10) {
    if (waited > 10_000) expect.fail(`never: ${reached}`);
    await sleep(10);
  }
}

/** An envelope that holds a Note of these wire bytes. */
export function envelope(wire: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(wire.length, 1);
  return Buffer.concat([head, wire]);
}
