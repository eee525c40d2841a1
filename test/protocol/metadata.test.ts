import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import {
  appendMetadata,
  type MetadataRules,
  putTrailer,
  requestMetadata,
  responseMetadata,
  takeTrailer,
} from "../../src/protocol/metadata.ts";

const RULES: MetadataRules = {
  allow: undefined,
  deny: new Set(),
  prefix: undefined,
  clientIpHeader: undefined,
  maxBytes: 1 << 20,
};

/** Names that never cross, in either direction. */
const DROPPED = [
  "accept",
  "accept-encoding",
  "connection",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-grpc-web",
  "x-server-timeout",
  "content-length",
  "content-type",
  "content-encoding",
  "content-md5",
  "grpc-timeout",
  "grpc-encoding",
  "grpc-status",
  "connect-protocol-version",
  "connect-timeout-ms",
  "cf-ray",
  "cf-connecting-ip",
  "x-forwarded-user",
  "x-forwarded-client-cert",
  "x-gateway-user",
];

test.each(DROPPED)("%s crosses in neither direction", (name) => {
  const header = new Headers({ [name]: "1", "x-other": "2" });
  expect([...requestMetadata(header, RULES)]).toEqual([["x-other", "2"]]);
  expect([...responseMetadata(header)]).toEqual([["x-other", "2"]]);
});

test.each([
  "authorization",
  "cookie",
  "user-agent",
  "x-request-id",
  "traceparent",
  "accept-language",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "connection-id",
  "grpcish",
])("%s reaches the backend", (name) => {
  expect([...requestMetadata(new Headers({ [name]: "v" }), RULES)]).toEqual([[name, "v"]]);
});

test.each(["content-disposition", "content-language", "etag", "cache-control", "retry-after", "trailer-x", "location"])(
  "%s reaches the caller",
  (name) => {
    expect([...responseMetadata(new Headers({ [name]: "v" }))]).toEqual([[name, "v"]]);
  },
);

test.each(["content-disposition", "content-language"])("%s is no request metadata", (name) => {
  expect([...requestMetadata(new Headers({ [name]: "v" }), RULES)]).toEqual([]);
});

test.each(["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"])("%s is no response metadata", (name) => {
  expect([...responseMetadata(new Headers({ [name]: "v" }))]).toEqual([]);
});

// RFC 9110 §7.6.1
test("what Connection names is hop-by-hop too", () => {
  const header = new Headers({ connection: "close, X-Hop ,x-other", "x-hop": "1", "x-other": "2", "x-stays": "3" });
  expect([...requestMetadata(header, RULES)]).toEqual([["x-stays", "3"]]);
  expect([...responseMetadata(header)]).toEqual([["x-stays", "3"]]);
});

test("values that are not printable ASCII stay behind", () => {
  const header = new Headers({ "x-latin": "caf\u00e9", "x-tab": "a\tb", "x-plain": "a b~" });
  expect([...requestMetadata(header, RULES)]).toEqual([["x-plain", "a b~"]]);
  expect([...responseMetadata(header)]).toEqual([["x-plain", "a b~"]]);
});

test("repeated fields keep their values and order", () => {
  const header = new Headers([
    ["x-a", "1"],
    ["X-A", "2"],
  ]);
  expect(requestMetadata(header, RULES).get("x-a")).toBe("1, 2");
});

