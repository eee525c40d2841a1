/** Calls over the bridge, frame by frame: what of them goes over, what is tried again, and callers that leave. */
import { once } from "node:events";
import http from "node:http";
import http2, { type ClientHttp2Session, type ServerOptions } from "node:http2";
import net, { type AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, describe, expect, it, test } from "vitest";
import { createBridge } from "../../src/node/bridge.ts";
import { bridgeCall } from "../../src/node/bridge-call.ts";
import { answerWith, callWeb, type H2Backend, HELLO, OK, type Serve, startH2 } from "./h2-backend.ts";
import { envelope, until } from "./notes.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** @returns the URL of a bridge to a backend that answers so. */
async function bridge(serve: Serve, options?: ServerOptions): Promise<string> {
  return bridgeTo((await start(serve, options)).port);
}

async function start(serve: Serve, options?: ServerOptions): Promise<H2Backend> {
  const backend = await startH2(serve, options);
  cleanups.push(() => backend.stop());
  return backend;
}

async function bridgeTo(port: number, path = ""): Promise<string> {
  const { url, close } = await createBridge({ to: `http://127.0.0.1:${port}${path}` });
  cleanups.push(close);
  return url;
}

describe("header fields", () => {
  it("of the request", async () => {
    let seen: http2.IncomingHttpHeaders = {};
    const { port } = await start((stream, header) => {
      seen = header;
      answerWith(stream, HELLO, { "grpc-status": "0" });
    });
    const url = await bridgeTo(port, "/prefix/");
    const header = {
      "content-type": "application/grpc-web+proto",
      accept: "application/grpc-web+proto",
      "accept-encoding": "gzip",
      connection: "close, X-Hop",
      "x-hop": "1",
      "keep-alive": "timeout=5",
      te: "gzip",
      "x-grpc-web": "1",
      "cf-worker": "example.com",
      "grpc-timeout": "5S",
      "grpc-encoding": "gzip",
      "grpc-accept-encoding": "gzip,identity",
      "user-agent": "mine/1",
      authorization: "Bearer x",
      "x-twice": ["a", "b"],
      "x-bin": "AP8K",
    };
    await callWeb(url, header);
    // Not to be had by name: the symbol under which Node keeps what must not be indexed.
    expect(Object.fromEntries(Object.entries(seen))).toEqual({
      ":method": "POST",
      ":scheme": "http",
      ":authority": `127.0.0.1:${port}`,
      ":path": "/prefix/pkg.Service/Method",
      te: "trailers",
      "content-type": "application/grpc+proto",
      "grpc-timeout": "5S",
      "grpc-encoding": "gzip",
      "grpc-accept-encoding": "gzip,identity",
      "user-agent": "mine/1",
      authorization: "Bearer x",
      "x-twice": "a, b",
      "x-bin": "AP8K",
    });
  });

  it("of the answer", async () => {
    const url = await bridge((stream) =>
      answerWith(
        stream,
        HELLO,
        { "grpc-status": "0", "x-end": ["1", "2"], "x-end-bin": "AP8K" },
        {
          "content-type": "application/grpc+proto",
          "content-length": HELLO.length,
          "x-begin": "ä",
          "set-cookie": ["a=1", "b=2"],
          "grpc-encoding": "identity",
        },
      ),
    );
    const answer = await callWeb(url);
    expect(answer).toMatchObject({
      header: {
        "content-type": "application/grpc-web+proto",
        "transfer-encoding": "chunked",
        // The same bytes, as Node reads them.
        "x-begin": Buffer.from("ä").toString("latin1"),
        "set-cookie": ["a=1", "b=2"],
        "grpc-encoding": "identity",
      },
      messages: ["hello"],
      trailers: { "grpc-status": "0", "x-end": "1, 2", "x-end-bin": "AP8K" },
    });
    expect(answer.header).not.toHaveProperty("content-length");
  });

  it.each([
    ["application/grpc-web", "application/grpc"],
    ["application/grpc-web+json", "application/grpc+json"],
    ["Application/gRPC-Web+proto;charset=utf-8", "application/grpc+proto;charset=utf-8"],
  ])("%s is %s", async (web, native) => {
    let seen: string | undefined;
    const url = await bridge((stream, header) => {
      seen = header["content-type"];
      answerWith(stream, HELLO, { "grpc-status": "0" });
    });
    await callWeb(url, { "content-type": web });
    expect(seen).toBe(native);
  });

  it("more of them than the limit", async () => {
    const url = await bridge(
      (stream, { x }) => answerWith(stream, HELLO, { "grpc-status": "0" }, { x: "y".repeat(Number(x)) }),
      { maxSendHeaderBlockLength: 1 << 20 },
    );
    // The limit holds as soon as the backend has acknowledged it.
    expect((await callWeb(url, { x: 10_000 })).trailers).toMatchObject({ "grpc-status": "0" });
    expect((await callWeb(url, { x: 70_000 })).trailers).toMatchObject({ "grpc-status": "8" });
    const headers = { "content-type": "application/grpc-web", x: "y".repeat(70_000) };
    const request = http.request(`${url}/pkg.Service/Method`, { method: "POST", headers, agent: false }).end();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect(response.resume().statusCode).toBe(431);
  });
});

