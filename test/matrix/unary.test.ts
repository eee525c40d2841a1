/**
 * REST and the forms of a unary Connect call against every upstream, from a peer's client through the gateway in workerd
 * to the asserting backend. The RPC protocols with all kinds of call are in streams.test.ts.
 */
import { fileURLToPath } from "node:url";
import { create, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startWorkerd } from "../cases/workerd.ts";
import { startMatrixBackend } from "./backend.ts";
import { ERROR_DETAIL, Everything, echo, FULL, Reason, richError, set } from "./schema.ts";

const backend = await startMatrixBackend();

/** Gateways, one for each upstream. */
const UPSTREAMS = [
  { name: "Connect", options: { backends: { "*": { url: backend.url, protocol: "connect" } } } },
  {
    name: "Connect with GET",
    options: { backends: { "*": { url: backend.url, protocol: "connect" } }, connectGet: true },
  },
  { name: "gRPC-Web", options: { backends: { "*": { url: backend.url, protocol: "grpc-web" } } } },
];
const worker = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
const workerd = await startWorkerd(
  worker,
  set,
  UPSTREAMS.map(({ options }) => options),
);
afterAll(async () => {
  await workerd.stop();
  backend.stop();
});
beforeEach(() => {
  backend.play({ messages: [FULL] });
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
        backend.play({ messages: [message] });
        expect((await call(message)).message).toEqual(message);
        expect(backend.seen.map((one) => one.messages)).toEqual([[message]]);
      });

      it("speaks protobuf to the upstream, by GET where it may", async () => {
        await call(FULL);
        // What a Connect POST of protobuf carries passes through unread, and stays a POST.
        const get = upstream.name === "Connect with GET" && client.name !== "Connect proto";
        expect(backend.seen[0]?.requestMethod).toBe(get ? "GET" : "POST");
        const type = upstream.name === "gRPC-Web" ? "application/grpc-web+proto" : "application/proto";
        expect(backend.seen[0]?.header.get("content-type")).toBe(get ? null : type);
      });

      it("carries metadata both ways", async () => {
        backend.play({
          messages: [FULL],
          header: { "x-lead": "a, b", "x-lead-bin": "AP8K" },
          trailer: { "x-end": "c" },
        });
        const answer = await call(FULL, { "x-ask": "one, two", "x-ask-bin": "AP8K", authorization: "Bearer t" });
        const header = backend.seen[0]?.header;
        expect([header?.get("x-ask"), header?.get("x-ask-bin")]).toEqual(["one, two", "AP8K"]);
        expect(header?.get("authorization")).toBe("Bearer t");
        expect([answer.header.get("x-lead"), answer.header.get("x-lead-bin")]).toEqual(["a, b", "AP8K"]);
        expect(answer.trailer.get("x-end")).toBe("c");
      });

      it("carries an error with its details and metadata", async () => {
        backend.play({ messages: [], error: richError() });
        const error = await call(FULL).then(() => undefined, ConnectError.from);
        expect(error?.code).toBe(Code.ResourceExhausted);
        expect(error?.rawMessage).toBe("no more, 100% ☕");
        expect(error?.findDetails(Reason)).toEqual([ERROR_DETAIL]);
        // In gRPC the metadata of an error is trailing metadata, which REST marks.
        const name = upstream.name === "gRPC-Web" && client.name.startsWith("REST") ? "trailer-x-cost" : "x-cost";
        expect(error?.metadata.get(name)).toBe("9");
      });

      it("hands on what is left of a deadline", async () => {
        await call(FULL, undefined, 20_000);
        expect(backend.seen[0]?.timeoutMs).toBeGreaterThan(15_000);
        expect(backend.seen[0]?.timeoutMs).toBeLessThanOrEqual(20_000);
      });

      it("ends a call at its deadline, for the backend too", async () => {
        const ended = new Promise<void>((resolve) => {
          backend.answer(
            (message, { signal }) =>
              new Promise((answer) => {
                signal.addEventListener("abort", () => {
                  resolve();
                  answer(message);
                });
              }),
          );
        });
        const error = await call(FULL, undefined, 150).then(() => undefined, ConnectError.from);
        expect(error?.code).toBe(Code.DeadlineExceeded);
        await ended;
      });
    });
  }
}
