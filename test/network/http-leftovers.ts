/** What is left on a connection, or done to it, behind an answer that was whole: no other call may suffer. */
import { SERVED } from "./fault.ts";
import { type HttpFault, headFault } from "./http-fault.ts";
import { CHUNKED, chunkOf, formatHead, LAST_CHUNK } from "./http-proxy.ts";

/** For the next call on the connection to take. */
export const POISON = `HTTP/1.1 401 Poison\r\nContent-Length: 0\r\n\r\n`;

export const LEFTOVERS: readonly HttpFault[] = [
  {
    // In turn: a call that is under way on the connection by then would be lost, and nobody could tell.
    ...headFault("closed behind the answer", SERVED, async ({ answer, close }) => {
      close(formatHead(answer, CHUNKED), chunkOf(answer.body), LAST_CHUNK);
    }),
    breaksOthers: true,
  },
  headFault("a second answer at once", SERVED, async ({ answer, write }) => {
    await write(formatHead(answer, CHUNKED), chunkOf(answer.body), LAST_CHUNK, POISON);
  }),
  headFault("bytes that are nothing behind the answer", SERVED, async ({ answer, write }) => {
    await write(formatHead(answer, CHUNKED), chunkOf(answer.body), LAST_CHUNK, "\r\n\r\nwhat");
  }),
  headFault("trailers of HTTP/1.1", SERVED, async ({ answer, write }) => {
    await write(formatHead(answer, CHUNKED), chunkOf(answer.body), "0\r\ngrpc-status: 5\r\nx-late: 1\r\n\r\n");
  }),
  headFault("chunks with extensions", SERVED, async ({ answer, write }) => {
    const size = answer.body.length.toString(16);
    await write(formatHead(answer, CHUNKED), `${size};name="value"\r\n`, answer.body, "\r\n", LAST_CHUNK);
  }),
];
