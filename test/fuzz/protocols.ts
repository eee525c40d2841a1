/** The formats of Connect and gRPC-Web. */
import { deepStrictEqual, strictEqual } from "node:assert";
import { gunzipSync } from "node:zlib";
import { fromBinary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createEnvelopeReadableStream } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { openBase64 } from "../../src/protocol/base64-stream.ts";
import { parseTimeout } from "../../src/protocol/deadline.ts";
import { type Envelope, EnvelopeCutter } from "../../src/protocol/envelope.ts";
import { decodeMessage, encodeMessage, parseTrailers } from "../../src/protocol/grpc-web.ts";
import { requestMetadata } from "../../src/protocol/metadata.ts";
import { BookDesc, gatewayOf } from "../library-backend.ts";
import { bytesOf, cut, outcomeOf, type Target, textOf } from "./target.ts";

const MAX_BYTES = 64;

const binary = (...pieces: readonly (readonly number[])[]) =>
  textOf(...pieces.map((bytes) => String.fromCharCode(...bytes)));

/** Cut anywhere, the same envelopes come out, and they are those that connect-es reads. */
export const envelope: Target = {
  inputs: binary(
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 7],
    [1, 0, 0, 0, 2, 8, 9],
    [2, 0, 0, 0, 2, 123, 125],
    [0, 0, 0, 0, 65],
    [0x80],
  ),
  async ask(input, salt) {
    const bytes = bytesOf(input);
    const whole = envelopesOf([bytes]);
    deepStrictEqual(envelopesOf(cut(bytes, salt)), whole);
    deepStrictEqual(envelopesOf(Array.from(bytes, (byte) => Uint8Array.of(byte))), whole);
    if (whole.fault !== undefined) return;
    const peer: Envelope[] = [];
    try {
      const stream = createEnvelopeReadableStream(new Blob([bytes]).stream() as ReadableStream<Uint8Array>);
      for await (const { flags, data } of stream) peer.push({ flags, data: Uint8Array.from(data) });
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      strictEqual(whole.rest > 0, true, "the peer refuses what is whole");
    }
    deepStrictEqual(whole.envelopes, peer);
  },
};

function envelopesOf(chunks: readonly Uint8Array[]): {
  envelopes: Envelope[];
  rest: number;
  fault: string | undefined;
} {
  const cutter = new EnvelopeCutter(MAX_BYTES, () => undefined);
  const envelopes: Envelope[] = [];
  const end = outcomeOf(() => {
    for (const chunk of chunks) {
      for (const { flags, data } of cutter.push(chunk)) envelopes.push({ flags, data: Uint8Array.from(data) });
    }
  });
  const fault = end instanceof ConnectError ? end.message : undefined;
  return { envelopes, rest: fault === undefined ? cutter.rest : 0, fault };
}

const ANSWER = { status: 200, headers: { "content-type": "application/proto" } };

/** Messages that reached the backend. */
const asked: Uint8Array[] = [];

async function answer(_: unknown, init?: RequestInit): Promise<Response> {
  asked.push(new Uint8Array(await new Response(init?.body).arrayBuffer()));
  return new Response(new Uint8Array(0), ANSWER);
}

const gateway = gatewayOf("", {
  rpc: "all",
  forms: true,
  backends: { "*": { url: "http://backend.example", fetch: answer } },
});

/**
 * Whatever the query: the backend is asked only for what is a right GET, as URLSearchParams and protobuf-es read it, and
 * no answer blames it.
 */
