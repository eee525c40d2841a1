/** The body of a request on its way into an HTTP/2 stream, and into a second one when the first was refused. */
import type { IncomingMessage } from "node:http";
import type { Writable } from "node:stream";

/** What is kept for a second try; a longer body has only one. */
const REPLAY_BYTES = 1 << 18;

export class RequestFeed {
  readonly #request: IncomingMessage;
  #sent: Buffer[] | undefined = [];
  #sentBytes = 0;
  #target: Writable | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    // What broke the request also closes its response, which is where the call looks.
    request.on("error", () => {});
  }

  /** Whether all that has been sent can be sent again. */
  get canReplay(): boolean {
    return this.#sent !== undefined;
  }

  /** Sends from the beginning, at the pace of `target`. It ends with the request, never when that breaks. */
  into(target: Writable): void {
    // To listen is to let it flow, so not before there is somewhere to flow to.
    if (this.#target) this.#request.unpipe(this.#target);
    else this.#request.on("data", (chunk: Buffer) => this.#keep(chunk));
    this.#target = target;
    for (const chunk of this.#sent ?? []) target.write(chunk);
    if (this.#request.readableEnded) target.end();
    else this.#request.pipe(target);
  }

  /** No second try: the backend has begun to answer. */
  commit(): void {
    this.#sent = undefined;
  }

  /** The rest is read and dropped, so that the connection can carry another request. */
  stop(): void {
    this.commit();
    if (this.#target) this.#request.unpipe(this.#target);
    this.#request.resume();
  }

  #keep(chunk: Buffer): void {
    if (!this.#sent) return;
    this.#sentBytes += chunk.length;
    if (this.#sentBytes > REPLAY_BYTES) this.#sent = undefined;
    else this.#sent.push(chunk);
  }
}
