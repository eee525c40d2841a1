/** The backend of the matrix as a gRPC server by @grpc/grpc-js, behind the bridge: it plays the same scripts. */
import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import grpc from "@grpc/grpc-js";
import { createBridge } from "../../src/node/bridge.ts";
import type { Script, ScriptedBackend, Seen } from "./backend.ts";
import { chat, collect, Everything, echo, watch } from "./schema.ts";

type Call = Pick<grpc.ServerUnaryCall<Message, Message>, "metadata" | "getDeadline" | "sendMetadata">;

/** @param reach where the bridge reaches the server at a url. Default: there. */
export async function startGrpcMatrixBackend(
  reach: (url: string) => string | Promise<string> = (url) => url,
): Promise<ScriptedBackend> {
  let script: Script = { messages: [] };
  const seen: Seen[] = [];

  function note(call: Call, messages: readonly Message[]): void {
    const deadline = Number(call.getDeadline());
    const timeoutMs = Number.isFinite(deadline) ? deadline - Date.now() : undefined;
    seen.push({ messages, header: headersOf(call.metadata), requestMethod: "POST", timeoutMs });
    call.sendMetadata(metadataOf(Object.entries(script.header ?? {})));
  }
  const trailer = () => metadataOf(Object.entries(script.trailer ?? {}));
  function failure(error: NonNullable<Script["error"]>) {
    // What connect-es makes of an error: details, and metadata.
    const metadata = metadataOf(setTrailerStatus(new Headers(script.trailer), error));
    for (const field of ["grpc-status", "grpc-message"]) metadata.remove(field);
    return { code: error.code as number as grpc.status, details: error.rawMessage, metadata };
  }
  function answerOne(callback: grpc.sendUnaryData<Message>): void {
    if (script.error) callback(failure(script.error));
    else callback(null, script.messages[0], trailer());
  }
  function answerAll(
    call: grpc.ServerWritableStream<Message, Message> | grpc.ServerDuplexStream<Message, Message>,
  ): void {
    for (const message of script.messages) call.write(message);
    if (script.error) call.emit("error", failure(script.error));
    else call.end(trailer());
  }
  async function readAll(call: AsyncIterable<Message>): Promise<Message[]> {
    const messages: Message[] = [];
    for await (const message of call) messages.push(message);
    return messages;
  }

  const server = new grpc.Server();
  server.addService(SERVICE, {
    [echo.name](call: grpc.ServerUnaryCall<Message, Message>, callback: grpc.sendUnaryData<Message>) {
      note(call, [call.request]);
      answerOne(callback);
    },
    [watch.name](call: grpc.ServerWritableStream<Message, Message>) {
      note(call, [call.request]);
      answerAll(call);
    },
    async [collect.name](call: grpc.ServerReadableStream<Message, Message>, callback: grpc.sendUnaryData<Message>) {
      note(call, await readAll(call));
      answerOne(callback);
    },
    async [chat.name](call: grpc.ServerDuplexStream<Message, Message>) {
      note(call, await readAll(call));
      answerAll(call);
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
  const bridge = await createBridge({ to: await reach(`http://127.0.0.1:${await promise}`) });
  return {
    url: bridge.url,
    seen,
    play(next) {
      script = next;
      seen.length = 0;
    },
    async stop() {
      await bridge.close();
      server.forceShutdown();
    },
  };
}

const SERVICE = Object.fromEntries(
  [echo, watch, collect, chat].map((method) => [
    method.name,
    {
      path: `/${method.parent.typeName}/${method.name}`,
      requestStream: method === collect || method === chat,
      responseStream: method === watch || method === chat,
      requestSerialize: serialize,
      responseSerialize: serialize,
      requestDeserialize: deserialize,
      responseDeserialize: deserialize,
    },
  ]),
);

function serialize(message: Message): Buffer {
  return Buffer.from(toBinary(Everything, message));
}

function deserialize(bytes: Buffer): Message {
  return fromBinary(Everything, bytes);
}

/** grpc-js has bytes where a name ends in -bin. */
function metadataOf(fields: Iterable<[string, string]>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of fields) {
    metadata.set(name, name.endsWith("-bin") ? Buffer.from(decodeBinaryHeader(value)) : value);
  }
  return metadata;
}

function headersOf(metadata: grpc.Metadata): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(metadata.getMap())) {
    headers.set(name, typeof value === "string" ? value : encodeBinaryHeader(value));
  }
  return headers;
}
