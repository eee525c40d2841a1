import { expect, test } from "vitest";
import { derivedMaskField } from "../../src/client/update-mask.ts";
import { jsonRequest, matchOf, requestMessage, restExchange } from "./shop.ts";

async function maskOf(target: string, body: unknown, updateMask = true): Promise<unknown> {
  const message = await requestMessage(restExchange(target, jsonRequest("PATCH", body), { updateMask }));
  return (message as { updateMask?: unknown }).updateMask;
}

// A FieldMask in JSON has its paths in lowerCamelCase, joined by commas.
test.each([
  ["leaves", { size: 1, words: [] }, "size,words"],
  ["null", { size: null, part: null }, "size,part"],
  ["JSON and proto names", { newName: "x", made_at: null }, "renamed,madeAt"],
  ["nested leaves", { part: { size: 1, part: { renamed: "a" } } }, "part.size,part.part.renamed"],
  ["an empty message is a leaf", { part: {} }, "part"],
  ["lists are not entered", { parts: [{ size: 1 }], words: ["a"] }, "parts,words"],
  ["maps are not entered", { labels: { a: { size: 1 } } }, "labels"],
  ["well-known types are not entered", { extra: { a: { b: 1 } }, madeAt: "2026-01-02T03:04:05Z" }, "extra,madeAt"],
  ["what the path binds is left out", { name: "a", size: 1 }, "size"],
])("%s", async (_, body, mask) => {
  expect(await maskOf("/v1/update/a", body)).toBe(mask);
});

test("an empty body has no mask", async () => {
  expect(await maskOf("/v1/update/a", {})).toBeUndefined();
});

test("a mask that the caller gave counts", async () => {
  expect(await maskOf("/v1/update/a?updateMask=words", { size: 1 })).toBe("words");
  expect(await maskOf("/v1/update/a?update_mask=", { size: 1 })).toBe("");
});

test("the option turns it off", async () => {
  expect(await maskOf("/v1/update/a", { size: 1 }, false)).toBeUndefined();
});

test.each([
  ["PATCH", "/v1/update/a", "update_mask"],
  ["PUT", "/v1/update/a", undefined],
  ["PATCH", "/v1/all", undefined],
  ["PATCH", "/v1/two", undefined],
  ["POST", "/v1/items", undefined],
])("%s %s leaves %j to the gateway", (httpMethod, path, name) => {
  expect(derivedMaskField(matchOf(httpMethod, path).route)?.name).toBe(name);
});
