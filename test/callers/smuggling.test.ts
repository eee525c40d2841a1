/**
 * Requests that two parsers may part in two ways (RFC 9112 §6.3, §7.1, §11.2): refused, or read as one and the connection
 * closed behind. What was hidden in them is never a request of its own.
 */
import { expect, test } from "vitest";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { openWire, statusesOf } from "./wire.ts";

const backend = await openBackend();
const workerd = await openGateways(backend, [{}]);
const port = workerd.ports[0] ?? 0;

const SETTLE_MS = 150;

/** What no caller here has asked for. */
const HIDDEN = "GET /vault HTTP/1.1\r\nHost: gateway.example\r\n\r\n";

/** A POST of JSON. @param lines fields that say how long it is. */
const post = (...lines: readonly string[]) =>
  ["POST /things HTTP/1.1", "Host: gateway.example", "Content-Type: application/json", ...lines, "", ""].join("\r\n");

const CHUNKED = "Transfer-Encoding: chunked";
const BODY = "2\r\n{}\r\n0\r\n\r\n";

interface Shape {
  readonly request: string;
  /** Answers, in order. 4xx: whichever. */
  readonly statuses: readonly (number | "4xx")[];
  /** Messages that reached the backend. Default none. */
  readonly calls?: readonly unknown[];
  /** The connection must end with the answer: what follows cannot be trusted. */
  readonly closes?: true;
}

const refused = (request: string): Shape => ({ request, statuses: ["4xx"], closes: true });
const taken = (request: string): Shape => ({ request, statuses: [200], calls: [{}] });

