/** A gRPC-Web answer over HTTP/1.1: one form of end, a frame of trailers, unless the transfer has to be broken. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { IncomingHttpHeaders } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { failureTrailers, trailerFrame } from "./bridge-header.ts";
import { EnvelopeMeter } from "./envelope-meter.ts";

export class WebAnswer {
  readonly #response: ServerResponse;
  readonly #meter = new EnvelopeMeter();
  #empty = true;

  constructor(response: ServerResponse) {
    this.#response = response;
    // The backend's own, or none.
    response.sendDate = false;
    response.on("error", () => {});
  }

  /** True until the first byte of a message. */
  get empty(): boolean {
    return this.#empty;
  }

  /** Sends the header fields at once: a stream may be silent for long. */
  begin(header: OutgoingHttpHeaders): void {
    this.#response.writeHead(200, header);
    this.#response.flushHeaders();
  }

  /**
   * @returns "full" when no more should be written before `onDrain`, "broken" when this is not what gRPC sends; then
   *   nothing was written.
   */
  write(chunk: Uint8Array): "ok" | "full" | "broken" {
    if (!this.#meter.take(chunk)) return "broken";
    this.#empty = false;
    return this.#response.write(chunk) ? "ok" : "full";
  }

  onDrain(resume: () => void): void {
    this.#response.on("drain", resume);
  }

  /** @returns false when it stops inside an envelope: what is said there would be read as a message, so it is broken off. */
  end(trailers: IncomingHttpHeaders): boolean {
    if (!this.#meter.whole) {
      this.#response.destroy();
      return false;
    }
    this.#response.end(trailerFrame(trailers));
    return true;
  }

  /** Ends a call whose backend did not, or not well. */
  fail(error: ConnectError, contentType: string): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { "content-type": contentType });
    this.end(failureTrailers(error));
  }
}
