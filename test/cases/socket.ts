/** An HTTP/1.1 client on a bare socket: what a case says goes out as it stands, and a broken transfer is seen as such. */
import net from "node:net";

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** Send the body chunked. */
  readonly chunked: boolean;
}

export interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  /** Name (lower case) and value of each header line, in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** The body ended as its framing says. */
  readonly clean: boolean;
  /** It had not ended in time, and was not broken off. */
  readonly late: boolean;
}

export interface Exchanging {
  readonly answer: Promise<Answer>;
  /** Breaks the connection off, with a reset. */
  cancel(): void;
}

const NO_ANSWER = { status: 0, headers: [], body: Buffer.alloc(0), clean: false } as const;

/** @param onBody sees the whole body each time that more of it has come. */
export function exchange(
  port: number,
  outgoing: Outgoing,
  timeoutMs: number,
  onBody: (body: Buffer) => void,
): Exchanging {
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
  let received = Buffer.alloc(0);
  const answer = new Promise<Answer>((resolve) => {
    let ended = false;
    /** @param eof no more will come, and the other side said so. */
    const settle = (eof: boolean, late = false): void => {
      clearTimeout(timer);
      socket.destroy();
      const parsed = parseAnswer(received, outgoing.method, eof);
      resolve({ ...(parsed?.answer ?? NO_ANSWER), late });
    };
    const timer = setTimeout(() => settle(false, true), timeoutMs);
    socket.on("data", (data) => {
      received = Buffer.concat([received, data]);
      const parsed = parseAnswer(received, outgoing.method, false);
      if (parsed) onBody(parsed.answer.body);
      if (parsed?.done) settle(true);
    });
    socket.on("end", () => {
      ended = true;
    });
    socket.on("error", () => {});
    socket.on("close", () => settle(ended));
  });
  socket.write(formatRequest(outgoing));
  return { answer, cancel: () => socket.resetAndDestroy() };
}

function formatRequest({ method, path, headers, body, chunked }: Outgoing): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n`),
    // A header's code points are its bytes, as in the Fetch standard.
    Buffer.from(`${lines}\r\n`, "latin1"),
  ]);
  if (!body) return head;
  if (!chunked) return Buffer.concat([head, body]);
  const parts: Buffer[] = [head];
  const size = Math.max(1, Math.ceil(body.length / 2));
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), Buffer.from(part), Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** @returns undefined while the head is not whole. `done`: nothing more is due. */
function parseAnswer(
  bytes: Buffer,
  method: string,
  closed: boolean,
): { readonly answer: Omit<Answer, "late">; readonly done: boolean } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(first.split(" ")[1]);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parseAnswer(rest, method, closed);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const length = headers.find(([name]) => name === "content-length")?.[1];
  const chunked = headers.some(([name, value]) => name === "transfer-encoding" && value.toLowerCase() === "chunked");
  const bodiless = method === "HEAD" || status === 204 || status === 304;
  const { body, done } = bodiless
    ? { body: Buffer.alloc(0), done: true }
    : chunked
      ? parseChunks(rest)
      : length !== undefined
        ? { body: rest.subarray(0, Number(length)), done: rest.length >= Number(length) }
        : { body: rest, done: closed };
  return { answer: { status, headers, body, clean: done }, done };
}

function parseChunks(bytes: Buffer): { readonly body: Buffer; readonly done: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) return { body: Buffer.concat(parts), done: bytes.includes("\r\n", lineEnd + 2) };
    const part = bytes.subarray(lineEnd + 2, lineEnd + 2 + size);
    parts.push(part);
    if (part.length < size) break;
    at = lineEnd + 2 + size + 2;
  }
  return { body: Buffer.concat(parts), done: false };
}