export const connectGet: Target = {
  inputs: textOf(
    ..."connect=v1& connect=v2 encoding=proto& encoding=json& encoding= base64=1& base64=0 message= message=%7B%7D& message=CgFh& compression=gzip& compression=identity& compression=nope CgFh %0A%01a %ff == & = +".split(
      " ",
    ),
  ),
  async ask(input) {
    asked.length = 0;
    const query = encodeURI(input.toWellFormed()).replaceAll("%25", "%").replaceAll("#", "");
    const response = await gateway.fetch(new Request(`http://gateway.example/library.v1.Library/GetBook?${query}`));
    await response.arrayBuffer();
    // Connect's unimplemented, for a compression that nobody knows.
    strictEqual(response.status < 500 || response.status === 501, true, `HTTP ${response.status}`);
    strictEqual(asked.length, response.status === 200 ? 1 : 0);
    const [wire] = asked;
    if (wire) checkMessage(wire, query);
  },
};

/** connectrpc.com/docs/protocol, "Unary-Get-Request". What was binary passes as it is. */
function checkMessage(wire: Uint8Array, query: string): void {
  const parameters = new URLSearchParams(query);
  // Its escapes may be of any bytes, which URLSearchParams takes for UTF-8.
  const [, text = ""] = /(?:^|&)message(?:=([^&]*)|(?=&|$))/.exec(query) ?? [];
  const byteOf = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 16));
  const raw = Buffer.from(text.replaceAll("+", " ").replace(/%([0-9a-f]{2})/gi, byteOf), "latin1");
  const sent = parameters.get("base64") === "1" ? Buffer.from(raw.toString(), "base64url") : raw;
  const bytes = parameters.get("compression") === "gzip" ? gunzipSync(sent) : sent;
  if (parameters.get("encoding") === "proto") {
    deepStrictEqual([...wire], [...bytes]);
    return;
  }
  const message = fromJson(BookDesc, JSON.parse(bytes.toString()));
  deepStrictEqual(toJson(BookDesc, fromBinary(BookDesc, wire)), toJson(BookDesc, message));
}

/** Fields of a Book in a form, and where they go in its JSON. */
const FORM_FIELDS: Readonly<Record<string, (value: string) => JsonObject>> = Object.assign(Object.create(null), {
  name: (name: string) => ({ name }),
  // The peer takes no exponents in quotes, which the conformance suite asks for.
  pages: (pages: string) => ({ pages: INTEGER.test(pages) ? pages : String(Number(pages)) }),
  note: (note: string) => ({ note }),
  "other.by": (by: string) => ({ other: { by } }),
});
/** Of an int64, as ProtoJSON prints it. */
const INTEGER = /^(?:0|-?[1-9]\d{0,17})$/;

/** A form means what URLSearchParams reads in it, and one that means nothing reaches nobody. */
export const form: Target = {
  inputs: textOf(
    ..."name= name note= pages= pages=12 pages=-3 other.by= nope= __proto__= other= a 0 1e3 = & & & + %20 %26 %C3%A9 %C3 %zz % é ;".split(
      " ",
    ),
  ),
  async ask(input) {
    asked.length = 0;
    const response = await gateway.fetch(
      new Request("http://gateway.example/v1/books", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: input,
      }),
    );
    await response.arrayBuffer();
    const pairs = [...new URLSearchParams(`&${input}`)];
    const names = pairs.map(([name]) => name);
    const isRight =
      /^(?:[^%\ufffd]|%(?:20|26|C3%A9))*$/.test(input) &&
      new Set(names).size === names.length &&
      pairs.every(([name, value]) => FORM_FIELDS[name] && (name !== "pages" || INTEGER.test(value)));
    strictEqual(response.status === 200 || response.status === 400, true, `HTTP ${response.status}`);
    strictEqual(asked.length, response.status === 200 ? 1 : 0);
    if (isRight) strictEqual(response.status, 200, "refused");
    const [wire] = asked;
    if (!wire) return;
    const message = Object.assign({}, ...pairs.map(([name, value]) => FORM_FIELDS[name]?.(value)));
    deepStrictEqual(toJson(BookDesc, fromBinary(BookDesc, wire)), toJson(BookDesc, fromJson(BookDesc, message)));
  },
};

const FIELD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*$/;

