/** Faults of compressed bodies. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import type { ExpectHttp } from "../cases/case.ts";
import { type BuiltCase, GET, GRPC_WEB, JSON_TYPE, LONG_JSON, LONG_WIRE, MIB, SET, testBuilt } from "./built-case.ts";

const ZEROS = Buffer.alloc(128 * MIB);
/** The beginning of an array, and much white space. */
const SPACES = Buffer.concat([Buffer.from("["), Buffer.alloc(128 * MIB, 0x20)]);
const SHORT_JSON = Buffer.from('{"id":"a"}');
const SHORT_WIRE = Buffer.from([0x0a, 1, 0x61]);

const TOO_LARGE: ExpectHttp = { status: 413, body_json_partial: { code: Code.ResourceExhausted } };
const REFUSED: ExpectHttp = { status: 400, body_json_partial: { code: Code.InvalidArgument } };
const NOT_OFFERED: ExpectHttp = { status: 415, headers_contain: { "accept-encoding": "gzip" } };
const EXHAUSTED: ExpectHttp = { status: 200, trailers_anywhere: { "grpc-status": String(Code.ResourceExhausted) } };
const ONE_MIB = { max_request_bytes: MIB };
const TAKEN = { rpc: { method: SET, message_json: { id: "a" } }, upstream: {}, http: { status: 200 } };

