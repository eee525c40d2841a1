/** One caller: a connection of its own, kept alive, and what it asks over it. */
import { once } from "node:events";
import http, { type ClientRequest, type IncomingMessage } from "node:http";

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly header?: http.OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly header: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer within this time, or the caller fails: nothing here takes longer, not even under attack. */
const PATIENCE_MS = 30_000;

export class Caller {
  /** No other caller has it: an answer that holds another's is known by it. */
  readonly name: string;
  readonly #port: number;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  #count = 0;

  constructor(name: string, port: number) {
    this.name = name;
    this.#port = port;
  }

  /** A new id with each call. */
  nextId(): string {
    return `${this.name}-${this.#count++}`;
  }

  /** @param read takes the body its own way. Default: all of it at once. */
  ask(ask: Ask, read?: (answer: IncomingMessage) => Promise<Buffer>): Promise<Answer> {
    const request = this.open(ask);
    const answer = this.answerOf(request, read);
    request.end(ask.body);
    return answer;
  }

  /** A request whose body is still to be written. */
  open({ method, path, header = {} }: Ask): ClientRequest {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return http.request({
      host: "127.0.0.1",
      port: this.#port,
      agent: this.#agent,
      method,
      path,
      headers: header,
      signal,
    });
  }

  async answerOf(request: ClientRequest, read = readAll): Promise<Answer> {
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, header: answer.headers, body: await read(answer) };
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks);
}
