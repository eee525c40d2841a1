/**
 * Memory of raw workerd: streams of any length in constant memory, both ways, and a slow reader stops the backend's writes.
 * What a stream takes is measured after a first one of 256 MiB, with which the heap of a new process grows.
 */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { startWorkerd } from "./cases/workerd.ts";
import { endOf, type Protocol, typeOf } from "./matrix/outcome.ts";
import { compileSet } from "./proto.ts";
import { serve } from "./server.ts";

const MIB = 1 << 20;
const WARM_UP_BYTES = 256 * MIB;
const DOWNLOAD_BYTES = 1024 * MIB;
const UPLOAD_BYTES = 256 * MIB;
const MAX_GROWTH_BYTES = 64 * MIB;

const set = await compileSet(`
  syntax = "proto3";
  package memory.v1;
  import "google/api/annotations.proto";
  import "google/api/httpbody.proto";
  service Files {
    rpc Download(File) returns (stream File) { option (google.api.http) = {get: "/v1/download"}; }
    rpc Upload(stream File) returns (File) { option (google.api.http) = {post: "/v1/upload" body: "*"}; }
    rpc RawDownload(File) returns (stream google.api.HttpBody) { option (google.api.http) = {get: "/v1/raw"}; }
    rpc RawUpload(stream google.api.HttpBody) returns (File) { option (google.api.http) = {post: "/v1/raw" body: "*"}; }
  }
  message File { string text = 1; }
`);

const CONTENT_BYTES = 64_000;
/** A field of so many bytes. */
const fieldOf = (tag: number) => Buffer.concat([Uint8Array.of(tag, 0x80, 0xf4, 3), Buffer.alloc(CONTENT_BYTES, "x")]);
/** `text`, and `data` of an HttpBody. */
const MESSAGE = encodeEnvelope(0, fieldOf(0x0a));
const RAW_MESSAGE = encodeEnvelope(0, fieldOf(0x12));

/** Bytes of content that the backend has written, or bytes that it has read, of the call that runs. */
let carried = 0;

async function download(
  response: ServerResponse,
  protocol: Protocol,
  message: Uint8Array,
  bytes: number,
): Promise<void> {
  response.writeHead(200, { "content-type": typeOf(protocol) });
  for (carried = 0; carried < bytes; carried += CONTENT_BYTES) {
    if (!response.write(message)) await once(response, "drain");
  }
  response.end(endOf(protocol));
}

async function upload(request: IncomingMessage, response: ServerResponse, protocol: Protocol): Promise<void> {
  carried = 0;
  for await (const chunk of request) carried += chunk.length;
  response.writeHead(200, { "content-type": typeOf(protocol) });
  response.end(Buffer.concat([MESSAGE, endOf(protocol)]));
}

const backend = await serve((request, response) => {
  const protocol = request.headers["content-type"] === typeOf("connect") ? "connect" : "grpc-web";
  const message = request.url?.includes("/Raw") ? RAW_MESSAGE : MESSAGE;
  const done = request.url?.endsWith("Download")
    ? download(response, protocol, message, Number(request.headers["x-bytes"]))
    : upload(request, response, protocol);
  // A caller that has had enough.
  done.catch(() => undefined);
});
const UPSTREAMS: readonly Protocol[] = ["connect", "grpc-web"];
const workerd = await startWorkerd(
  fileURLToPath(new URL("cases/worker.ts", import.meta.url)),
  set,
  UPSTREAMS.map((protocol) => ({ rpc: "all", backends: { "*": { url: backend.url, protocol } } })),
);
afterAll(async () => {
  await workerd.stop();
  await backend[Symbol.asyncDispose]();
});

const STATUS = `/proc/${workerd.pid}/status`;

function residentBytes(): number {
  const [, kib] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(STATUS, "utf8")) ?? [];
  return Number(kib) * 1024;
}

/** @returns by how much the process was larger than before, at its largest. */
async function growthOf(run: () => Promise<unknown>): Promise<number> {
  const before = residentBytes();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 20);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return Math.max(peak, residentBytes()) - before;
}

