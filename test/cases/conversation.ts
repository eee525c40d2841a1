/** One case while it runs: where the client's side and the backend's side of the runner meet. */
import type { Case } from "./case.ts";
import type { Recorded } from "./recorded.ts";

const CHUNK_TIMEOUT_MS = 1000;

export class Conversation {
  readonly test: Case;
  /** Every request that reached the backend. */
  readonly calls: Recorded[] = [];
  /** What went wrong in the middle of it. */
  readonly faults: string[] = [];
  /** Set by the client's side: breaks its connection off. */
  cancelClient: () => void = () => {};
  #received = "";
  #pauses = 0;
  readonly #waiting = new Set<() => void>();

  constructor(test: Case) {
    this.test = test;
  }

  /** @param text the whole body that the client has received so far. */
  received(text: string): void {
    this.#received = text;
    for (const check of this.#waiting) check();
  }

  /** The n-th pause of a stream ends when the client has received the n-th text of `chunks`. */
  async pause(): Promise<void> {
    const text = this.test.expect_http?.chunks?.[this.#pauses++];
    if (text === undefined) return new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const check = (): void => {
        if (this.#received.includes(text)) finish();
      };
      const timer = setTimeout(() => {
        this.faults.push(`the client had not received ${JSON.stringify(text)} before the stream went on`);
        finish();
      }, CHUNK_TIMEOUT_MS);
      this.#waiting.add(check);
      check();
    });
  }
}
