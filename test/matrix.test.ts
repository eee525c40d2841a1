/**
 * Every client against every upstream: each call goes from a peer's client through the gateway in workerd to an asserting
 * backend of connect-node. The same battery for all of them.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext, type Transport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startWorkerd } from "./cases/workerd.ts";
import { compileSet } from "./proto.ts";

const set = await compileSet(`
  syntax = "proto3";
  package matrix.v1;
  import "google/api/annotations.proto";
  import "google/protobuf/timestamp.proto";
  service Matrix {
    rpc Echo(Everything) returns (Everything) {
      option idempotency_level = NO_SIDE_EFFECTS;
      option (google.api.http) = {post: "/v1/echo" body: "*"};
    }
  }
  enum Colour { COLOUR_UNSPECIFIED = 0; RED = 1; }
  message Everything {
    string text = 1;
    int64 big = 2;
    double number = 3;
    bytes data = 4;
    Colour colour = 5;
    repeated Everything children = 6;
    map<string, int32> counts = 7;
    google.protobuf.Timestamp at = 8;
    optional bool flag = 9;
    oneof choice { string left = 10; uint64 right = 11; }
  }
  message Reason { string why = 1; uint64 limit = 2; }
`);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
const echo = registry.getService("matrix.v1.Matrix")?.methods[0] as DescMethodUnary;
const Reason = registry.getMessage("matrix.v1.Reason") as DescMessage;
const Everything = echo.input;

const init = (fields: object): MessageInitShape<DescMessage> => fields as MessageInitShape<DescMessage>;
const FULL = create(
  Everything,
  init({
    text: "café ☕ 😀 \u2028",
    big: -9007199254740993n,
    number: Number.NaN,
    data: new Uint8Array([0, 255, 254]),
    colour: 1,
    children: [
      create(Everything),
      create(Everything, init({ text: "child", choice: { case: "right", value: 2n ** 64n - 1n } })),
    ],
    counts: { "": 0, key: -1 },
    at: { seconds: 951782400n, nanos: 5 },
    flag: false,
    choice: { case: "left", value: "" },
  }),
);

interface Seen {
  readonly message: Message;
  readonly header: Headers;
  readonly requestMethod: string;
  readonly timeoutMs: number | undefined;
}

/** The backend's part of one test. */
type Handler = (request: Message, context: HandlerContext) => Message | Promise<Message>;
let handler: Handler;
let seen: Seen[] = [];

const server = http.createServer(
  connectNodeAdapter({
    grpc: false,
    grpcWeb: false,
    routes: (router) => {
      router.rpc(echo, async (message, context) => {
        const timeoutMs = context.timeoutMs();
        seen.push({ message, header: context.requestHeader, requestMethod: context.requestMethod, timeoutMs });
        return handler(message, context);
      });
    },
  }),
);
server.listen(0, "127.0.0.1");
await once(server, "listening");
const backend = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, protocol: "connect" };

/** Gateways, one for each upstream. */
const UPSTREAMS = [
  { name: "Connect", options: { backends: { "*": backend } } },
  { name: "Connect with GET", options: { backends: { "*": backend }, connectGet: true } },
];
const worker = fileURLToPath(new URL("./cases/worker.ts", import.meta.url));
const workerd = await startWorkerd(
  worker,
  set,
  UPSTREAMS.map(({ options }) => options),
);
afterAll(async () => {
  await workerd.stop();
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen = [];
  handler = (message) => message;
});

interface Answer {
  readonly message: Message;
  readonly header: Headers;
  readonly trailer: Headers;
}
/** Rejects with a ConnectError. */
type Client = (
  baseUrl: string,
  message: Message,
  header?: Record<string, string>,
  timeoutMs?: number,
) => Promise<Answer>;

const CLIENTS: { readonly name: string; readonly call: Client }[] = [
  { name: "REST JSON", call: callRest },
  { name: "Connect JSON", call: callConnect((baseUrl) => createConnectTransport({ baseUrl })) },
  { name: "Connect proto", call: callConnect((baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true })) },
  { name: "Connect GET JSON", call: callConnect((baseUrl) => createConnectTransport({ baseUrl, useHttpGet: true })) },
  {
    name: "Connect GET proto",
    call: callConnect((baseUrl) => createConnectTransport({ baseUrl, useHttpGet: true, useBinaryFormat: true })),
  },
];

function callConnect(transport: (baseUrl: string) => Transport): Client {
  return async (baseUrl, message, header, timeoutMs) =>
    transport(baseUrl).unary(echo, undefined, timeoutMs, header, message);
}

