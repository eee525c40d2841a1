import type { Gateway } from "../../../src/serve.ts";
import { BACKENDS } from "../calls.ts";

/** As many requests and answers, and nothing between the two. */
export function open(): Gateway {
  return {
    async fetch(request) {
      const response = await BACKENDS["*"].fetch(request, { body: await request.bytes() });
      return new Response(await response.bytes());
    },
  };
}
