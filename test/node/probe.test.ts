/** Backends of every kind, asked in every protocol: one line that says what is there. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as createHttp, type RequestListener, type Server } from "node:http";
import { createServer as createH2, createSecureServer as createH2Tls, type ServerHttp2Stream } from "node:http2";
import { createServer as createHttps } from "node:https";
import net, { type AddressInfo } from "node:net";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import { type ProbeOptions, probeBackend } from "../../src/node/probe.ts";
import { compileSet } from "../proto.ts";
import { startGrpcBackend } from "./grpc-backend.ts";
import { answerWith, OK, startH2 } from "./h2-backend.ts";
import { noteService } from "./notes.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const [cert, key] = await Promise.all(
  ["cert.pem", "key.pem"].map((name) => readFile(new URL(`tls/${name}`, import.meta.url), "utf8")),
);
const tls = { cert: cert as string, key: key as string };

const healthSet = await compileSet(`
  syntax = "proto3";
  package grpc.health.v1;
  service Health { rpc Check(Request) returns (Answer); }
  message Request { string service = 1; }
  message Answer { int32 status = 1; }
`);
const health = createFileRegistry(fromBinary(FileDescriptorSetSchema, healthSet)).getService("grpc.health.v1.Health");
if (!health) throw new Error("no service");

const withHealth = connectNodeAdapter({ routes: (router) => router.service(health, { check: () => ({}) } as never) });
const withoutHealth = connectNodeAdapter({ routes: (router) => router.service(health, {}) });
const withoutService = connectNodeAdapter({ routes: (router) => router.service(noteService, {}) });

async function listen(server: net.Server | Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const http1 = (answer: object) => listen(createHttp(answer as RequestListener));

async function h2(serve: (stream: ServerHttp2Stream) => void): Promise<number> {
  const backend = await startH2(serve);
  cleanups.push(() => backend.stop());
  return backend.port;
}

async function grpcJs(credentials?: grpc.ServerCredentials): Promise<number> {
  const backend = await startGrpcBackend(credentials);
  cleanups.push(() => backend.stop());
  return backend.port;
}

const grpcTls = () =>
  grpcJs(
    grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }]),
  );

const answer =
  (status: number, type: string, body: string | Buffer = ""): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": type }).end(body);

interface Row {
  start(): Promise<number> | number;
  /** Default http://127.0.0.1. */
  origin?: string;
  ca?: string;
  protocol: ProbeOptions["protocol"];
  ok?: true;
  /** Default 10 s: the machine may be busy. */
  timeoutMs?: number;
  says: RegExp;
}

const trailers = Buffer.from("grpc-status: 12\r\n");
const trailerFrame = Buffer.from([0x80, 0, 0, 0, trailers.length, ...trailers]);

