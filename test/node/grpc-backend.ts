/** A gRPC server by @grpc/grpc-js: each method answers as the note that it gets asks it to. */
import type { EventEmitter } from "node:events";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import grpc from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { compileSet } from "../proto.ts";

export const noteSet = await compileSet(`
  syntax = "proto3";
  package note.v1;
  service Notes {
    rpc Echo(Note) returns (Note);
    rpc List(Note) returns (stream Note);
    rpc Collect(stream Note) returns (Note);
    rpc Talk(stream Note) returns (stream Note);
  }
  message Note { string text = 1; bytes data = 2; uint32 count = 3; uint32 size = 4; }
`);

export interface Note {
  text: string;
  data: Buffer;
  count: number;
  size: number;
}

/** Of every call: what the server saw of its end. */
export interface Seen {
  /** Calls that have begun and are not over. */
  open: number;
  /** Calls whose caller left. */
  cancelled: number;
  /** Clean ends of request streams. */
  halfClosed: number;
  /** Bytes of `data` that were written, or that were read and held back. */
  bytes: number;
  /** Milliseconds that the last call had when it began; undefined without a deadline. */
  timeoutMs: number | undefined;
}

export interface GrpcBackend {
  readonly port: number;
  readonly seen: Seen;
  /** At once: connections break. */
  stop(): void;
  /** GOAWAY, and what is going on may end. */
  drain(): Promise<void>;
}

const DETAIL = toBinary(
  AnySchema,
  create(AnySchema, { typeUrl: "type.googleapis.com/note.v1.Note", value: Uint8Array.from([0x0a, 3, 119, 104, 121]) }),
);
const MESSAGE = Buffer.from("not yet ☕");
/** google.rpc.Status { code: 9, message: MESSAGE, details: [Note { text: "why" }] } */
const STATUS_DETAILS = Buffer.from([0x08, 9, 0x12, MESSAGE.length, ...MESSAGE, 0x1a, DETAIL.length, ...DETAIL]);

const NO_LIMITS = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

type Call = EventEmitter &
  Pick<grpc.ServerUnaryCall<Note, Note>, "getDeadline" | "metadata" | "sendMetadata" | "cancelled">;

/** @param port 0 takes a free one. */
export async function startGrpcBackend(
  credentials = grpc.ServerCredentials.createInsecure(),
  port = 0,
  options: grpc.ServerOptions = {},
): Promise<GrpcBackend> {
  const seen: Seen = { open: 0, cancelled: 0, halfClosed: 0, bytes: 0, timeoutMs: undefined };

  /** @returns what to do when the call is over. */
  function begin(call: Call): () => void {
    seen.open++;
    let over = false;
    const done = () => {
      if (!over) seen.open--;
      over = true;
    };
    const deadline = call.getDeadline();
    seen.timeoutMs = Number.isFinite(Number(deadline)) ? Number(deadline) - Date.now() : undefined;
    call.on("cancelled", () => {
      if (!over) seen.cancelled++;
      done();
    });
    const answer = new grpc.Metadata();
    for (const [name, value] of Object.entries(call.metadata.getMap())) {
      if (name.startsWith("x-ask")) answer.set(name.replace("x-ask", "x-answer"), value);
    }
    if (call.metadata.get("x-silent").length === 0) call.sendMetadata(answer);
    return done;
  }
  const trailer = new grpc.Metadata();
  trailer.set("x-end", "done");
  trailer.set("x-end-bin", Buffer.from([0, 255, 10]));

  const implementation: grpc.UntypedServiceImplementation = {
    Echo(call: grpc.ServerUnaryCall<Note, Note>, callback: grpc.sendUnaryData<Note>) {
      const done = begin(call);
      const { text } = call.request;
      if (text === "hang") return;
      done();
      if (text !== "fail") return callback(null, call.request, trailer);
      const metadata = trailer.clone();
      metadata.set("grpc-status-details-bin", STATUS_DETAILS);
      callback({ code: grpc.status.FAILED_PRECONDITION, details: "not yet ☕", metadata });
    },
    /** `count` notes of `size` bytes each, as fast as they are taken; then waits when `text` says so. */
    async List(call: grpc.ServerWritableStream<Note, Note>) {
      const done = begin(call);
      const { count, size, text } = call.request;
      for (let i = 0; i < count && !call.cancelled; i++) {
        seen.bytes += size;
        if (!call.write({ text: "", count: i, data: Buffer.alloc(size, i), size })) await drained(call);
      }
      if (text === "hang" || call.cancelled) return;
      done();
      if (text === "fail") call.emit("error", { code: grpc.status.DATA_LOSS, details: "half of it" });
      else call.end(trailer);
    },
    Collect(call: grpc.ServerReadableStream<Note, Note>, callback: grpc.sendUnaryData<Note>) {
      const done = begin(call);
      let [count, size] = [0, 0];
      call.on("data", (note: Note) => {
        count++;
        size += note.data.length;
        seen.bytes += note.data.length;
        if (note.text === "stop") call.pause();
        if (note.text !== "enough") return;
        done();
        callback(null, { count, size } as Note, trailer);
      });
      call.on("end", () => {
        seen.halfClosed++;
        if (call.cancelled) return;
        done();
        callback(null, { count, size } as Note, trailer);
      });
    },
    Talk(call: grpc.ServerDuplexStream<Note, Note>) {
      const done = begin(call);
      call.on("data", (note: Note) => call.write(note));
      call.on("end", () => {
        seen.halfClosed++;
        if (call.cancelled) return;
        done();
        call.end(trailer);
      });
    },
  };

  const server = new grpc.Server({ ...NO_LIMITS, ...options });
  const definition = loadFileDescriptorSetFromBuffer(Buffer.from(noteSet), { defaults: true });
  server.addService(definition["note.v1.Notes"] as grpc.ServiceDefinition, implementation);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
  return {
    port: bound,
    seen,
    stop: () => server.forceShutdown(),
    drain: () => new Promise((resolve, reject) => server.tryShutdown((error) => (error ? reject(error) : resolve()))),
  };
}

function drained(call: grpc.ServerWritableStream<Note, Note>): Promise<void> {
  return new Promise((resolve) => {
    call.once("drain", resolve);
    call.once("cancelled", resolve);
  });
}
