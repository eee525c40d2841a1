/** What is decided before the first request, seen from outside: what is reachable, where it goes, what is refused at start. */
import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { failure } from "./failure.ts";
import { gatewayOf, type Options, postJson, send, serveLibrary } from "./library-backend.ts";
import { compileSet } from "./proto.ts";

test.each<[Options, Record<string, number>]>([
  [{}, { GetBook: 200, Internal: 404 }],
  [{ rpc: "annotated" }, { GetBook: 200, Internal: 404 }],
  [{ rpc: "all" }, { GetBook: 200, Internal: 200 }],
  [{ rpc: "none" }, { GetBook: 404, Internal: 404 }],
])("with %j RPC callers reach %j", async (options, statuses) => {
  await using backend = await serveLibrary();
  const gateway = gatewayOf(backend.url, options);
  for (const [method, status] of Object.entries(statuses)) {
    expect((await send(gateway, `/library.v1.Library/${method}`, postJson({}))).status).toBe(status);
  }
  expect((await send(gateway, "/v1/books/1")).status).toBe(200);
});

test("services says what is reachable; what is left out is named once", async () => {
  const warn = vi.fn();
  const gateway = gatewayOf("http://unused.example", { services: ["other.*"], warn });
  expect((await send(gateway, "/v1/books/1")).status).toBe(404);
  expect((await send(gateway, "/library.v1.Library/GetBook", postJson({}))).status).toBe(404);
  expect(warn.mock.calls).toEqual([[expect.stringContaining("library.v1.Library")]]);
  expect(() => gatewayOf("http://unused.example", { services: ["library.v2.*"] })).toThrow(
    failure(Code.InvalidArgument, "library.v2.*"),
  );
});

test("each service goes to its backend, under its path prefix", async () => {
  await using library = await serveLibrary(undefined, "/deep/prefix", "library");
  await using other = await serveLibrary(undefined, "", "other");
  const backends = { "library.v1.Library": { url: `${library.url}/deep/prefix/` }, "other.*": { url: other.url } };
  const gateway = gatewayOf("", { backends });
  expect((await send(gateway, "/v1/books/1")).status).toBe(200);
  expect(await (await send(gateway, "/v1/ping")).json()).toEqual({ by: "other" });
  expect([library.calls, other.calls]).toEqual([["Library.GetBook"], ["Other.Ping"]]);
});

test("a service without a backend is refused at start", () => {
  const backends = { "library.v1.Library": { url: "http://a.example" } };
  expect(() => gatewayOf("", { backends })).toThrow(failure(Code.InvalidArgument, "other.v1.Other"));
  expect(() => gatewayOf("", { backends, services: ["library.v1.Library"] })).not.toThrow();
});

test.each([
  ["library.v1.Library", 0],
  ["library.v1.*", 0],
  ["library.*", 0],
  ["library.v1.Librarian", 1],
  ["librarian.*", 1],
  ["library*", 1],
])("a backend for %s beside one for all: %i warnings", (name, warnings) => {
  const warn = vi.fn();
  gatewayOf("", { backends: { "*": { url: "http://a.example" }, [name]: { url: "http://b.example" } }, warn });
  expect(warn.mock.calls.flat()).toEqual(Array(warnings).fill(expect.stringContaining(`"${name}"`)));
});

test("an unknown option and an unusable set are refused at start", () => {
  expect(() => gatewayOf("http://a.example", { emitDefault: true } as Options)).toThrow(
    failure(Code.InvalidArgument, "emitDefault"),
  );
  expect(() => gatewayOf("http://a.example", { schema: Uint8Array.of(1, 2, 3) })).toThrow(
    failure(Code.InvalidArgument),
  );
  expect(() => gatewayOf("http://a.example", { schema: new Uint8Array(0) })).toThrow(
    failure(Code.InvalidArgument, "no service"),
  );
});

const faulty = await compileSet(`
  syntax = "proto3";
  package faulty.v1;
  import "google/api/annotations.proto";
  service Faulty {
    rpc Bad(M) returns (M) { option (google.api.http) = {get: "/v1/{nothing}"}; }
    rpc Worse(M) returns (M) { option (google.api.http) = {get: "/v1/{name"}; }
    rpc Good(M) returns (M) { option (google.api.http) = {get: "/v1/good"}; }
  }
  message M { string name = 1; }
`);

test('faults in rules: all are told, with "skip" the rest is served', async () => {
  expect(() => gatewayOf("http://a.example", { schema: faulty })).toThrow(
    failure(Code.InvalidArgument, "faulty.v1.Faulty.Bad", "faulty.v1.Faulty.Worse", "test.proto:6", "test.proto:7"),
  );
  const warn = vi.fn();
  const gateway = gatewayOf("http://a.example", { schema: faulty, onFault: "skip", warn });
  expect(warn.mock.calls.flat()).toEqual([expect.stringContaining("Bad"), expect.stringContaining("Worse")]);
  expect((await send(gateway, "/v1/good", { method: "DELETE" })).status).toBe(405);
  expect((await send(gateway, "/v1/x")).status).toBe(404);
});

test("a service config gives methods their rules, and with them RPC callers; its faults are told like any other", async () => {
  await using backend = await serveLibrary();
  const rule = { selector: "library.v1.Library.Internal", get: "/v1/configured" };
  const gateway = gatewayOf(backend.url, { serviceConfig: { http: { rules: [rule] } } });
  expect((await send(gateway, "/v1/configured")).status).toBe(200);
  expect((await send(gateway, "/library.v1.Library/Internal", postJson({}))).status).toBe(200);
  expect((await send(gateway, "/v1/books/1")).status).toBe(200);

  const serviceConfig = { http: { rules: [rule, { selector: "library.v1.Library.Nope", get: "/v1/nope" }] } };
  expect(() => gatewayOf(backend.url, { serviceConfig })).toThrow(
    failure(Code.InvalidArgument, "http.rules[1]", "library.v1.Library.Nope"),
  );
  const warn = vi.fn();
  const lenient = gatewayOf(backend.url, { serviceConfig, onFault: "skip", warn });
  expect(warn.mock.calls.flat()).toEqual([expect.stringContaining("library.v1.Library.Nope")]);
  expect((await send(lenient, "/v1/configured")).status).toBe(200);
});

test.each<[unknown]>([[null], ["http"], [5]])("a service config cannot be %j", (serviceConfig) => {
  expect(() => gatewayOf("http://a.example", { serviceConfig } as Options)).toThrow(
    failure(Code.InvalidArgument, "service config", "http.rules"),
  );
});