const coded = (coding: string, bytes: Buffer): BuiltCase["request"] => ({
  headers: { ...JSON_TYPE, "content-encoding": coding },
  bytes,
});
const junkBehind = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(1)]);
await testBuilt({
  "BUG-106: a bomb is taken no further than the limit": [
    {
      name: "REST",
      options: ONE_MIB,
      request: coded("gzip", gzipSync(ZEROS, { level: 1 })),
      http: TOO_LARGE,
    },
    {
      name: "a stream of requests",
      options: ONE_MIB,
      request: { path: "/v1/up", ...coded("gzip", gzipSync(SPACES, { level: 1 })) },
      http: { status_any_of: [400, 413] },
    },
    {
      name: "Connect",
      options: ONE_MIB,
      request: { path: `/${SET}`, ...coded("gzip", gzipSync(ZEROS, { level: 1 })) },
      http: { status: 429, body_json_partial: { code: "resource_exhausted" } },
    },
  ],
  "BUG-107: whichever the coding": [
    ...["gzip", "x-gzip", "deflate"].map((coding) => ({
      name: coding,
      options: ONE_MIB,
      request: coded(coding, coding === "deflate" ? deflateSync(ZEROS, { level: 1 }) : gzipSync(ZEROS, { level: 1 })),
      http: TOO_LARGE,
    })),
    { name: "br", options: ONE_MIB, request: coded("br", brotliCompressSync(LONG_JSON)), http: NOT_OFFERED },
    { name: "zstd", options: ONE_MIB, request: coded("zstd", zstdCompressSync(LONG_JSON)), http: NOT_OFFERED },
    { name: "snappy", options: ONE_MIB, request: coded("snappy", LONG_JSON), http: NOT_OFFERED },
    {
      name: "one over the other",
      options: ONE_MIB,
      request: coded("gzip, gzip", gzipSync(gzipSync(LONG_JSON))),
      http: NOT_OFFERED,
    },
  ],
  "BUG-109: the limit is that of the message, not of what it was compressed to": [
    {
      name: "gRPC-Web",
      options: { max_request_bytes: 1024 },
      request: {
        path: `/${GET}`,
        headers: { ...GRPC_WEB, "grpc-encoding": "gzip" },
        envelopes: [{ flags: 1, base64: gzipSync(LONG_WIRE).toString("base64") }],
      },
      http: EXHAUSTED,
    },
    {
      name: "a Connect stream",
      options: { max_request_bytes: 1024 },
      request: {
        path: "/faults.v1.Shop/List",
        headers: { "content-type": "application/connect+json", "connect-content-encoding": "gzip" },
        envelopes: [{ flags: 1, base64: gzipSync(LONG_JSON).toString("base64") }],
      },
      http: { status: 200, envelopes_partial: [{ flags: 2, json: { error: { code: "resource_exhausted" } } }] },
    },
    {
      name: "Connect GET",
      options: { max_request_bytes: 1024 },
      request: {
        method: "GET",
        path: `/faults.v1.Shop/Peek?connect=v1&encoding=json&compression=gzip&base64=1&message=${gzipSync(LONG_JSON).toString("base64url")}`,
        headers: {},
      },
      http: { status: 429, body_json_partial: { code: "resource_exhausted" } },
    },
  ],
  "BUG-185: what was decoded is not called encoded": [
    ...["gzip", "x-gzip", "deflate"].map((coding) => ({
      name: `${coding}, made JSON`,
      request: { method: "GET", path: "/v1/x", headers: {} },
      rpc: { method: GET, message_json: {} },
      upstream: {
        raw: {
          status: 200,
          headers: [
            ["content-type", "application/proto"],
            ["content-encoding", coding],
          ] as const,
          body_base64: (coding === "deflate" ? deflateSync : gzipSync)(SHORT_WIRE).toString("base64"),
        },
      },
      // What fetch does not decode is an error, and never taken for the message.
      http:
        coding === "gzip"
          ? { status: 200, headers_absent: ["content-encoding"], body_text: '{"id":"a"}' }
          : { status_any_of: [200, 500], headers_absent: ["content-encoding"] },
    })),
    {
      name: "an error",
      request: { method: "GET", path: "/v1/x", headers: {} },
      rpc: { method: GET, message_json: {} },
      upstream: {
        raw: {
          status: 404,
          headers: [
            ["content-type", "application/json"],
            ["content-encoding", "gzip"],
          ],
          body_base64: gzipSync('{"code":"not_found","message":"no"}').toString("base64"),
        },
      },
      http: { status: 404, headers_absent: ["content-encoding"], body_json: { code: 5, message: "no" } },
    },
    {
      name: "what passes untouched keeps both",
      request: {
        path: `/${GET}`,
        headers: { "content-type": "application/proto", "accept-encoding": "gzip" },
        bytes: Buffer.alloc(0),
      },
      rpc: { method: GET, message_json: {} },
      upstream: {
        raw: {
          status: 200,
          headers: [
            ["content-type", "application/proto"],
            ["content-encoding", "gzip"],
          ],
          body_base64: gzipSync(SHORT_WIRE).toString("base64"),
        },
      },
      http: {
        status: 200,
        headers: { "content-encoding": "gzip" },
        body_base64: gzipSync(SHORT_WIRE).toString("base64"),
      },
    },
  ],
  "BUG-187: a compressed request is the request": [
    { name: "gzip", request: coded("gzip", gzipSync(SHORT_JSON)), ...TAKEN },
    { name: "deflate", request: coded("deflate", deflateSync(SHORT_JSON)), ...TAKEN },
    { name: "in upper case", request: coded("GZIP", gzipSync(SHORT_JSON)), ...TAKEN },
    { name: "chunked", options: { body_as_stream: true }, request: coded("gzip", gzipSync(SHORT_JSON)), ...TAKEN },
    { name: "Connect", request: { path: `/${SET}`, ...coded("gzip", gzipSync(SHORT_JSON)) }, ...TAKEN },
    { name: "identity", request: coded("identity", SHORT_JSON), ...TAKEN },
  ],
  "BUG-188: bytes behind compressed data are the caller's fault": [
    { name: "deflate", request: coded("deflate", junkBehind(deflateSync(SHORT_JSON))), http: REFUSED },
    { name: "gzip", request: coded("gzip", junkBehind(gzipSync(SHORT_JSON))), http: REFUSED },
    {
      name: "in an envelope",
      request: {
        path: `/${GET}`,
        headers: { ...GRPC_WEB, "grpc-encoding": "deflate" },
        envelopes: [{ flags: 1, base64: junkBehind(deflateSync(SHORT_WIRE)).toString("base64") }],
      },
      http: { status: 200, trailers_anywhere: { "grpc-status": String(Code.InvalidArgument) } },
    },
  ],
  "BUG-189: broken compressed data is the caller's fault": [
    { name: "no gzip at all", request: coded("gzip", SHORT_JSON), http: REFUSED },
    { name: "cut off", request: coded("gzip", gzipSync(LONG_JSON).subarray(0, 60)), http: REFUSED },
    {
      name: "a wrong checksum",
      request: coded("gzip", Buffer.concat([gzipSync(SHORT_JSON).subarray(0, -8), Buffer.alloc(8)])),
      http: REFUSED,
    },
    {
      name: "nothing",
      request: coded("gzip", Buffer.alloc(0)),
      rpc: { method: SET, message_json: {} },
      upstream: {},
      http: { status: 200 },
    },
    {
      name: "Connect",
      request: { path: `/${SET}`, ...coded("gzip", SHORT_JSON) },
      http: { status: 400, body_json_partial: { code: "invalid_argument" } },
    },
    { name: "a stream of requests", request: { path: "/v1/up", ...coded("gzip", SHORT_JSON) }, http: REFUSED },
  ],
});
