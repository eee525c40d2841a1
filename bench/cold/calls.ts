/** Workers that make calls of themselves: what a caller and a backend would cost is left out. */
import type { Gateway } from "../../src/serve.ts";
import type { Call } from "./fixtures.ts";

/** What the bench tells the Worker, in its bindings. */
export interface Env {
  /** One call, made as often as it is asked for. */
  readonly CALL: Call;
}

/** JSON → wire → JSON of one message. */
export type Transcode = (json: Uint8Array) => Uint8Array;

/** Answers every call with the message that it was given, and says its length, as servers do. */
export const BACKENDS = {
  "*": {
    url: "http://backend.example",
    async fetch(_: unknown, init?: RequestInit): Promise<Response> {
      const body = init?.body as Uint8Array<ArrayBuffer>;
      const headers = { "content-type": "application/proto", "content-length": String(body.length) };
      return new Response(body, { headers });
    },
  },
};

/** `GET /99` makes 99 requests of the gateway, and answers with what the last one was answered. */
export function callingWorker(open: (schema: ArrayBuffer, message: string) => Gateway, schema: ArrayBuffer) {
  let gateway: Gateway | undefined;
  return {
    async fetch(request: Request, { CALL: { message, method, path, body } }: Env): Promise<Response> {
      gateway ??= open(schema, message);
      const json = new TextEncoder().encode(body);
      const headers = { "content-type": "application/json", "content-length": String(json.length) };
      let text = "";
      for (let calls = callsOf(request); calls > 0; calls--) {
        const response = await gateway.fetch(
          new Request(`http://gateway.example${path}`, { method, body: json, headers }),
        );
        text = await response.text();
        if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      }
      return new Response(text);
    },
  };
}

/** `GET /99` transcodes the body 99 times, and answers with the last result. */
export function transcodingWorker(open: (schema: ArrayBuffer, message: string) => Transcode, schema: ArrayBuffer) {
  let transcode: Transcode | undefined;
  return {
    async fetch(request: Request, { CALL: { message, body } }: Env): Promise<Response> {
      transcode ??= open(schema, message);
      const json = new TextEncoder().encode(body);
      let result = json;
      for (let calls = callsOf(request); calls > 0; calls--) result = transcode(json) as typeof json;
      return new Response(result);
    },
  };
}

function callsOf({ url }: Request): number {
  return Number(url.slice(url.lastIndexOf("/") + 1));
}
