/** `isthmus/image`: the same gateway, from images alone. */
import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { createGateway } from "../src/image-gateway.ts";
import type { ImageGatewayOptions } from "../src/options.ts";
import { writeImage } from "../src/schema/image-write.ts";
import { readSchema } from "../src/schema/read.ts";
import { applyServiceConfig } from "../src/schema/service-config.ts";
import { failure } from "./failure.ts";
import { librarySet, send, serveLibrary } from "./library-backend.ts";

const image = writeImage(readSchema(librarySet));

function gatewayOf(url: string, options: Partial<ImageGatewayOptions> = {}) {
  return createGateway({ schema: image, backends: { "*": { url } }, warn: () => undefined, ...options });
}

test("serves the services that it is told, and says once what it leaves out", async () => {
  await using backend = await serveLibrary();
  const warn = vi.fn();
  const gateway = gatewayOf(backend.url, { services: ["library.*"], warn });
  const answer = await send(gateway, "/v1/books/1");
  expect([answer.status, await answer.json()]).toEqual([200, { name: "books/1" }]);
  expect((await send(gateway, "/v1/ping")).status).toBe(404);
  expect(warn.mock.calls).toEqual([[expect.stringContaining("other.v1.Other")]]);
});

test("a service config counts alike at compile time and at start", async () => {
  await using backend = await serveLibrary();
  const serviceConfig = { http: { rules: [{ selector: "library.v1.Library.GetBook", get: "/v2/{name=books/*}" }] } };
  const configured = writeImage(applyServiceConfig(readSchema(librarySet), serviceConfig).schema);
  for (const options of [{ serviceConfig }, { schema: configured }, { schema: configured, serviceConfig }]) {
    const gateway = gatewayOf(backend.url, options);
    expect((await send(gateway, "/v2/books/1")).status).toBe(200);
    expect((await send(gateway, "/v1/books/1")).status).toBe(404);
  }
});

test.each<[string, Uint8Array, string]>([
  ["a descriptor set", librarySet, "no schema image"],
  ["nothing", new Uint8Array(), "no schema image"],
  ["half an image", image.subarray(0, 400), "damaged"],
])("%s is refused at start, saying what to do", (_, schema, reason) => {
  expect(() => gatewayOf("http://unused.example", { schema })).toThrow(
    failure(Code.InvalidArgument, reason, "isthmus compile"),
  );
});

test("options are checked as ever", () => {
  expect(() => gatewayOf("http://unused.example", { maxDepth: -1 })).toThrow(failure(Code.InvalidArgument, "maxDepth"));
});
