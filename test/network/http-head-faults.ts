/** Faults up to the end of the header, and answers that are none of the protocol's. */
import { Code } from "@connectrpc/connect";
import { fails, LATE, SERVED } from "./fault.ts";
import { type HttpFault, headFault, never, UNREACHABLE } from "./http-fault.ts";
import { type Answering, CHUNKED, chunkOf, formatHead, LAST_CHUNK, serveWhole } from "./http-proxy.ts";

export const BEFORE_THE_ANSWER: readonly HttpFault[] = [
  { ...headFault("refused", UNREACHABLE, serveWhole), refuses: true },
  headFault("reset before the answer", UNREACHABLE, async ({ reset }) => reset()),
  headFault("closed before the answer", UNREACHABLE, async ({ close }) => close()),
  { ...headFault("silent before the answer", LATE, never), stalls: true },
  headFault("reset inside the header", UNREACHABLE, async ({ answer, write, reset }) => {
    await write(formatHead(answer, CHUNKED).slice(0, -10));
    reset();
  }),
  headFault("closed inside the header", UNREACHABLE, async ({ answer, write, close }) => {
    await write(formatHead(answer, CHUNKED).slice(0, -10));
    close();
  }),
  {
    ...headFault("silent inside the header", LATE, async ({ answer, write }) => {
      await write(formatHead(answer, CHUNKED).slice(0, -10));
      await never();
    }),
    stalls: true,
  },
  headFault("no HTTP at all", UNREACHABLE, async ({ write, close }) => {
    await write(Uint8Array.of(0x15, 3, 3, 0, 2, 2, 70), "\r\n\r\n");
    close();
  }),
  headFault("a status line that is none", UNREACHABLE, async ({ answer, write, close }) => {
    await write(formatHead(answer, CHUNKED).replace(" 200 ", " ok "), LAST_CHUNK);
    close();
  }),
];

const HTML = "<html><body>who knows what happened at 10.1.2.3</body></html>";

/** Connect, "HTTP to error code"; gRPC has the same table. */
const HTTP_CODES: readonly (readonly [number, Code])[] = [
  [400, Code.Internal],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.Unimplemented],
  [413, Code.Unknown],
  [429, Code.Unavailable],
  [500, Code.Unknown],
  [502, Code.Unavailable],
  [503, Code.Unavailable],
  [504, Code.Unavailable],
];

function page(status: number, ...more: string[]): Answering {
  const fields = [["Content-Type", "text/html"]] as const;
  return ({ write }) => write(formatHead({ status, fields }, ...more, `Content-Length: ${HTML.length}`), HTML);
}

const UNAVAILABLE_503 = fails(Code.Unavailable, "the backend answered with HTTP 503");
const JSON_FIELDS = [["Content-Type", "application/json"]] as const;

export const OTHER_ANSWERS: readonly HttpFault[] = [
  ...HTTP_CODES.map(([status, code]) =>
    headFault(`HTTP ${status} with a page`, fails(code, `the backend answered with HTTP ${status}`), page(status)),
  ),
  ...[301, 302, 307].map((status) =>
    headFault(
      `HTTP ${status} to elsewhere`,
      fails(Code.Unknown, `the backend answered with HTTP ${status}`),
      page(status, "Location: http://127.0.0.1:9/"),
    ),
  ),
  ...[204, 205, 304].map((status) =>
    headFault(`HTTP ${status}`, fails(Code.Unknown, `the backend answered with HTTP ${status}`), ({ write }) =>
      write(formatHead({ status, fields: [] })),
    ),
  ),
  headFault("HTTP 599 with a page", fails(Code.Unknown, "the backend answered with HTTP 599"), page(599)),
  headFault("HTTP 999 with a page", fails(Code.Unknown, "the backend answered with HTTP 999"), page(999)),
  {
    ...headFault("HTTP 101", fails(Code.Unknown, "the backend answered with HTTP 101"), ({ write }) =>
      write(formatHead({ status: 101, fields: [["Upgrade", "websocket"]] }, "Connection: upgrade")),
    ),
    inNode: UNREACHABLE,
  },
  headFault("HTTP 200 with a page", fails(Code.Unknown, "the backend answered with content type text/html"), page(200)),
  headFault("HTTP 503 whose JSON breaks off", UNAVAILABLE_503, async ({ write, reset }) => {
    await write(formatHead({ status: 503, fields: JSON_FIELDS }, "Content-Length: 100"), '{"code":"not_found","mess');
    reset();
  }),
  {
    // Of a stream the status tells it all; of a unary call the body may.
    ...headFault("HTTP 503 whose JSON falls silent", UNAVAILABLE_503, async ({ write }) => {
      await write(formatHead({ status: 503, fields: JSON_FIELDS }, "Content-Length: 100"), '{"code":"not_found","mess');
      await never();
    }),
    unary: LATE,
    unaryInEnvelopes: UNAVAILABLE_503,
    stalls: true,
  },
  headFault("HTTP 503 with 2 MB of JSON", UNAVAILABLE_503, ({ write }) => {
    const text = JSON.stringify({ code: "not_found", message: "m".repeat(2_000_000) });
    return write(formatHead({ status: 503, fields: JSON_FIELDS }, `Content-Length: ${text.length}`), text);
  }),
  headFault("HTTP 503 with a page without end", UNAVAILABLE_503, async ({ write }) => {
    await write(formatHead({ status: 503, fields: [["Content-Type", "text/html"]] }, CHUNKED));
    // Until the gateway leaves.
    for (;;) await write(chunkOf(Buffer.from(HTML)));
  }),
  headFault("HTTP 103, then the answer", SERVED, async (exchange) => {
    await exchange.write(formatHead({ status: 103, fields: [["Link", "</style.css>; rel=preload"]] }));
    await serveWhole(exchange);
  }),
  {
    ...headFault("HTTP 103, again and again", LATE, async ({ write }) => {
      for (let i = 0; i < 1_000; i++) await write(formatHead({ status: 103, fields: [] }));
    }),
    stalls: true,
  },
  {
    // Nobody asked to be told to continue; RFC 9110 §15.2 has that ignored.
    ...headFault("HTTP 100, then the answer", SERVED, async (exchange) => {
      await exchange.write(formatHead({ status: 100, fields: [] }));
      await serveWhole(exchange);
    }),
    inNode: UNREACHABLE,
  },
];
