import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { failure } from "../failure.ts";
import { send, URLENCODED } from "./forms.ts";

test.each<[string, string, unknown]>([
  ["/v1/items", "", {}],
  ["/v1/items", "name=a+b%20c&size=2", { item: { name: "a b c", size: 2 } }],
  [
    "/v1/items?count=1",
    "made_at=2026-01-02T03:04:05Z&newName=n",
    { count: 1, item: { madeAt: "2026-01-02T03:04:05Z", newName: "n" } },
  ],
  [
    "/v1/items",
    "words=a&words=b&words=a&part.part.name=x&part.name=y",
    { item: { words: ["a", "b", "a"], part: { name: "y", part: { name: "x" } } } },
  ],
  [
    "/v1/all/a",
    "count=5&tags=t&color=COLOR_RED&data=AQI&wrapped=0&maybe=0",
    { count: 5, item: { name: "a" }, tags: ["t"], color: "COLOR_RED", data: "AQI=", wrapped: 0, maybe: 0 },
  ],
  ["/v1/all/a", "item.name=a&item.size=1", { item: { name: "a", size: 1 } }],
  ["/v1/nested/a", "size=1", { item: { name: "a", size: 1 } }],
  ["/v1/nested/a", "name=a", { item: { name: "a" } }],
  ["/v1/nested/a?name=x", "name=a", { name: "x", item: { name: "a" } }],
  ["/v1/items", "&&name=a&&", { item: { name: "a" } }],
  ["/v1/items", "name=\u00e9%C3%A9", { item: { name: "\u00e9\u00e9" } }],
])("POST %s, urlencoded %j", async (target, body, message) => {
  expect(await send(target, body, URLENCODED)).toEqual(message);
});

test.each<[string, string, string]>([
  ["/v1/items", "nothing=1", "nothing"],
  ["/v1/items", "item.name=1", "item.name"],
  ["/v1/items", "__proto__=1", "__proto__"],
  ["/v1/items", "part.__proto__.name=1", "part.__proto__.name"],
  ["/v1/items", "constructor.prototype=1", "constructor.prototype"],
  ["/v1/items", "toString=1", "toString"],
  ["/v1/items", "name=a&name=b", "name"],
  ["/v1/items", "made_at=x&madeAt=y", "made_at"],
  ["/v1/items", "size=x", "size"],
  ["/v1/items", "name=%FF", "name"],
  ["/v1/items", "name=%zz", "name"],
  ["/v1/items", "part=a", "part"],
  ["/v1/items", "parts.name=a", "parts.name"],
  ["/v1/items", "labels.a=b", "labels.a"],
  ["/v1/items", "extra.a=b", "extra.a"],
  ["/v1/items?name=x", `${"part.".repeat(120)}name=a`, "part.part"],
  ["/v1/all/a", "left=a&right=b", "right"],
  ["/v1/all/a", "item.name=b", "item.name"],
  ["/v1/nested/a", "name=b", "item.name"],
])("POST %s, urlencoded %j is refused with a BadRequest naming the field", async (target, body, name) => {
  const error = await send(target, body, URLENCODED).catch((error: unknown) => error);
  expect(error).toEqual(failure(Code.InvalidArgument, name));
});
