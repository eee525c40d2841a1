/** A Worker that makes calls of itself: what a caller and a backend would cost is left out. */
import type { Gateway } from "../../src/serve.ts";

/** What the bench tells the Worker, in its bindings. */
export interface Env {
  /** One request, as often as it is asked for. */
  readonly CALL: { readonly method: string; readonly path: string; readonly body: string };
}

/** Answers every call with the message that it was given. */
export const BACKENDS = {
  "*": {
    url: "http://backend.example",
    fetch: async (_: unknown, init?: RequestInit): Promise<Response> =>
      new Response(init?.body ?? null, { headers: { "content-type": "application/proto" } }),
  },
};

/** `GET /99` makes 99 calls, and answers with what the last one was answered. */
export function callingWorker(createGateway: () => Gateway) {
  let gateway: Gateway | undefined;
  return {
    async fetch(request: Request, { CALL: { method, path, body } }: Env): Promise<Response> {
      gateway ??= createGateway();
      let text = "";
      for (let calls = Number(request.url.slice(request.url.lastIndexOf("/") + 1)); calls > 0; calls--) {
        const headers = { "content-type": "application/json" };
        const response = await gateway.fetch(new Request(`http://gateway.example${path}`, { method, body, headers }));
        text = await response.text();
        if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      }
      return new Response(text);
    },
  };
}
