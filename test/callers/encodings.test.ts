/** Text that is not UTF-8, and bytes that are not in the coding they are said to be in: never guessed at (RFC 8259 §8.1). */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { describe, expect, test } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { type Answer, ask, whole } from "./wire.ts";

const backend = await openBackend();
const { ports } = await openGateways(backend, [{ forms: true, unknownFields: "ignore" }]);
const [port = 0] = ports;

const JSON_TEXT = '{"text":"\u00e9"}';
const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
const utf32 = (text: string) => Buffer.concat([...text].map((one) => Buffer.from([one.codePointAt(0) ?? 0, 0, 0, 0])));
/** A string of these bytes, in a value, in a key that is known or not, and in what is skipped. */
const inPlaces = (name: string, ...bytes: readonly number[]): readonly (readonly [string, Buffer])[] =>
  ['{"text":"@"}', '{"texts":{"@":"a"}}', '{"@":1}', '{"nope":"@"}', '{"nope":{"a":["@"]}}'].map((place) => {
    const [before = "", after = ""] = place.split("@");
    return [`${name} in ${place}`, Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])];
  });

const NOT_UTF8: readonly (readonly [string, Buffer])[] = [
  ["UTF-16, little end first", Buffer.from(JSON_TEXT, "utf16le")],
  ["UTF-16, big end first", utf16be(JSON_TEXT)],
  ["UTF-16 with its mark", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(JSON_TEXT, "utf16le")])],
  ["UTF-16 with its mark, big end first", Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be(JSON_TEXT)])],
  ["UTF-32", utf32(JSON_TEXT)],
  ["EBCDIC", Buffer.from([0xc0, 0x7f, 0xa3, 0x85, 0xa7, 0xa3, 0x7f, 0x7a, 0xf1, 0xd0])],
  ["UTF-7", Buffer.from("+AHsAIg-text+ACI-:1}")],
  ...inPlaces("Latin-1", 0xe9),
  ...inPlaces("an overlong slash", 0xc0, 0xaf),
  ...inPlaces("an overlong zero", 0xc0, 0x80),
  ...inPlaces("a surrogate", 0xed, 0xa0, 0x80),
  ...inPlaces("a pair of surrogates", 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
  ...inPlaces("beyond Unicode", 0xf4, 0x90, 0x80, 0x80),
  ...inPlaces("half a character", 0xe2, 0x82),
  ...inPlaces("a lone continuation", 0x80),
  ...inPlaces("a byte that is in no text", 0xff),
];

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

const CALLERS: Readonly<Record<string, (json: Buffer) => string>> = {
  REST: (json) => whole("POST", "/things", ["Content-Type: application/json"], latin1(json)),
  lines: (json) => whole("POST", "/collect", ["Content-Type: application/x-ndjson"], `${latin1(json)}\n`),
  Connect: (json) => whole("POST", "/callers.v1.Things/Set", ["Content-Type: application/json"], latin1(json)),
  "Connect GET": (json) =>
    `GET /callers.v1.Things/Get?connect=v1&encoding=json&base64=1&message=${json.toString("base64url")} HTTP/1.1\r\nHost: a\r\n\r\n`,
  "gRPC-Web": (json) =>
    whole(
      "POST",
      "/callers.v1.Things/Set",
      ["Content-Type: application/grpc-web+json"],
      latin1(encodeEnvelope(0, json)),
    ),
};

/** "refused": 400, or what envelopes have for it. */
function outcomeOf({ status, body }: Answer): unknown {
  if (status === 400) return "refused";
  const last = String(splitFrames(Buffer.from(body, "latin1")).frames.at(-1)?.data);
  return status === 200 && /grpc-status:3\r/.test(last) ? "refused" : [status, body];
}

describe.each(Object.entries(CALLERS))("%s", (_, format) => {
  test.each(NOT_UTF8)("%s", async (_, json) => {
    expect([outcomeOf(await ask(port, format(json))), backend.arrivals]).toEqual(["refused", []]);
  });

  test("UTF-8 with its mark is UTF-8", async () => {
    const { status } = await ask(port, format(Buffer.from(`\ufeff${JSON_TEXT}`)));
    expect([status, backend.arrivals.flatMap(messageOf)]).toEqual([200, [{ text: "\u00e9" }]]);
  });
});

const CODINGS: Readonly<Record<string, Buffer>> = {
  "no coding at all": Buffer.from(JSON_TEXT),
  "another coding": deflateSync(JSON_TEXT),
  "the coding without its frame": deflateRawSync(JSON_TEXT),
  Brotli: brotliCompressSync(JSON_TEXT),
  "cut in its head": gzipSync(JSON_TEXT).subarray(0, 5),
  "cut in its content": gzipSync(JSON_TEXT).subarray(0, -9),
  "cut in its check sum": gzipSync(JSON_TEXT).subarray(0, -1),
  "with another check sum": Buffer.concat([gzipSync(JSON_TEXT).subarray(0, -8), Buffer.alloc(8)]),
  "with more behind it": Buffer.concat([gzipSync(JSON_TEXT), Buffer.from("more")]),
  twice: gzipSync(gzipSync(JSON_TEXT)),
};

describe("a body that is said to be gzip", () => {
  test.each(Object.entries(CODINGS))("%s", async (_, bytes) => {
    const requests = ["/things", "/callers.v1.Things/Set"].map((target) =>
      whole("POST", target, ["Content-Type: application/json", "Content-Encoding: gzip"], latin1(bytes)),
    );
    requests.push(
      whole(
        "POST",
        "/callers.v1.Things/Set",
        ["Content-Type: application/grpc-web+json", "Grpc-Encoding: gzip"],
        latin1(encodeEnvelope(1, bytes)),
      ),
    );
    for (const request of requests) {
      expect([outcomeOf(await ask(port, request)), backend.arrivals]).toEqual(["refused", []]);
    }
  });
});