describe("a stream that was refused before anything was done", () => {
  const refuseFirst = (times: number) => {
    const bodies: string[] = [];
    let calls = 0;
    const serve: Serve = async (stream) => {
      if (++calls <= times) return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      let body = "";
      for await (const chunk of stream) body += chunk;
      bodies.push(body);
      answerWith(stream, HELLO, { "grpc-status": "0" });
    };
    return { serve, bodies, calls: () => calls };
  };

  it("is tried again, once, with all of the request", async () => {
    const { serve, bodies } = refuseFirst(1);
    const url = await bridge(serve);
    const body = envelope(Buffer.from("x".repeat(50_000)));
    expect((await callWeb(url, {}, body)).trailers).toEqual({ "grpc-status": "0" });
    expect(bodies).toEqual([body.toString()]);
  });

  it("not twice", async () => {
    const { serve, calls } = refuseFirst(2);
    const url = await bridge(serve);
    expect((await callWeb(url)).trailers).toMatchObject({ "grpc-status": "14" });
    expect(calls()).toBe(2);
  });

  it("by GOAWAY: on another connection", async () => {
    const first = new Set<unknown>();
    let calls = 0;
    const url = await bridge((stream) => {
      calls++;
      if (calls === 1) first.add(stream.session);
      // Nothing after stream 1 will be looked at.
      if (calls === 2) stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1);
      else
        answerWith(stream, first.has(stream.session) ? HELLO : envelope(Buffer.from("again")), { "grpc-status": "0" });
    });
    expect((await callWeb(url)).messages).toEqual(["hello"]);
    expect((await callWeb(url)).messages).toEqual(["again"]);
    expect(calls).toBe(3);
  });

  it("when it is long, the call fails: not all of it was kept", async () => {
    const { serve } = refuseFirst(1);
    const late: Serve = (stream, header) => setTimeout(serve, 300, stream.resume(), header);
    const url = await bridge(late);
    const answer = await callWeb(url, {}, envelope(Buffer.alloc(1 << 20)));
    expect(answer.trailers).toMatchObject({ "grpc-status": "14" });
  });
});

test("data that Node tells of before it tells of the header, as it does when both come while it writes", async () => {
  const server = http.createServer((request, response) => {
    const stream = Object.assign(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), {
      rstCode: 0,
      close() {},
    });
    stream.push(HELLO);
    setTimeout(() => {
      stream.emit("response", OK, 0);
      stream.emit("trailers", { "grpc-status": "0" });
      stream.push(null);
    }, 50);
    // As much of a session as a call needs: a real one does this only in front of a fast backend in another process.
    const session = { destroyed: false, request: () => stream } as unknown as ClientHttp2Session;
    const sessions = { url: new URL("http://backend.example"), get: async () => session, close() {} };
    bridgeCall(request, response, "/pkg.Service/Method", sessions, (error) => expect.fail(error.message));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => server.close());
  const answer = await callWeb(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(answer).toMatchObject({ messages: ["hello"], trailers: { "grpc-status": "0" } });
  expect(answer.header["content-type"]).toBe("application/grpc-web");
});

test("a caller that leaves in the middle of its request: the stream is reset and was never ended", async () => {
  const { port } = await start((stream) => stream.resume());
  const frames: string[] = [];
  const tap = net.createServer((client) => {
    const server = net.connect(port, "127.0.0.1");
    server.on("error", () => {}).pipe(client.on("error", () => {}));
    readFrames(client, (frame) => frames.push(frame));
    client.pipe(server);
  });
  await once(tap.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => tap.close());
  const url = await bridgeTo((tap.address() as AddressInfo).port);
  const headers = { "content-type": "application/grpc-web" };
  const request = http.request(`${url}/pkg.Service/Method`, { method: "POST", headers, agent: false });
  request.on("error", () => {}).write(HELLO);
  await until(() => frames.includes("DATA"));
  request.destroy();
  await until(() => frames.includes("RST_STREAM 8"));
  expect(frames.filter((frame) => frame.startsWith("DATA"))).toEqual(["DATA"]);
});

/** RFC 9113 §4.1: DATA, with END_STREAM where it has it, and RST_STREAM with its code. */
function readFrames(from: net.Socket, onFrame: (frame: string) => void): void {
  let bytes = Buffer.alloc(0);
  let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length;
  from.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let length = 0; bytes.length >= preface + 9; bytes = bytes.subarray(length)) {
      if (preface > 0) length = preface;
      else length = 9 + bytes.readUIntBE(0, 3);
      if (bytes.length < length) return;
      if (preface === 0 && bytes[3] === 0) onFrame((bytes[4] as number) & 1 ? "DATA END_STREAM" : "DATA");
      if (preface === 0 && bytes[3] === 3) onFrame(`RST_STREAM ${bytes.readUInt32BE(9)}`);
      preface = 0;
    }
  });
}