async function callRest(baseUrl: string, message: Message, header = {}, timeoutMs?: number): Promise<Answer> {
  const response = await fetch(`${baseUrl}/v1/echo`, {
    method: "POST",
    headers: {
      ...header,
      "content-type": "application/json",
      ...(timeoutMs === undefined ? {} : { "x-server-timeout": String(timeoutMs / 1000) }),
    },
    body: JSON.stringify(toJson(Everything, message)),
  });
  const [own, trailer] = splitTrailers(response.headers);
  const json = (await response.json()) as JsonValue;
  if (response.ok) return { message: fromJson(Everything, json), header: own, trailer };
  const status = json as { code: Code; message?: string; details?: { "@type": string; [key: string]: JsonValue }[] };
  const error = new ConnectError(status.message ?? "", status.code, response.headers);
  for (const { "@type": type, ...fields } of status.details ?? []) {
    expect(type).toBe(`type.googleapis.com/${Reason.typeName}`);
    error.details.push({ desc: Reason, value: fromJson(Reason, fields) });
  }
  throw error;
}

function splitTrailers(headers: Headers): [Headers, Headers] {
  const own = new Headers();
  const trailer = new Headers();
  for (const [name, value] of headers) {
    if (name.startsWith("trailer-")) trailer.append(name.slice("trailer-".length), value);
    else own.append(name, value);
  }
  return [own, trailer];
}

for (const [i, upstream] of UPSTREAMS.entries()) {
  for (const client of CLIENTS) {
    describe(`${client.name} to ${upstream.name}`, () => {
      const call = (message: Message, header?: Record<string, string>, timeoutMs?: number): Promise<Answer> =>
        client.call(`http://127.0.0.1:${workerd.ports[i]}`, message, header, timeoutMs);

      it.each([
        ["full", FULL],
        ["empty", create(Everything)],
      ])("carries a %s message both ways", async (_, message) => {
        expect((await call(message)).message).toEqual(message);
        expect(seen.map((one) => one.message)).toEqual([message]);
      });

      it("speaks protobuf to the upstream, by GET where it may", async () => {
        await call(FULL);
        // What a Connect POST of protobuf carries passes through unread, and stays a POST.
        const get = upstream.name === "Connect with GET" && client.name !== "Connect proto";
        expect(seen[0]?.requestMethod).toBe(get ? "GET" : "POST");
        expect(seen[0]?.header.get("content-type")).toBe(get ? null : "application/proto");
      });

      it("carries metadata both ways", async () => {
        handler = (message, context) => {
          context.responseHeader.set("x-lead", "a, b");
          context.responseHeader.set("x-lead-bin", "AP8");
          context.responseTrailer.set("x-end", "c");
          return message;
        };
        const answer = await call(FULL, { "x-ask": "one, two", "x-ask-bin": "AP8", authorization: "Bearer t" });
        const header = seen[0]?.header;
        expect([header?.get("x-ask"), header?.get("x-ask-bin")]).toEqual(["one, two", "AP8"]);
        expect(header?.get("authorization")).toBe("Bearer t");
        expect([answer.header.get("x-lead"), answer.header.get("x-lead-bin")]).toEqual(["a, b", "AP8"]);
        expect(answer.trailer.get("x-end")).toBe("c");
      });

      it("carries an error with its details and metadata", async () => {
        handler = () => {
          const details = [{ desc: Reason, value: init({ why: "quota ☕", limit: 2n ** 63n }) }];
          throw new ConnectError("no more, 100% ☕", Code.ResourceExhausted, { "x-cost": "9" }, details);
        };
        const error = await call(FULL).then(() => undefined, ConnectError.from);
        expect(error?.code).toBe(Code.ResourceExhausted);
        expect(error?.rawMessage).toBe("no more, 100% ☕");
        expect(error?.findDetails(Reason)).toEqual([create(Reason, init({ why: "quota ☕", limit: 2n ** 63n }))]);
        expect(error?.metadata.get("x-cost")).toBe("9");
      });

      it("hands on what is left of a deadline", async () => {
        await call(FULL, undefined, 20_000);
        expect(seen[0]?.timeoutMs).toBeGreaterThan(15_000);
        expect(seen[0]?.timeoutMs).toBeLessThanOrEqual(20_000);
      });

      it("ends a call at its deadline, for the backend too", async () => {
        const ended = new Promise<void>((resolve) => {
          handler = (message, context) =>
            new Promise((answer) => {
              context.signal.addEventListener("abort", () => {
                resolve();
                answer(message);
              });
            });
        });
        const error = await call(FULL, undefined, 150).then(() => undefined, ConnectError.from);
        expect(error?.code).toBe(Code.DeadlineExceeded);
        await ended;
      });
    });
  }
}