test("each Set-Cookie stays its own field", () => {
  const header = new Headers([
    ["set-cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
    ["set-cookie", "b=2"],
  ]);
  const cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"];
  expect(responseMetadata(header).getSetCookie()).toEqual(cookies);
  const copy = new Headers({ "set-cookie": "z=0" });
  appendMetadata(copy, header);
  expect(copy.getSetCookie()).toEqual(["z=0", ...cookies]);
});

// gRPC over HTTP/2, Binary-Header: padded and unpadded, joined by commas.
test.each(["", "AQ", "AQ==", "AQI=", "AQID", "AQI=, Aw", "AQ,Ag ,Aw==", "-_8", "+/8="])(
  "-bin %j passes as it came",
  (value) => {
    expect(requestMetadata(new Headers({ "x-a-bin": value }), RULES).get("x-a-bin")).toBe(value);
  },
);

test.each(["A", "AQIDA", "A===", "AQ=", "A=QI", "=", "not base64!", "AQ AQ", "AQ;Ag"])(
  "-bin %j is refused",
  (value) => {
    expect(() => requestMetadata(new Headers({ "x-a-bin": value }), RULES)).toThrow(
      expect.toSatisfy(
        (error) =>
          error instanceof ConnectError && error.code === Code.InvalidArgument && /x-a-bin/.test(error.message),
      ),
    );
  },
);

test("a long -bin value that breaks at its end is refused in no time", () => {
  const startMs = performance.now();
  expect(() => requestMetadata(new Headers({ "x-a-bin": `${"A".repeat(60_000)}!` }), RULES)).toThrow(ConnectError);
  expect(performance.now() - startMs).toBeLessThan(500);
});

test("the caller's address is appended to x-forwarded-for", () => {
  const rules = { ...RULES, clientIpHeader: "cf-connecting-ip" };
  const header = new Headers({ "cf-connecting-ip": "192.0.2.7", "x-forwarded-for": "198.51.100.1" });
  expect([...requestMetadata(header, rules)]).toEqual([["x-forwarded-for", "198.51.100.1, 192.0.2.7"]]);
  header.delete("x-forwarded-for");
  expect([...requestMetadata(header, rules)]).toEqual([["x-forwarded-for", "192.0.2.7"]]);
  expect([...requestMetadata(header, RULES)]).toEqual([]);
});

test("allow: only these; deny: never these", () => {
  const header = new Headers({ "x-a": "1", "x-b": "2", "content-type": "text/plain" });
  const names = (rules: Partial<MetadataRules>) => [...requestMetadata(header, { ...RULES, ...rules }).keys()];
  expect(names({ allow: new Set(["x-a", "content-type"]) })).toEqual(["x-a"]);
  expect(names({ deny: new Set(["x-a"]) })).toEqual(["x-b"]);
  expect(names({ allow: new Set(["x-a", "x-b"]), deny: new Set(["x-b"]) })).toEqual(["x-a"]);
});

test("a prefix is taken off, beside the allow list, but brings nothing through that never passes", () => {
  const rules = { ...RULES, prefix: "grpc-metadata-", allow: new Set(["x-a"]), deny: new Set(["x-denied"]) };
  const header = new Headers({
    "Grpc-Metadata-User": "u",
    "grpc-metadata-x-b-bin": "AQ",
    "grpc-metadata-": "empty",
    "grpc-metadata-host": "evil.example",
    "grpc-metadata-transfer-encoding": "chunked",
    "grpc-metadata-content-length": "0",
    "grpc-metadata-connect-timeout-ms": "1",
    "grpc-metadata-x-gateway-user": "root",
    "grpc-metadata-x-forwarded-user": "root",
    "grpc-metadata-x-denied": "1",
    "x-a": "1",
    "x-c": "2",
  });
  expect(Object.fromEntries(requestMetadata(header, rules))).toEqual({ user: "u", "x-b-bin": "AQ", "x-a": "1" });
});

test("a prefixed -bin value is checked", () => {
  const header = new Headers({ "grpc-metadata-x-bin": "!" });
  expect(() => requestMetadata(header, { ...RULES, prefix: "grpc-metadata-" })).toThrow(ConnectError);
});

test("trailers go into the header with their prefix, and come out of it", () => {
  const header = new Headers({ "x-a": "1" });
  expect(takeTrailer(header)).toBeUndefined();
  putTrailer(header, new Headers({ "x-b": "2", "x-c-bin": "AQ" }));
  expect(Object.fromEntries(header)).toEqual({ "x-a": "1", "trailer-x-b": "2", "trailer-x-c-bin": "AQ" });
  expect(Object.fromEntries(takeTrailer(header) ?? [])).toEqual({ "x-b": "2", "x-c-bin": "AQ" });
  expect(Object.fromEntries(header)).toEqual({ "x-a": "1" });
  expect(takeTrailer(new Headers({ "trailer-": "no name" }))).toBeUndefined();
});