interface Path {
  readonly name: string;
  /** Index of the gateway. */
  readonly gateway: number;
  readonly download: { readonly path: string; readonly method: string; readonly header: http.OutgoingHttpHeaders };
  readonly upload: { readonly path: string; readonly header: http.OutgoingHttpHeaders; readonly message: Uint8Array };
  /** Body of the request that downloads. */
  readonly request?: Uint8Array;
}

function rpcPath(name: string, protocol: Protocol, gateway: number): Path {
  const header = { "content-type": typeOf(protocol) };
  return {
    name,
    gateway,
    download: { path: "/memory.v1.Files/Download", method: "POST", header },
    upload: { path: "/memory.v1.Files/Upload", header, message: MESSAGE },
    request: encodeEnvelope(0, new Uint8Array(0)),
  };
}

const LINE = Buffer.from(`{"text":"${"x".repeat(64_000)}"}\n`);
const PATHS: readonly Path[] = [
  rpcPath("untouched", "connect", 0),
  rpcPath("re-framed, Connect to gRPC-Web", "connect", 1),
  {
    name: "transcoded, NDJSON",
    gateway: 0,
    download: { path: "/v1/download", method: "GET", header: { accept: "application/x-ndjson" } },
    upload: { path: "/v1/upload", header: { "content-type": "application/x-ndjson" }, message: LINE },
  },
  {
    name: "transcoded, HttpBody",
    gateway: 0,
    download: { path: "/v1/raw", method: "GET", header: {} },
    upload: { path: "/v1/raw", header: { "content-type": "text/plain" }, message: Buffer.alloc(65_536, "x") },
  },
];

function open({ gateway }: Path, path: string, method: string, headers: http.OutgoingHttpHeaders) {
  const port = workerd.ports[gateway];
  const request = http.request({ host: "127.0.0.1", port, path, method, headers, agent: false });
  const response = once(request, "response").then(([one]) => one as IncomingMessage);
  return { request, response };
}

/** @returns bytes of the answer. */
async function runDownload(path: Path, bytes: number): Promise<number> {
  const { method, header } = path.download;
  const { request, response } = open(path, path.download.path, method, { ...header, "x-bytes": String(bytes) });
  request.end(path.request);
  let length = 0;
  for await (const chunk of await response) length += chunk.length;
  return length;
}

async function runUpload(path: Path, bytes: number): Promise<number> {
  const { request, response } = open(path, path.upload.path, "POST", path.upload.header);
  for (let sent = 0; sent < bytes; sent += path.upload.message.length) {
    if (!request.write(path.upload.message)) await once(request, "drain");
  }
  request.end();
  const { statusCode } = (await response).resume();
  return statusCode ?? 0;
}

describe.skipIf(!existsSync(STATUS))("memory of workerd (skipped where there is no /proc to read it from)", () => {
  test.each(PATHS)("a stream that is $name takes no more the longer it is", { timeout: 60_000 }, async (path) => {
    await runDownload(path, WARM_UP_BYTES);
    const growth = await growthOf(async () => {
      expect(await runDownload(path, DOWNLOAD_BYTES)).toBeGreaterThan(DOWNLOAD_BYTES);
    });
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  });

  test.each(PATHS)("an upload that is $name takes no more the longer it is", { timeout: 60_000 }, async (path) => {
    const growth = await growthOf(async () => {
      expect(await runUpload(path, UPLOAD_BYTES)).toBe(200);
    });
    expect(carried).toBeGreaterThan(UPLOAD_BYTES);
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

test.each(PATHS)(
  "a reader that waits stops the backend's writes, $name, and gets all when it goes on",
  async (path) => {
    const { method, header } = path.download;
    const bytes = 128 * MIB;
    const { request, response } = open(path, path.download.path, method, { ...header, "x-bytes": String(bytes) });
    request.end(path.request);
    const answer = await response;
    answer.pause();
    for (let before = -1; before !== carried; await sleep(300)) before = carried;
    // What the kernel may keep of two connections: Linux lets a receive buffer grow to 32 MiB (tcp_rmem) and a send
    // buffer to 4 MiB (tcp_wmem). Usually it is some 12 MiB in all.
    expect(carried).toBeLessThan(80 * MIB);
    let length = 0;
    for await (const chunk of answer) length += chunk.length;
    expect(length).toBeGreaterThan(bytes);
  },
);