/** Trailers as connect-es reads them, the text form as Buffer does, and messages as RFC 3986 has escapes. */
export const grpcWeb: Target = {
  inputs: textOf(
    "grpc-status:",
    "grpc-message:",
    "x-a:",
    "x-A :",
    " ",
    "0",
    "13",
    "a%20b",
    "%zz",
    "%C3%A9",
    "\r\n",
    "\r\n",
    ":",
    "\n",
    "é",
  ),
  async ask(input, salt) {
    const bytes = new TextEncoder().encode(input);
    let peer: Headers | undefined;
    try {
      peer = trailerParse(bytes);
    } catch {}
    const own = parseTrailers(bytes);
    // The peer is laxer about lines that are no field of RFC 9112 §5.
    if (peer && input.split("\r\n").every((line) => line === "" || FIELD.test(line))) {
      for (const [name, value] of peer) strictEqual(own.get(name), value, name);
    }

    const message = encodeMessage(input);
    strictEqual(/^[\x20-\x7e]*$/.test(message) && message.trim() === message, true, "not for a header");
    strictEqual(decodeURIComponent(message), input.toWellFormed());
    strictEqual(decodeMessage(message), input.toWellFormed());

    const pieces = cut(bytes, salt).map((piece) => Buffer.from(piece).toString("base64"));
    const text = cut(new TextEncoder().encode(pieces.join("")), salt >>> 3).filter((chunk) => chunk.length > 0);
    deepStrictEqual(await decoded(text), [...bytes]);
    const damaged = pieces.join("").slice(0, -1);
    if (damaged !== "") strictEqual((await decoded([new TextEncoder().encode(damaged)])) instanceof ConnectError, true);
  },
};

function streamFrom(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function decoded(chunks: readonly Uint8Array[]): Promise<number[] | ConnectError> {
  const { read } = openBase64(streamFrom(chunks), Code.InvalidArgument);
  const bytes: number[] = [];
  try {
    for (let chunk = await read(); chunk; chunk = await read()) bytes.push(...chunk);
    return bytes;
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/** RFC 9110 §7.6.1, and what belongs to one exchange. */
const NEVER =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-.*|grpc-.*|connect-.*)$/;
const RULES = {
  allow: undefined,
  deny: new Set<string>(),
  prefix: undefined,
  clientIpHeader: undefined,
  maxBytes: 1 << 16,
};

/** Timeouts as connect-es reads them; of fields only those of the call pass, and only what a field may hold. */
export const headers: Target = {
  inputs: textOf(
    ..."grpc-timeout connect-timeout-ms : \n 1 9 00 S m u n H M 99999999 x-a -bin AA== connection: te: host: content-type: a b , \t \u00e9 ;".split(
      " ",
    ),
  ),
  ask(input) {
    const header = new Headers();
    for (const line of input.split("\n")) {
      const colon = line.indexOf(":");
      try {
        header.append(line.slice(0, colon), line.slice(colon + 1));
      } catch {}
    }
    const passed = outcomeOf(() => requestMetadata(header, RULES));
    if (!(passed instanceof ConnectError)) {
      for (const [name, value] of passed) {
        strictEqual(NEVER.test(name), false, name);
        strictEqual(/^[\x20-\x7e]*$/.test(value), true, name);
      }
    }
    checkTimeout("grpc-timeout", header, parseGrpcTimeout);
    checkTimeout("connect-timeout-ms", header, parseConnectTimeout);
  },
};

function checkTimeout(name: string, header: Headers, parse: typeof parseGrpcTimeout): void {
  const value = header.get(name);
  if (value === null) return;
  const own = outcomeOf(() => parseTimeout(new Headers({ [name]: value })));
  const peer = parse(value, Number.POSITIVE_INFINITY);
  if (own instanceof ConnectError) strictEqual(peer.error !== undefined, true, `${name}: ${value} is refused`);
  else strictEqual(own, Math.ceil(peer.timeoutMs ?? Number.NaN), `${name}: ${value}`);
}