const SHAPES: Readonly<Record<string, Shape>> = {
  // Content-Length.
  "two lengths": refused(`${post("Content-Length: 2", "Content-Length: 40")}{}${HIDDEN}`),
  "two lengths, the larger first": refused(`${post("Content-Length: 40", "Content-Length: 2")}{}${HIDDEN}`),
  "a list of lengths": refused(`${post("Content-Length: 2, 40")}{}${HIDDEN}`),
  "a length with a sign": refused(`${post("Content-Length: +2")}{}${HIDDEN}`),
  "a length below zero": refused(post("Content-Length: -2") + HIDDEN),
  "a length in hexadecimal": refused(`${post("Content-Length: 0x2")}{}${HIDDEN}`),
  "a length beyond 64 bits": refused(`${post("Content-Length: 18446744073709551618")}{}${HIDDEN}`),
  "a length with a point": refused(`${post("Content-Length: 2.0")}{}${HIDDEN}`),
  "no length at all": refused(post("Content-Length: ") + HIDDEN),
  "a length whose name has a space behind": refused(`${post("Content-Length : 2")}{}${HIDDEN}`),
  "the same length twice": taken(`${post("Content-Length: 2", "Content-Length: 2")}{}`),
  // Transfer-Encoding. §6.1: who sends both gets its connection closed; the length does not count.
  "a length and chunks": {
    request: `${post("Content-Length: 6", CHUNKED)}0\r\n\r\n${HIDDEN}`,
    statuses: [200],
    calls: [{}],
    closes: true,
  },
  "chunks and a length": {
    request: post(CHUNKED, "Content-Length: 4") + BODY + HIDDEN,
    statuses: [200],
    calls: [{}],
    closes: true,
  },
  "chunked and identity": refused(post(CHUNKED, "Transfer-Encoding: identity") + BODY + HIDDEN),
  "chunked is not the last": refused(post("Transfer-Encoding: chunked, gzip") + BODY + HIDDEN),
  "no coding that there is": refused(post("Transfer-Encoding: xchunked") + BODY + HIDDEN),
  "identity, and a length": refused(`${post("Transfer-Encoding: identity", "Content-Length: 2")}{}${HIDDEN}`),
  "chunked behind a vertical tab": refused(`${post("Transfer-Encoding: \x0bchunked", "Content-Length: 2")}{}${HIDDEN}`),
  "chunked, its name with a space behind": refused(
    `${post("Transfer-Encoding : chunked", "Content-Length: 2")}{}${HIDDEN}`,
  ),
  "chunked on a folded line": refused(`${post("Transfer-Encoding:\r\n chunked", "Content-Length: 2")}{}${HIDDEN}`),
  "chunked behind a bare CR": refused(`${post(`X-A: a\r${CHUNKED}`, "Content-Length: 2")}{}${HIDDEN}`),
  "chunked in capitals": taken(post("Transfer-Encoding: CHUNKED") + BODY),
  "chunked behind a tab": taken(post("Transfer-Encoding:\tchunked") + BODY),
  "chunks in HTTP/1.0": refused(post(CHUNKED).replace("HTTP/1.1", "HTTP/1.0") + BODY + HIDDEN),
  // Chunks.
  "a chunk with an extension": taken(`${post(CHUNKED)}2;a="b"\r\n{}\r\n0\r\n\r\n`),
  "a chunk's line ends with a bare LF": refused(`${post(CHUNKED)}2\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "an extension with a bare LF": refused(`${post(CHUNKED)}2;\nxx\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "a chunk below zero": refused(`${post(CHUNKED)}-2\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "a chunk with a prefix": refused(`${post(CHUNKED)}0x2\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "a chunk beyond 64 bits": refused(`${post(CHUNKED)}10000000000000002\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  "a chunk that is longer than it says": refused(`${post(CHUNKED)}1\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  trailers: taken(`${post(CHUNKED)}2\r\n{}\r\n0\r\nContent-Length: 9\r\nX-Vault: open\r\n\r\n`),
  // Lines.
  "a folded line": refused(`${post("X-A: a\r\n b", "Content-Length: 2")}{}${HIDDEN}`),
  "a first line that is folded": refused(
    `${post("Content-Length: 2").replace("\r\nHost", "\r\n X-A: a\r\nHost")}{}${HIDDEN}`,
  ),
  "a field without a name": refused(`${post(": a", "Content-Length: 2")}{}${HIDDEN}`),
  "a zero in a name": refused(`${post("X-A\0: a", "Content-Length: 2")}{}${HIDDEN}`),
  "a zero in a value": refused(`${post("X-A: a\0b", "Content-Length: 2")}{}${HIDDEN}`),
  "a bare CR in a value": refused(`${post("X-A: a\rb", "Content-Length: 2")}{}${HIDDEN}`),
  "a space in the target": refused(HIDDEN.replace("/vault", "/one/a /vault")),
  "HTTP/0.9": refused("GET /vault\r\n\r\n"),
  // A body where none is due.
  "a GET with a body": {
    request: `GET /things HTTP/1.1\r\nHost: gateway.example\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
    statuses: [400],
  },
  "a GET with chunks": {
    request: `GET /things HTTP/1.1\r\nHost: gateway.example\r\n${CHUNKED}\r\n\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    statuses: [400],
  },
  "a body that is refused unread": {
    request: post(`Content-Length: ${HIDDEN.length}`).replace("application/json", "text/plain") + HIDDEN,
    statuses: [415],
  },
  "chunks that are refused unread": {
    request:
      post(CHUNKED).replace("application/json", "text/plain") +
      `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    statuses: [415],
  },
  "a body of a path that nobody serves": {
    request: post(`Content-Length: ${HIDDEN.length}`).replace("/things", "/nowhere") + HIDDEN,
    statuses: [404],
  },
  // Hosts: one, and it is no path.
  "no host": { request: "GET /vault HTTP/1.1\r\n\r\n", statuses: [400] },
  "two hosts": { request: "GET /vault HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", statuses: [400] },
  "a host with a path": { request: "GET /things HTTP/1.1\r\nHost: a/vault?\r\n\r\n", statuses: [400] },
  "a host with a user": { request: "GET /things HTTP/1.1\r\nHost: b@a\r\n\r\n", statuses: [400] },
  // Upgrades to what is not spoken here.
  "an upgrade to HTTP/2": {
    request: HIDDEN.replace(
      "/vault HTTP/1.1",
      "/things HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    ),
    statuses: [200],
    calls: [{}],
  },
};

test.each(Object.entries(SHAPES))("%s", async (_, { request, statuses, calls = [], closes }) => {
  const wire = openWire(port);
  await wire.write(request);
  await wire.waitFor(/\r\n\r\n/);
  // Whatever was hidden would be answered at once.
  await (closes ? wire.closed : new Promise((resolve) => setTimeout(resolve, SETTLE_MS)));
  wire.reset();
  const seen = statusesOf(wire.received());
  const matched = statuses.map((status, i) =>
    status === "4xx" && seen[i] && seen[i] >= 400 && seen[i] < 500 ? status : seen[i],
  );
  expect([...matched, ...seen.slice(statuses.length)]).toEqual(statuses);
  expect(backend.arrivals.map(messageOf)).toEqual(calls);
  expect(backend.arrivals.filter(({ url }) => url.includes("Vault"))).toEqual([]);
});

test("requests that follow one another on a connection are told apart", async () => {
  const wire = openWire(port);
  const one = (id: string) => `GET /one/${id} HTTP/1.1\r\nHost: gateway.example\r\n\r\n`;
  await wire.write(`${one("a") + post("Content-Length: 12")}{"text":"b"}${one("c")}${post(CHUNKED)}${BODY}${one("e")}`);
  await wire.waitFor(/"id":"e"/);
  wire.reset();
  expect(statusesOf(wire.received())).toEqual([200, 200, 200, 200, 200]);
  expect(backend.arrivals.map(messageOf)).toEqual([{ id: "a" }, { text: "b" }, { id: "c" }, {}, { id: "e" }]);
});

test("what a backend is sent has one length, and no framing of the caller", async () => {
  const wire = openWire(port);
  await wire.write(post(CHUNKED, "Connection: Content-Length, keep-alive", "Trailer: X-Vault") + BODY);
  await wire.waitFor(/\r\n\r\n\{\}/);
  wire.reset();
  const framing = backend.arrivals.map(({ headers }) => [
    headers["content-length"],
    headers["transfer-encoding"],
    headers.trailer,
  ]);
  expect(framing).toEqual([["0", undefined, undefined]]);
});
