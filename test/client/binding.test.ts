import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { failure } from "../failure.ts";
import { jsonRequest, requestMessage, restExchange, shown } from "./shop.ts";

test.each([
  ["/v1/find", {}],
  ["/v1/find?name=a&count=5", { name: "a", count: 5 }],
  ["/v1/find?pageSize=5", { pageSize: 5 }],
  ["/v1/find?page_size=5", { pageSize: 5 }],
  ["/v1/find?tags=a&tags=b&tags=a", { tags: ["a", "b", "a"] }],
  ["/v1/find?numbers=3&numbers=1", { numbers: [3, 1] }],
  ["/v1/find?item.name=a&item.size=2", { item: { name: "a", size: 2 } }],
  [
    "/v1/find?item.part.part.size=2&name=x&item.part.name=y",
    { name: "x", item: { part: { name: "y", part: { size: 2 } } } },
  ],
  ["/v1/find?item.made_at=2026-01-02T03:04:05Z", { item: { madeAt: "2026-01-02T03:04:05Z" } }],
  ["/v1/find?item.newName=a", { item: { newName: "a" } }],
  ["/v1/find?item.renamed=a", { item: { newName: "a" } }],
  ["/v1/find?time=2026-01-02T03:04:05.5Z", { time: "2026-01-02T03:04:05.500Z" }],
  ["/v1/find?wrapped=7", { wrapped: 7 }],
  ["/v1/find?wrapped=0", { wrapped: 0 }],
  ["/v1/find?wrapped.value=7", { wrapped: 7 }],
  ["/v1/find?mask=fooBar,baz", { mask: "fooBar,baz" }],
  ["/v1/find?color=COLOR_RED", { color: "COLOR_RED" }],
  ["/v1/find?color=1", { color: "COLOR_RED" }],
  ["/v1/find?data=AQI", { data: "AQI=" }],
  ["/v1/find?maybe=0", { maybe: 0 }],
  ["/v1/find?left=", { left: "" }],
  ["/v1/find?flag=true&ratio=-1.5e3&big=9007199254740993", { flag: true, ratio: -1500, big: "9007199254740993" }],
  ["/v1/find?name=a+b%20c", { name: "a b c" }],
  ["/v1/get/a+b", { item: { name: "a+b" } }],
  ["/v1/get/a%2Fb%20c", { item: { name: "a/b c" } }],
  ["/v1/get/%252F", { item: { name: "%2F" } }],
  ["/v1/get/a?item.size=3&count=1", { count: 1, item: { name: "a", size: 3 } }],
  // Equal is no conflict.
  ["/v1/get/a?item.name=a", { item: { name: "a" } }],
  ["/v1/count/0?name=x", { name: "x" }],
  ["/v1/find/a/x/b/c/d", { name: "a/x/b/c/d" }],
  ["/v1/find/a/%C3%A9/b/c%2Fd%2f%2Fe%20f", { name: "a/\u00e9/b/c%2Fd%2f%2Fe f" }],
  ["/v1/find/a/x%252F/b/c", { name: "a/x%2F/b/c" }],
])("GET %s", async (target, message) => {
  expect(await requestMessage(restExchange(target))).toEqual(message);
});

test.each([
  ["/v1/find?nothing=1", "nothing"],
  ["/v1/find?item.nothing=1", "item.nothing"],
  ["/v1/find?name.first=1", "name.first"],
  ["/v1/find?=1", ""],
  ["/v1/find?name=a&name=b", "name"],
  ["/v1/find?pageSize=1&page_size=1", "page_size"],
  ["/v1/find?count=many", "count"],
  ["/v1/find?count=2147483648", "count"],
  ["/v1/find?count=", "count"],
  ["/v1/find?flag=1", "flag"],
  ["/v1/find?color=RED", "color"],
  ["/v1/find?time=yesterday", "time"],
  ["/v1/find?data=*", "data"],
  ["/v1/find?item=a", "item"],
  ["/v1/find?items=a", "items"],
  ["/v1/find?items.name=a", "items.name"],
  ["/v1/find?labels=a", "labels"],
  ["/v1/find?labels.a=b", "labels.a"],
  ["/v1/find?any=a", "any"],
  ["/v1/find?any.typeUrl=a", "any.typeUrl"],
  ["/v1/find?struct.a=1", "struct.a"],
  ["/v1/find?struct.fields=1", "struct.fields"],
  ["/v1/find?value=1", "value"],
  ["/v1/find?value.stringValue=1", "value.stringValue"],
  ["/v1/find?list=1", "list"],
  ["/v1/find?left=a&right=b", "right"],
  ["/v1/find?wrapped=1&wrapped.value=1", "wrapped"],
  ["/v1/find?wrapped.value=1&wrapped=1", "wrapped"],
  [`/v1/find?${"item.".repeat(1)}${"part.".repeat(200)}name=a`, "item.part.part"],
  ["/v1/get/a?item.name=b", "item.name"],
  ["/v1/count/1?count=2", "count"],
  ["/v1/count/x", "count"],
])("GET %s is refused with a BadRequest naming the field", async (target, name) => {
  const error = await requestMessage(restExchange(target)).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toEqual(failure(Code.InvalidArgument, name));
  const [detail] = error instanceof ConnectError ? error.details : [];
  if (!detail || !("type" in detail)) throw new Error("no detail");
  expect(detail.type).toBe("google.rpc.BadRequest");
});

