/** The gateway inside of the runtime itself. */
import { expect, inject, it } from "vitest";
import { createGateway } from "../src/gateway.ts";

const schema = Uint8Array.from(atob(inject("laneSet")), (character) => character.charCodeAt(0));

it("has a shelf fetched and told as JSON", async () => {
  const calls: { readonly url: string; readonly body: number[] }[] = [];
  const gateway = createGateway({
    schema,
    backends: {
      "*": {
        url: "https://backend.example/rpc",
        async fetch(input, init) {
          const request = new Request(input, init);
          calls.push({ url: request.url, body: [...new Uint8Array(await request.arrayBuffer())] });
          // name: "a", size: 2^53 + 1
          const shelf = new Uint8Array([0x0a, 1, 0x61, 0x10, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
          return new Response(shelf, { headers: { "content-type": "application/proto" } });
        },
      },
    },
  });
  const response = await gateway.fetch(new Request("https://api.example/v1/shelves/a"));
  expect(await response.json()).toEqual({ name: "a", size: "9007199254740993" });
  // name: "shelves/a"
  const name = [...new TextEncoder().encode("shelves/a")];
  expect(calls).toEqual([{ url: "https://backend.example/rpc/lane.v1.Shelves/GetShelf", body: [0x0a, 9, ...name] }]);
});
