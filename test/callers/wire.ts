/** A caller on a bare socket, who may send anything, at any moment, or stop. */
import net from "node:net";

export interface Wire {
  /** @param text its code points are bytes. Resolves when the kernel has taken it; never when nobody reads. */
  write(text: string | Uint8Array): Promise<void>;
  /** All that came so far; its code points are bytes. */
  received(): string;
  /** @returns the match, once what came has it. Rejects with what came when the connection ends before, or after 10 s. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Stops reading, and goes on. */
  pause(): void;
  resume(): void;
  /** Sends a FIN: nothing more will be sent, but much may be read. */
  halfClose(): void;
  /** Leaves, with a reset. */
  reset(): void;
  /** Resolves when the connection is closed, by whomever. */
  readonly closed: Promise<void>;
}

const WAIT_MS = 10_000;

export function openWire(port: number): Wire {
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  const looks = new Set<(isOver: boolean) => void>();
  const parts: string[] = [];
  const received = () => parts.join("");
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    parts.push(text);
    for (const look of looks) look(false);
  });
  socket.on("error", () => undefined);
  // The other side has said its last; so has this one then.
  socket.on("end", () => socket.end());
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      for (const look of looks) look(true);
      resolve();
    });
  });
  return {
    write: (text) =>
      new Promise((resolve) => {
        socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text, () => resolve());
      }),
    received,
    waitFor(pattern) {
      return new Promise((resolve, reject) => {
        const settle = (isOver: boolean) => {
          const match = pattern.exec(received());
          if (!match && !isOver) return;
          looks.delete(settle);
          clearTimeout(timer);
          if (match) resolve(match);
          else reject(new Error(`no ${pattern} in: ${received().slice(0, 2_000)}`));
        };
        const timer = setTimeout(() => settle(true), WAIT_MS);
        looks.add(settle);
        settle(socket.destroyed);
      });
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    halfClose: () => socket.end(),
    reset: () => socket.resetAndDestroy(),
    closed,
  };
}

/** Head of a request of HTTP/1.1, whose Host is `gateway.example`. @param lines further fields. */
export function head(method: string, target: string, ...lines: readonly string[]): string {
  return `${[`${method} ${target} HTTP/1.1`, "Host: gateway.example", ...lines].join("\r\n")}\r\n\r\n`;
}

/** A request with all of its body. */
export function whole(method: string, target: string, lines: readonly string[], body: string): string {
  return head(method, target, ...lines, `Content-Length: ${body.length}`) + body;
}

export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

export const LAST_CHUNK = "0\r\n\r\n";

/** Status numbers of the answers that came, in order. No body here begins a line as a status line does. */
export function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/(?<=^|\}|\n)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** One request, one answer, on a connection of its own. */
export async function ask(port: number, request: string | Uint8Array): Promise<Answer> {
  const wire = openWire(port);
  try {
    await wire.write(request);
    return await readAnswer(wire);
  } finally {
    wire.reset();
  }
}

/** The first answer, whole. Rejects when the connection ends before it does. */
export async function readAnswer(wire: Wire): Promise<Answer> {
  const [text] = await wire.waitFor(/^(?:HTTP\/1\.1 100.*?\r\n\r\n)?HTTP\/1\.1 [2-5].*?\r\n\r\n/s);
  const length = Number(/^content-length: *(\d+)\r$/im.exec(text)?.[1] ?? 0);
  const isChunked = /^transfer-encoding: *chunked\r$/im.test(text);
  await wire.waitFor(isChunked ? /\r\n0\r\n\r\n$/ : new RegExp(`\\r\\n\\r\\n.{${length}}$`, "s"));
  const body = wire.received().slice(text.length);
  return {
    status: Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1]),
    head: text,
    body: isChunked ? unchunk(body) : body,
  };
}

export interface Answer {
  readonly status: number;
  /** Status line and fields, as they came. */
  readonly head: string;
  /** Its code points are bytes. */
  readonly body: string;
}

function unchunk(text: string): string {
  let body = "";
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    body += text.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
  return body;
}
