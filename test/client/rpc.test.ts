import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createRpcExchange, formatRpcFailure } from "../../src/client/rpc.ts";
import { methodNotAllowed, refuse } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { codecsOf, methodOf, OPTIONS } from "./shop.ts";

const URL = "http://gateway.example/shop.v1.Shop/Create";
const ALLOW = methodNotAllowed("DELETE", ["OPTIONS", "POST"]);
const TYPE = refuse(415, Code.InvalidArgument, "send something else", { "accept-post": "application/json" });

function failed(error: ConnectError, header: Record<string, string>, method = "POST"): Response {
  return formatRpcFailure(new Request(URL, { method, headers: header }))(error);
}

// The codes are those that the suite of Connect and gRPC-Web (connectrpc/conformance) expects its clients to infer.
test.each([
  ["gRPC-Web of an unknown codec", { "content-type": "application/grpc-web+foo" }],
  ["gRPC-Web", { "content-type": "application/grpc-web" }],
  ["native gRPC", { "content-type": "application/grpc" }],
  ["a picture", { "content-type": "image/jpeg" }],
])("what HTTP refuses is told in HTTP alone: %s", async (_, header) => {
  const refusals = [failed(TYPE, header), failed(ALLOW, header, "DELETE")];
  expect(refusals.map(({ status }) => status)).toEqual([415, 405]);
  expect(refusals.map(({ headers }) => headers.get("content-type"))).toEqual(
    Array(2).fill(expect.stringMatching(/^text\/plain/)),
  );
  expect(refusals.map(({ headers }) => headers.get("accept-post") ?? headers.get("allow"))).toEqual([
    "application/json",
    "OPTIONS, POST",
  ]);
  expect(await refusals[0]?.text()).toBe("send something else");
});

test.each([
  ["a unary call", { "content-type": "application/foo" }],
  ["a stream", { "content-type": "application/connect+foo" }],
])("who says that he speaks Connect hears why, with the code of the status: %s", async (_, header) => {
  for (const error of [TYPE, ALLOW]) {
    const response = failed(error, { ...header, "connect-protocol-version": "1" });
    expect(response.status).toBe(error === TYPE ? 415 : 405);
    expect(response.headers.get(error === TYPE ? "accept-post" : "allow")).toBeTruthy();
    expect(await response.json()).toEqual({ code: "unknown", message: error.rawMessage });
  }
});

test("any other failure keeps its code, in the caller's format", async () => {
  const error = new ConnectError("gone", Code.NotFound);
  const unary = failed(error, { "content-type": "application/proto" });
  expect([unary.status, await unary.json()]).toEqual([404, { code: "not_found", message: "gone" }]);
  const stream = failed(error, { "content-type": "application/connect+proto" });
  expect([stream.status, (await stream.text()).slice(5)]).toEqual([
    200,
    '{"error":{"code":"not_found","message":"gone"}}',
  ]);
  const web = failed(error, { "content-type": "application/grpc-web" });
  expect([web.status, (await web.text()).slice(5)]).toEqual([200, expect.stringMatching(/^grpc-status: ?5\r\n/)]);
});

test.each(["application/grpc", "application/grpc+proto"])("%s is told why it cannot be answered", (type) => {
  const request = new Request(URL, { method: "POST", headers: { "content-type": type } });
  const method = methodOf("Create");
  const rpc = { request, method, query: "" };
  expect(() => createRpcExchange(rpc, codecsOf(method), OPTIONS, "none")).toThrow(
    failure(Code.InvalidArgument, "trailers", "gRPC-Web"),
  );
});
