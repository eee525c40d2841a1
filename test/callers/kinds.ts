/** Requests of every kind of body, from every kind of caller. */
import { gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";

export interface Kind {
  readonly name: string;
  readonly target: string;
  readonly lines: readonly string[];
  /** Its code points are bytes. */
  readonly body: string;
  /** What the backend is to be sent. */
  readonly message: unknown;
  /** Its bytes go on to the backend as they come, or its messages do: the backend is called before the body is whole. */
  readonly isPiped?: true;
}

const TEXT = "abcdefghij".repeat(20);
const JSON_TEXT = JSON.stringify({ text: TEXT });
/** `text`, of 200 bytes. */
const WIRE = Buffer.concat([Uint8Array.of(0x0a, 0xc8, 0x01), Buffer.from(TEXT)]);

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const enveloped = (data: Uint8Array | string, flags = 0) =>
  latin1(encodeEnvelope(flags, typeof data === "string" ? Buffer.from(data) : data));

const MESSAGE = { text: TEXT };

export const KINDS: readonly Kind[] = [
  { name: "REST", target: "/things", lines: ["Content-Type: application/json"], body: JSON_TEXT, message: MESSAGE },
  {
    name: "REST, compressed",
    target: "/things",
    lines: ["Content-Type: application/json", "Content-Encoding: gzip"],
    body: latin1(gzipSync(JSON_TEXT)),
    message: MESSAGE,
  },
  {
    name: "REST, protobuf",
    target: "/things",
    lines: ["Content-Type: application/x-protobuf"],
    body: latin1(WIRE),
    message: MESSAGE,
  },
  {
    name: "a form",
    target: "/things",
    lines: ["Content-Type: multipart/form-data; boundary=b"],
    body: `--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n${TEXT}\r\n--b--\r\n`,
    message: MESSAGE,
  },
  {
    name: "an upload",
    target: "/raw",
    lines: ["Content-Type: text/plain"],
    body: TEXT,
    message: { contentType: "text/plain", data: Buffer.from(TEXT).toString("base64") },
  },
  {
    name: "lines",
    target: "/collect",
    lines: ["Content-Type: application/x-ndjson"],
    body: `${JSON_TEXT}\n${JSON_TEXT}\n`,
    message: [MESSAGE, MESSAGE],
    isPiped: true,
  },
  {
    name: "an array",
    target: "/collect",
    lines: ["Content-Type: application/json"],
    body: `[${JSON_TEXT},${JSON_TEXT}]`,
    message: [MESSAGE, MESSAGE],
    isPiped: true,
  },
  {
    name: "Connect",
    target: "/callers.v1.Things/Set",
    lines: ["Content-Type: application/json", "Connect-Protocol-Version: 1"],
    body: JSON_TEXT,
    message: MESSAGE,
  },
  {
    name: "Connect in binary, which passes through",
    target: "/callers.v1.Things/Set",
    lines: ["Content-Type: application/proto"],
    body: latin1(WIRE),
    message: MESSAGE,
    isPiped: true,
  },
  {
    name: "Connect stream",
    target: "/callers.v1.Things/Collect",
    lines: ["Content-Type: application/connect+json"],
    body: enveloped(JSON_TEXT) + enveloped(JSON_TEXT),
    message: [MESSAGE, MESSAGE],
    isPiped: true,
  },
  {
    name: "Connect stream in binary, which passes through",
    target: "/callers.v1.Things/Collect",
    lines: ["Content-Type: application/connect+proto"],
    body: enveloped(WIRE) + enveloped(WIRE),
    message: [MESSAGE, MESSAGE],
    isPiped: true,
  },
  {
    name: "gRPC-Web",
    target: "/callers.v1.Things/Set",
    lines: ["Content-Type: application/grpc-web+proto"],
    body: enveloped(WIRE),
    message: MESSAGE,
  },
  {
    name: "gRPC-Web in text",
    target: "/callers.v1.Things/Set",
    lines: ["Content-Type: application/grpc-web-text"],
    body: Buffer.from(enveloped(WIRE), "latin1").toString("base64"),
    message: MESSAGE,
  },
];
