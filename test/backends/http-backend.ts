/** A backend that speaks Connect unary over HTTP/1.1 around any protobuf library. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Backend } from "./battery.ts";
import { FAILURE } from "./shop.ts";

export interface Library {
  /** By RPC path: decodes a request, and encodes it again as the answer. */
  readonly echo: ReadonlyMap<string, (wire: Uint8Array) => Uint8Array>;
  /** The detail of the failure, in wire form. */
  readonly reason: Uint8Array;
}

export async function startHttpBackend({ echo, reason }: Library): Promise<Backend> {
  const server = http.createServer(async (request, response) => {
    const wire = new Uint8Array(Buffer.concat(await request.toArray()));
    const answer = echo.get(request.url ?? "");
    if (!answer || request.method !== "POST" || request.headers["content-type"] !== "application/proto") {
      response.writeHead(415).end();
      return;
    }
    if (request.headers["x-fail"] !== undefined) {
      const value = Buffer.from(reason).toString("base64").replace(/=+$/, "");
      const error = { ...FAILURE, details: [{ type: "shop.v1.Reason", value }] };
      response.writeHead(429, { "content-type": "application/json", "x-cost": "9" }).end(JSON.stringify(error));
      return;
    }
    for (const name of ["", "-bin"]) {
      const value = request.headers[`x-ask${name}`];
      if (value !== undefined) response.setHeader(`x-answer${name}`, value);
    }
    response.writeHead(200, { "content-type": "application/proto", "trailer-x-end": "done" }).end(answer(wire));
  });
  return listen(server);
}

export async function listen(server: http.Server): Promise<Backend> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
