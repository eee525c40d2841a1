/** Backends that end a call in every way there is, well and badly. */
import http2, { type ServerHttp2Stream } from "node:http2";
import { afterEach, expect, it } from "vitest";
import { createBridge } from "../../src/node/bridge.ts";
import { type Answer, answerWith, callWeb, HELLO, OK, type Serve, startH2 } from "./h2-backend.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const data = (bytes: Buffer, then: (stream: ServerHttp2Stream) => void) => (stream: ServerHttp2Stream) => {
  stream.respond(OK);
  stream.write(bytes, () => setTimeout(then, 20, stream));
};
/** Without `waitForTrailers` Node would end the stream before it resets it. */
const reset = (bytes: Buffer, code: number) => (stream: ServerHttp2Stream) => {
  stream.respond(OK, { waitForTrailers: true });
  stream.write(bytes, () => setTimeout(() => stream.close(code), 20));
};
const { constants } = http2;

// PROTOCOL-HTTP2 says what each is.
it.each([
  [
    "trailers-only",
    (stream) => stream.respond({ ...OK, "grpc-status": 9, "grpc-message": "no%21", "x-end": "1" }, { endStream: true }),
    { messages: [], trailers: { "grpc-status": "9", "grpc-message": "no%21", "x-end": "1" } },
  ],
  [
    "trailers-only, ended by an empty frame of data",
    (stream) => {
      stream.respond({ ...OK, "grpc-status": 9, "grpc-message": "no", "x-begin": "1" });
      stream.end();
    },
    { messages: [], header: { "x-begin": "1" }, trailers: { "grpc-status": "9", "grpc-message": "no" } },
  ],
  [
    "a status in the header, and another in the trailers",
    (stream) => answerWith(stream, HELLO, { "grpc-status": "9" }, { "grpc-status": 0 }),
    { messages: ["hello"], trailers: { "grpc-status": "9" } },
  ],
  [
    "a status in the header, then data and no trailers",
    (stream) => {
      stream.respond({ ...OK, "grpc-status": 0 });
      stream.end(HELLO);
    },
    { messages: ["hello"], trailers: { "grpc-status": "13" } },
  ],
  [
    "trailers without a status",
    (stream) => answerWith(stream, HELLO, { "x-end": "1" }),
    { messages: ["hello"], trailers: { "x-end": "1" } },
  ],
  ["no trailers", data(HELLO, (stream) => stream.end()), { messages: ["hello"], trailers: { "grpc-status": "13" } }],
  ["no trailers and no data", data(Buffer.alloc(0), (stream) => stream.end()), { trailers: { "grpc-status": "13" } }],
  [
    "half a message, no trailers",
    data(HELLO.subarray(0, 7), (stream) => stream.end()),
    { broken: true, trailers: undefined },
  ],
  [
    "half a prefix, and success",
    (stream) => answerWith(stream, HELLO.subarray(0, 3), { "grpc-status": "0" }),
    { broken: true },
  ],
  [
    "half a message, and success",
    (stream) => answerWith(stream, HELLO.subarray(0, 7), { "grpc-status": "0" }),
    { broken: true },
  ],
  [
    "a message that would pass for trailers",
    data(Buffer.concat([HELLO, Buffer.from([0x80, 0, 0, 0, 16]), Buffer.from("grpc-status: 0\r\n")]), (stream) =>
      stream.end(),
    ),
    { messages: [], trailers: { "grpc-status": "13" } },
  ],
  [
    "another content type",
    (stream) => stream.respond({ ":status": 200, "content-type": "image/jpeg" }, { endStream: true }),
    { trailers: { "grpc-status": "2" } },
  ],
  [
    "no content type",
    (stream) => stream.respond({ ":status": 200 }, { endStream: true }),
    { trailers: { "grpc-status": "2" } },
  ],
  [
    "HTTP/1.1 only",
    (stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED),
    { trailers: { "grpc-status": "13" } },
  ],
  ["a lost connection", (stream) => stream.session?.destroy(), { trailers: { "grpc-status": "14" } }],
  [
    "a lost connection after a message",
    data(HELLO, (stream) => stream.session?.destroy()),
    { messages: ["hello"], trailers: { "grpc-status": "14" } },
  ],
  ["a lost connection within one", data(HELLO.subarray(0, 7), (stream) => stream.session?.destroy()), { broken: true }],
  // http-grpc-status-mapping.
  ...(
    [
      [400, 13],
      [401, 16],
      [403, 7],
      [404, 12],
      [429, 14],
      [502, 14],
      [503, 14],
      [504, 14],
      [500, 2],
      [302, 2],
    ] as const
  ).map(([status, code]): [string, Serve, Partial<Answer>] => [
    `HTTP ${status}`,
    (stream) => {
      stream.respond({ ":status": status, "content-type": "text/html" });
      stream.end("<html>");
    },
    { messages: [], trailers: { "grpc-status": String(code) } },
  ]),
  [
    "HTTP 503 with a status of its own",
    (stream) => stream.respond({ ...OK, ":status": 503, "grpc-status": 8 }, { endStream: true }),
    { trailers: { "grpc-status": "8" } },
  ],
  // "Errors".
  ...(
    [
      ["PROTOCOL_ERROR", 13],
      ["INTERNAL_ERROR", 13],
      ["FLOW_CONTROL_ERROR", 13],
      ["SETTINGS_TIMEOUT", 13],
      ["FRAME_SIZE_ERROR", 13],
      ["REFUSED_STREAM", 14],
      ["CANCEL", 1],
      ["COMPRESSION_ERROR", 13],
      ["CONNECT_ERROR", 13],
      ["ENHANCE_YOUR_CALM", 8],
      ["INADEQUATE_SECURITY", 7],
    ] as const
  ).flatMap(([name, status]): [string, Serve, Partial<Answer>][] => {
    const trailers = { "grpc-status": String(status), "grpc-message": `the backend reset the stream: ${name}` };
    const code = constants[`NGHTTP2_${name}`];
    return [
      [`${name} at once`, (stream) => stream.close(code), { messages: [], trailers }],
      [`${name} after a message`, reset(HELLO, code), { messages: ["hello"], trailers }],
      [`${name} within a message`, reset(HELLO.subarray(0, 7), code), { broken: true, trailers: undefined }],
    ];
  }),
] as [string, Serve, Partial<Answer>][])("%s", async (_, serve, expected) => {
  const backend = await startH2(serve);
  cleanups.push(() => backend.stop());
  const log: string[] = [];
  const to = `http://127.0.0.1:${backend.port}`;
  const { url, close } = await createBridge({ to, log: (line) => log.push(line) });
  cleanups.push(close);
  const answer = await callWeb(url);
  expect(answer).toMatchObject({ broken: false, ...expected });
  if (answer.broken) expect(answer.trailers).toBeUndefined();
  expect(answer.header["content-type"]).toBe("application/grpc-web");
  expect(answer.header).not.toHaveProperty("grpc-status");
  // Node puts one into every header.
  expect(answer.trailers ?? {}).not.toHaveProperty("date");
  // What the bridge has to say itself, the log has too.
  const own = answer.broken || answer.trailers?.["grpc-message"]?.includes("the backend");
  expect(log).toHaveLength(own ? 1 : 0);
});

// grpc-go does so, as server and as client.
it.each([
  ["after the deadline", "50m", "4"],
  ["before it", "10S", "1"],
  ["with a timeout that is none", "soon", "1"],
])("a cancelled stream %s", async (_, timeout, status) => {
  const backend = await startH2((stream) => setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), 100));
  cleanups.push(() => backend.stop());
  const { url, close } = await createBridge({ to: `http://127.0.0.1:${backend.port}` });
  cleanups.push(close);
  const answer = await callWeb(url, { "grpc-timeout": timeout });
  expect(answer).toMatchObject({ broken: false, messages: [], trailers: { "grpc-status": status } });
});