test("lenient: unknown and unbindable parameters are skipped, and the path wins over the query", async () => {
  const lenient = (target: string, init?: RequestInit) =>
    requestMessage(restExchange(target, init, { unknownQuery: "ignore" }));
  expect(await lenient("/v1/find?nothing=1&name=a&item.nothing=2")).toEqual({ name: "a" });
  expect(await lenient("/v1/get/a?item.name=b")).toEqual({ item: { name: "a" } });
  expect(await lenient("/v1/items?item.name=q", jsonRequest("POST", { name: "j" }))).toEqual({ item: { name: "j" } });
  expect(await lenient("/v1/all/a?count=5", jsonRequest("POST", {}))).toEqual({ item: { name: "a" } });
  // What has a field, but no value of its type, is a fault still.
  await expect(lenient("/v1/find?count=many")).rejects.toEqual(failure(Code.InvalidArgument, "count"));
});

test("a hundred thousand values of one list are bound in linear time", async () => {
  const query = Array.from({ length: 100_000 }, (_, i) => `tags=${i}`).join("&");
  const startMs = performance.now();
  const { tags } = (await requestMessage(restExchange(`/v1/find?${query}`, {}, { maxParameters: 100_000 }))) as {
    tags: string[];
  };
  // Some 0.3 s; to join at each parameter took 40 s.
  expect(performance.now() - startMs).toBeLessThan(5_000);
  expect([tags.length, tags[0], tags.at(-1)]).toEqual([100_000, "0", "99999"]);
});

test("an error repeats no more of a name than it takes to find it", async () => {
  const refused = requestMessage(restExchange(`/v1/find?${"x".repeat(100_000)}=1`));
  const error = await refused.catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.InvalidArgument, "xxxxxxxxxx"));
  expect((error as ConnectError).rawMessage.length).toBeLessThan(1_000);
});

test("skipped parameters are for somebody else, whatever they name", async () => {
  const exchange = restExchange(
    "/v1/find?$alt=json&name=a&key=k",
    {},
    { skippedQuery: new Set(["$alt", "key", "name"]) },
  );
  expect(await requestMessage(exchange)).toEqual({});
});

test.each([
  ["/v1/items", { name: "a" }, { item: { name: "a" } }],
  ["/v1/items?count=1", { name: "a" }, { count: 1, item: { name: "a" } }],
  ["/v1/items", {}, { item: {} }],
  ["/v1/all/a", { item: { size: 1 }, count: 2 }, { count: 2, item: { name: "a", size: 1 } }],
  ["/v1/all/a", { item: { name: "a" } }, { item: { name: "a" } }],
  ["/v1/all/a", {}, { item: { name: "a" } }],
  ["/v1/nested/a", { size: 1 }, { item: { name: "a", size: 1 } }],
  ["/v1/nested/a", { name: "a", size: 1 }, { item: { name: "a", size: 1 } }],
  ["/v1/nested/a?name=x", {}, { name: "x", item: { name: "a" } }],
  ["/v1/tags?name=x", ["a", "b"], { name: "x", tags: ["a", "b"] }],
  ["/v1/text", '"a"', { name: "a" }],
])("POST %s %j", async (target, body, message) => {
  expect(await requestMessage(restExchange(target, jsonRequest("POST", body)))).toEqual(message);
});

test.each([
  ["/v1/items?item.size=1", { name: "a" }, "item.size"],
  ["/v1/items?item=1", { name: "a" }, "item"],
  ["/v1/all/a?count=1", {}, "count"],
  ["/v1/all/a?nothing=1", {}, "nothing"],
  ["/v1/all/a", { item: { name: "b" } }, "item.name"],
  ["/v1/nested/a", { name: "b" }, "item.name"],
  ["/v1/nested/a", { size: "x" }, "size"],
  ["/v1/items", { nothing: 1 }, "nothing"],
])("POST %s %j is refused", async (target, body, name) => {
  const refused = requestMessage(restExchange(target, jsonRequest("POST", body)));
  await expect(refused).rejects.toEqual(failure(Code.InvalidArgument, name));
});

test("what the path puts under the body field is inside the field's one record", async () => {
  const { body } = restExchange("/v1/nested/a", jsonRequest("POST", { size: 1 })).open();
  if (body.kind !== "message") throw new Error("no message");
  const wire = await body.read();
  // item = 3 once, around all that is in it.
  expect([wire[0], wire[1]]).toEqual([0x1a, wire.length - 2]);
  expect(shown("shop.v1.Item", wire.subarray(2))).toEqual({ name: "a", size: 1 });
});
