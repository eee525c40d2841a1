/** Compressed answers: in raw workerd, which compresses by itself what it is not told to leave, and as a library. */
import http from "node:http";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, describe, expect, test } from "vitest";
import { startWorkerd } from "../cases/workerd.ts";
import { gatewayOf, librarySet, serveLibrary } from "../library-backend.ts";
import { readBody, serve } from "../server.ts";

const note = "n".repeat(5000);
const backend = await serveLibrary((book) => ({ ...book, note }));
const options = { backends: { "*": { url: backend.url } }, compressMinBytes: 1000 };
const worker = fileURLToPath(new URL("../cases/worker.ts", import.meta.url));
const workerd = await startWorkerd(worker, librarySet, [options]);
const library = gatewayOf(backend.url, { compressMinBytes: 1000 });
const node = await serve(async (request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const body = new Uint8Array(await readBody(request));
  const answer = await library.fetch(new Request(`http://h${request.url}`, { method: "POST", headers, body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
});
afterAll(async () => {
  await workerd.stop();
  await node[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
});

interface Answer {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

function post(url: string, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", headers, agent: false }, async (response) =>
      resolve({ headers: response.headers, body: await readBody(response) }),
    );
    request.on("error", reject);
    request.end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json" };
const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, librarySet)).getService("library.v1.Library");
if (!service) throw new Error("no service");

describe.each([
  ["workerd", `http://127.0.0.1:${workerd.ports[0]}`],
  ["Node", node.url],
])("%s", (_, url) => {
  test.each(["/v1/books", "/library.v1.Library/CreateBook"])("%s is compressed once, and says so", async (path) => {
    const { headers, body } = await post(url + path, { ...JSON_TYPE, "accept-encoding": "br;q=0.1, gzip" }, "{}");
    expect(headers["content-encoding"]).toBe("gzip");
    expect(headers.vary).toBe("Accept-Encoding");
    expect(body.length).toBeLessThan(500);
    expect(JSON.parse(String(gunzipSync(body)))).toEqual({ note });
    if (headers["content-length"]) expect(Number(headers["content-length"])).toBe(body.length);
  });

  test("who takes no coding gets none", async () => {
    const { headers, body } = await post(`${url}/v1/books`, JSON_TYPE, "{}");
    expect(headers["content-encoding"]).toBeUndefined();
    expect(JSON.parse(String(body))).toEqual({ note });
  });

  test("connect-node asks for gzip in Connect and in gRPC-Web, and reads the answer", async () => {
    const shared = {
      baseUrl: url,
      httpVersion: "1.1" as const,
      acceptCompression: [compressionGzip],
      useBinaryFormat: false,
    };
    for (const transport of [createConnectTransport(shared), createGrpcWebTransport(shared)]) {
      const client = createClient(service, transport) as unknown as Record<string, (book: object) => Promise<object>>;
      expect(await client.createBook?.({ name: "a" })).toMatchObject({ name: "a", note });
    }
  });

  test("an envelope of gRPC-Web is compressed, its trailers are not", async () => {
    const headers = { "content-type": "application/grpc-web+json", "grpc-accept-encoding": "gzip" };
    const answer = await post(`${url}/library.v1.Library/CreateBook`, headers, "\0\0\0\0\x02{}");
    expect(answer.headers["grpc-encoding"]).toBe("gzip");
    expect(answer.body[0]).toBe(1);
    const end = 5 + answer.body.readUInt32BE(1);
    expect(JSON.parse(String(gunzipSync(answer.body.subarray(5, end))))).toEqual({ note });
    expect(answer.body[end]).toBe(0x80);
  });
});
