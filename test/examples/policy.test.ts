import { describe, expect, it } from "vitest";
import { createAccessLog } from "../../examples/policy/access-log.ts";
import { createRequireKey } from "../../examples/policy/require-key.ts";
import { createGateway } from "../../src/gateway.ts";
import { compileSet } from "../proto.ts";

const schema = await compileSet(`syntax = "proto3";
package echo;
import "google/api/annotations.proto";
message Text { string text = 1; }
service Echo { rpc Say(Text) returns (Text) { option (google.api.http) = {get: "/say/{text}"}; } }
`);

/** A backend that answers with the message it got, and keeps what it was sent. */
function createEcho() {
  const seen: Request[] = [];
  return {
    seen,
    async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
      const request = new Request(input, init);
      seen.push(request.clone());
      return new Response(await request.arrayBuffer(), { headers: { "content-type": "application/proto" } });
    },
  };
}

describe("the example policy and filter", () => {
  const echo = createEcho();
  const lines: string[] = [];
  const { fetch } = createGateway({
    schema,
    backends: { "*": { url: "http://backend.example", fetch: echo.fetch } },
    policies: [createRequireKey({ keys: new Map([["secret", "demo"]]) })],
    filters: [createAccessLog((line) => lines.push(line))],
  });

  it("lets a known key in, and tells the backend whose it is", async () => {
    const response = await fetch(new Request("http://gateway/say/hi", { headers: { "x-api-key": "secret" } }));
    expect(await response.json()).toEqual({ text: "hi" });
    expect(echo.seen[0]?.headers.get("x-key-owner")).toBe("demo");
    expect(echo.seen[0]?.headers.has("x-api-key")).toBe(false);
    expect(lines.at(-1)).toMatch(/^GET \/say\/hi 200 \d+ ms$/);
  });

  it("answers 401 without one, and calls nobody", async () => {
    const calls = echo.seen.length;
    const response = await fetch(new Request("http://gateway/say/hi?text=x"));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toEqual({ code: 16, message: "a key in x-api-key is needed" });
    expect(echo.seen).toHaveLength(calls);
    expect(lines.at(-1)).toMatch(/^GET \/say\/hi 401 /);
  });
});
