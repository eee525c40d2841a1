/** Answers written byte for byte as a case says, past every library. */
import http from "node:http";
import type http2 from "node:http2";
import { setImmediate } from "node:timers/promises";
import type { Case, RawAnswer } from "./case.ts";
import { formatEnvelope } from "./envelope.ts";
import { deliveryOf } from "./target.ts";

/** @param messages how many whole messages of the request have arrived. */
export async function writeRawAnswer(
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse | http2.Http2ServerResponse,
  test: Case,
  messages: () => number,
): Promise<void> {
  const raw = test.upstream?.raw;
  if (!raw) return;
  await requestRead(request, test.upstream?.after_messages, messages);
  const body = bodyOf(raw);
  const declared = raw.headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
  const flat = raw.headers.flatMap(([name, value]) => [name, Buffer.from(value).toString("latin1")]);
  if (response instanceof http.ServerResponse) {
    response.sendDate = false;
    if (declared === undefined && !raw.envelopes) flat.push("content-length", String(body.length));
    response.writeHead(raw.status, flat);
    response.flushHeaders();
    const socket = response.socket;
    await writeBody(response, body, deliveryOf(test).upstreamChunkBytes);
    if (Number(declared) > body.length) socket?.end();
    else response.end();
    return;
  }
  response.writeHead(raw.status, Object.fromEntries(pairs(flat)));
  if (raw.trailers) response.addTrailers(Object.fromEntries(raw.trailers));
  await writeBody(response, body, deliveryOf(test).upstreamChunkBytes);
  response.end();
}

function bodyOf(raw: RawAnswer): Buffer {
  if (raw.envelopes) return Buffer.concat(raw.envelopes.map(formatEnvelope));
  return raw.body_base64 !== undefined ? Buffer.from(raw.body_base64, "base64") : Buffer.from(raw.body_text ?? "");
}

/** Waits for the request's end, or for so many messages of it. */
async function requestRead(
  request: http.IncomingMessage | http2.Http2ServerRequest,
  afterMessages: number | undefined,
  messages: () => number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    request.on("end", resolve);
    request.on("close", resolve);
    request.on("data", () => {
      if (afterMessages !== undefined && messages() >= afterMessages) resolve();
    });
  });
}

async function writeBody(
  response: http.ServerResponse | http2.Http2ServerResponse,
  body: Buffer,
  chunkBytes = body.length,
): Promise<void> {
  const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
  for (let at = 0; at < body.length; at += chunkBytes) {
    write(body.subarray(at, at + chunkBytes));
    await setImmediate();
  }
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
