/**
 * Every RPC client against every upstream: protocol × codec × compression × kind of call, in workerd and in Node. connect-es
 * is the independent peer at both ends, grpc-js the gRPC backend behind the bridge.
 */
import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport } from "@connectrpc/connect";
import { afterAll, describe, expect, it } from "vitest";
import { type Script, startMatrixBackend } from "./backend.ts";
import { RPC_CLIENTS } from "./clients.ts";
import { RUNTIMES, startGateways } from "./gateways.ts";
import { startGrpcMatrixBackend } from "./grpc-backend.ts";
import {
  chat,
  collect,
  digest,
  ERROR_DETAIL,
  echo,
  everything,
  FULL,
  LARGE,
  Reason,
  richError,
  set,
  watch,
} from "./schema.ts";

const rpcBackend = await startMatrixBackend();
const grpcBackend = await startGrpcMatrixBackend();
const UPSTREAMS = [
  { protocol: "connect", backend: rpcBackend },
  { protocol: "grpc-web", backend: rpcBackend },
  { protocol: "grpc", backend: grpcBackend },
] as const;

const gateways = await startGateways(
  set,
  UPSTREAMS.map(({ protocol, backend }) => ({
    compressMinBytes: 1,
    backends: { "*": { url: backend.url, protocol } },
  })),
);
afterAll(async () => {
  await gateways.stop();
  await grpcBackend.stop();
  rpcBackend.stop();
});

interface Answer {
  /** Their digests. */
  readonly messages: string[];
  readonly header: Headers;
  readonly trailer: Headers;
  readonly error?: ConnectError;
}
type Call = (
  transport: Transport,
  requests: readonly Message[],
  header?: HeadersInit,
  timeoutMs?: number,
) => Promise<Answer>;

async function* feed(messages: readonly Message[]): AsyncGenerator<MessageInitShape<DescMessage>> {
  yield* messages;
}

async function readStream(opened: Promise<StreamResponse>): Promise<Answer> {
  const messages: string[] = [];
  try {
    const { message, header, trailer } = await opened;
    try {
      for await (const one of message) messages.push(digest(one));
      return { messages, header, trailer };
    } catch (error) {
      return { messages, header, trailer, error: ConnectError.from(error) };
    }
  } catch (error) {
    return { messages, header: new Headers(), trailer: new Headers(), error: ConnectError.from(error) };
  }
}

async function callUnary(
  transport: Transport,
  [request = everything({})]: readonly Message[],
  header?: HeadersInit,
  timeoutMs?: number,
): Promise<Answer> {
  try {
    const answer = await transport.unary(echo, undefined, timeoutMs, header, request);
    return { messages: [digest(answer.message)], header: answer.header, trailer: answer.trailer };
  } catch (error) {
    return { messages: [], header: new Headers(), trailer: new Headers(), error: ConnectError.from(error) };
  }
}

const KINDS: readonly { name: string; call: Call; requests: boolean; answers: boolean }[] = [
  { name: "unary", call: callUnary, requests: false, answers: false },
  {
    name: "server stream",
    call: (transport, requests, header, timeoutMs) =>
      readStream(transport.stream(watch, undefined, timeoutMs, header, feed(requests))),
    requests: false,
    answers: true,
  },
  {
    name: "client stream",
    call: (transport, requests, header, timeoutMs) =>
      readStream(transport.stream(collect, undefined, timeoutMs, header, feed(requests))),
    requests: true,
    answers: false,
  },
  {
    name: "half-duplex bidi",
    call: (transport, requests, header, timeoutMs) =>
      readStream(transport.stream(chat, undefined, timeoutMs, header, feed(requests))),
    requests: true,
    answers: true,
  },
];

const MANY = [FULL, everything({}), LARGE, everything({ text: "last" })];

const CELLS = RUNTIMES.flatMap((runtime) =>
  UPSTREAMS.flatMap(({ protocol: upstream, backend }, i) =>
    RPC_CLIENTS.flatMap((client) =>
      (["proto", "json"] as const).flatMap((codec) =>
        (["identity", "gzip"] as const).map((compression) => ({
          runtime,
          upstream,
          backend,
          i,
          client,
          codec,
          compression,
        })),
      ),
    ),
  ),
);