const rows: Readonly<Record<string, Row>> = {
  gRPC: { start: grpcJs, protocol: "grpc", ok: true, says: /^speaks gRPC$/ },
  "gRPC over TLS": {
    start: grpcTls,
    origin: "https://localhost",
    ca: tls.cert,
    protocol: "grpc",
    ok: true,
    says: /^speaks gRPC$/,
  },
  nobody: { start: () => 1, protocol: "grpc", says: /nobody listens there/ },
  "nobody, for Connect": { start: () => 1, protocol: "connect", says: /nobody listens there/ },
  "no such name": {
    start: () => 50051,
    origin: "http://nothing.invalid",
    protocol: "grpc",
    says: /its host name .*\(DNS\)/,
  },
  "no such name, for gRPC-Web": {
    start: () => 80,
    origin: "http://nothing.invalid",
    protocol: "grpc-web",
    says: /its host name .*\(DNS\)/,
  },
  "a certificate of nobody": {
    start: grpcTls,
    origin: "https://localhost",
    protocol: "grpc",
    says: /certificate is of an issuer that is not trusted/,
  },
  "a certificate of nobody, for Connect": {
    start: () => listen(createHttps(tls, withHealth)),
    origin: "https://localhost",
    protocol: "connect",
    says: /certificate is of an issuer that is not trusted/,
  },
  "TLS where none is expected": { start: grpcTls, protocol: "grpc", says: /it speaks TLS: is it https:/ },
  "TLS where none is expected, for Connect": {
    start: () => listen(createHttps(tls, withHealth)),
    protocol: "connect",
    says: /it speaks TLS: is it https:/,
  },
  "no TLS where some is expected": {
    start: grpcJs,
    origin: "https://localhost",
    protocol: "grpc",
    says: /it speaks no TLS: is it http:/,
  },
  "no TLS where some is expected, for Connect": {
    start: () => http1(withHealth),
    origin: "https://localhost",
    protocol: "connect",
    says: /it speaks no TLS: is it http:/,
  },
  "TLS without HTTP/2": {
    start: () => listen(createHttps({ ...tls, ALPNProtocols: ["http/1.1"] }, answer(404, "text/plain"))),
    origin: "https://localhost",
    ca: tls.cert,
    protocol: "grpc",
    says: /it speaks HTTP\/1\.1 only, and gRPC needs HTTP\/2/,
  },
  "HTTP/1.1": {
    start: () => http1(withHealth),
    protocol: "grpc",
    says: /it speaks HTTP\/1\.1 only, .*connect or grpc-web/,
  },
  silence: {
    start: () => listen(net.createServer()),
    protocol: "grpc",
    timeoutMs: 500,
    says: /does not answer within 0\.5 s/,
  },
  "silence, for Connect": {
    start: () => listen(net.createServer()),
    protocol: "connect",
    timeoutMs: 500,
    says: /does not answer in time/,
  },
  "a call that is not answered": {
    start: () => h2(() => {}),
    protocol: "grpc",
    timeoutMs: 500,
    says: /takes the call and does not answer in time/,
  },
  "a connection that is closed": {
    start: () => listen(net.createServer((socket) => socket.destroy())),
    protocol: "grpc",
    says: /closes the connection/,
  },
  "another protocol": {
    start: () => listen(net.createServer((socket) => socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"))),
    protocol: "grpc",
    says: /does not speak HTTP\/2/,
  },
  "another protocol, for Connect": {
    start: () => listen(net.createServer((socket) => socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"))),
    protocol: "connect",
    says: /does not speak HTTP\/1\.1/,
  },
  "HTTP/2, but a page": {
    start: () =>
      h2((stream) => {
        stream.respond({ ":status": 200, "content-type": "text/html" });
        stream.end("no");
      }),
    protocol: "grpc",
    says: /it speaks HTTP\/2, but not gRPC: HTTP 200, content type text\/html/,
  },
  "gRPC that has no such service, by connect-node": {
    start: () => listen(createH2(withoutService)),
    protocol: "grpc",
    ok: true,
    says: /^answers \(HTTP 404\); whether in gRPC/,
  },
  "gRPC that has no such method, by connect-node": {
    start: () => listen(createH2(withoutHealth)),
    protocol: "grpc",
    ok: true,
    says: /^speaks gRPC$/,
  },
  "gRPC without trailers": {
    start: () =>
      h2((stream) => {
        stream.respond(OK);
        stream.end();
      }),
    protocol: "grpc",
    says: /in gRPC, but without trailers/,
  },
  "gRPC with trailers": {
    start: () => h2((stream) => answerWith(stream, Buffer.alloc(5), { "grpc-status": "0" })),
    protocol: "grpc",
    ok: true,
    says: /^speaks gRPC$/,
  },
  "a stream that is reset": {
    start: () => h2((stream) => stream.close(2)),
    protocol: "grpc",
    says: /resets the stream: INTERNAL_ERROR/,
  },
  "gRPC, asked for Connect": { start: grpcJs, protocol: "connect", says: /HTTP\/2 only.*protocol grpc\?/ },
  "gRPC, asked for gRPC-Web": { start: grpcJs, protocol: "grpc-web", says: /HTTP\/2 only.*protocol grpc\?/ },
  "gRPC over TLS, asked for Connect": {
    start: () => listen(createH2Tls(tls)),
    origin: "https://localhost",
    ca: tls.cert,
    protocol: "connect",
    says: /HTTP\/2 only.*protocol grpc\?/,
  },
  Connect: { start: () => http1(withHealth), protocol: "connect", ok: true, says: /^speaks Connect$/ },
  "Connect that has no such method": {
    start: () => http1(withoutHealth),
    protocol: "connect",
    ok: true,
    says: /^speaks Connect$/,
  },
  "Connect that has no such service": {
    start: () => http1(withoutService),
    protocol: "connect",
    ok: true,
    says: /^answers \(HTTP 404\); whether in Connect/,
  },
  "gRPC-Web": { start: () => http1(withHealth), protocol: "grpc-web", ok: true, says: /^speaks gRPC-Web$/ },
  "gRPC-Web that has no such method": {
    start: () => http1(withoutHealth),
    protocol: "grpc-web",
    ok: true,
    says: /^speaks gRPC-Web$/,
  },
  "gRPC-Web, trailers in the body": {
    start: () => http1(answer(200, "application/grpc-web+proto", trailerFrame)),
    protocol: "grpc-web",
    ok: true,
    says: /^speaks gRPC-Web$/,
  },
  "gRPC-Web without trailers": {
    start: () => http1(answer(200, "application/grpc-web+proto", Buffer.alloc(5))),
    protocol: "grpc-web",
    says: /in gRPC-Web, but without trailers/,
  },
  "gRPC over HTTP/1.1, asked for gRPC-Web": {
    start: () => http1(answer(200, "application/grpc")),
    protocol: "grpc-web",
    says: /in gRPC instead of gRPC-Web/,
  },
  "gRPC-Web, asked for Connect": {
    start: () => http1(answer(200, "application/grpc-web")),
    protocol: "connect",
    says: /protocol grpc or grpc-web\?/,
  },
  "a proxy without a backend": {
    start: () => http1(answer(502, "text/html")),
    protocol: "connect",
    says: /does not answer in Connect: HTTP 502, content type text\/html/,
  },
  "JSON that is no error of Connect": {
    start: () => http1(answer(404, "application/json", '{"code":5}')),
    protocol: "connect",
    ok: true,
    says: /^answers \(HTTP 404\)/,
  },
};

it.each(Object.entries(rows))(
  "%s",
  async (_, { start, origin = "http://127.0.0.1", ca, protocol, ok = false, says, timeoutMs = 10_000 }) => {
    const url = `${origin}:${await start()}`;
    const probed = await probeBackend({ url, protocol, timeoutMs, ...(ca !== undefined && { ca }) });
    expect(probed).toEqual({ ok, message: expect.stringMatching(says) });
  },
);