for (const { runtime, upstream, backend, i, client, codec, compression } of CELLS) {
  const transport = client.transport({ baseUrl: gateways.url(runtime, i), codec, compression });
  /** Untouched, so in the caller's compression up to the backend; else the gateway takes it off, and puts its own on. */
  const passes = client.passes === (upstream === "grpc" ? "grpc-web" : upstream) && codec === "proto";

  describe(`${client.name} ${codec} ${compression} through ${runtime} to ${upstream}`, () => {
    for (const { name, call, requests, answers } of KINDS) {
      const sent = requests ? MANY : [FULL];
      const told = answers ? MANY : [LARGE];
      const play = (script: Partial<Script>) => backend.play({ messages: told, ...script });

      it(`${name}: messages and metadata both ways`, async () => {
        play({
          header: { "x-lead": "a, b", "x-lead-bin": "AP8K" },
          trailer: { "x-end": "c", "x-end-bin": "AP8K" },
        });
        const answer = await call(transport, sent, { "x-ask": "one, two", "x-ask-bin": "AP8K" });
        expect(answer.error).toBeUndefined();
        expect(answer.messages).toEqual(told.map(digest));
        expect(backend.seen.map(({ messages }) => messages.map(digest))).toEqual([sent.map(digest)]);
        const header = backend.seen[0]?.header;
        expect([header?.get("x-ask"), header?.get("x-ask-bin")]).toEqual(["one, two", "AP8K"]);
        expect([answer.header.get("x-lead"), answer.header.get("x-lead-bin")]).toEqual(["a, b", "AP8K"]);
        expect([answer.trailer.get("x-end"), answer.trailer.get("x-end-bin")]).toEqual(["c", "AP8K"]);
        const isStream = name !== "unary" || client.name !== "Connect";
        const field = isStream ? client.encodingField : "content-encoding";
        const coding = compression === "gzip" ? "gzip" : null;
        // grpc-js does not show what belongs to the protocol; it compresses nothing of its own accord, and says so.
        if (upstream !== "grpc") {
          expect(header?.get(field)).toBe(passes ? coding : null);
          expect(header?.get("content-type")).not.toContain("json");
        }
        const isDecoded = !isStream && passes;
        // Node's fetch has decoded the body of a unary answer that passes.
        if (!isDecoded) expect(answer.header.get(field)).toBe(passes && upstream === "grpc" ? "identity" : coding);
      });

      it(`${name}: the deadline, what is left of it`, async () => {
        play({});
        await call(transport, sent, undefined, 20_000);
        const { timeoutMs = 0 } = backend.seen[0] ?? {};
        expect(timeoutMs).toBeGreaterThan(10_000);
        expect(timeoutMs).toBeLessThanOrEqual(20_000);
      });

      for (const before of answers ? [0, 1, MANY.length] : [0]) {
        it(`${name}: an error with details and metadata after ${before} messages`, async () => {
          play({ messages: MANY.slice(0, before), error: richError(), trailer: { "x-end": "c" } });
          const { messages, error } = await call(transport, sent);
          expect(messages).toEqual(MANY.slice(0, before).map(digest));
          expect(error?.code).toBe(Code.ResourceExhausted);
          expect(error?.rawMessage).toBe("no more, 100% ☕");
          expect(error?.findDetails(Reason)).toEqual([ERROR_DETAIL]);
          expect([error?.metadata.get("x-cost"), error?.metadata.get("x-cost-bin")]).toEqual(["9", "AP8K"]);
          expect(error?.metadata.get("x-end")).toBe("c");
        });
      }

      if (requests) {
        it(`${name}: no message at all`, async () => {
          play({});
          const { messages, error } = await call(transport, []);
          expect([error, messages]).toEqual([undefined, told.map(digest)]);
          expect(backend.seen[0]?.messages).toEqual([]);
        });
      }
      if (answers) {
        it(`${name}: an answer without messages`, async () => {
          play({ messages: [], trailer: { "x-end": "c" } });
          const { messages, error, trailer } = await call(transport, sent);
          expect([error, messages, trailer.get("x-end")]).toEqual([undefined, [], "c"]);
        });
      }
    }
  });
}
