import { expect, test } from "vitest";
import { derivedMaskField } from "../../src/client/update-mask.ts";
import { formText, MULTIPART, type Part, URLENCODED } from "./forms.ts";
import { jsonRequest, matchOf, requestMessage, restExchange } from "./shop.ts";

const JSON_TYPE = "\r\nContent-Type: application/json";

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

// What the body is written in makes no difference.
test.each<[string, readonly Part[], string | undefined]>([
  [
    "leaves",
    [
      ['name="size"', "0"],
      ['name="newName"', "x"],
    ],
    "size,renamed",
  ],
  [
    "nested leaves",
    [
      ['name="part.size"', "1"],
      ['name="part.part.made_at"', "2026-01-02T03:04:05Z"],
    ],
    "part.size,part.part.madeAt",
  ],
  [
    "a list once",
    [
      ['name="words"', "a"],
      ['name="words"', "b"],
    ],
    "words",
  ],
  [
    "the leaves of JSON",
    [[`name="part"${JSON_TYPE}`, '{"size":1,"part":{"renamed":null}}']],
    "part.size,part.part.renamed",
  ],
  [
    "null",
    [
      [`name="part"${JSON_TYPE}`, "null"],
      [`name="part.size"${JSON_TYPE}`, "null"],
    ],
    "part,part.size",
  ],
  [
    "JSON deeper down",
    [
      [`name="part.labels"${JSON_TYPE}`, '{"a":{}}'],
      [`name="part.part"${JSON_TYPE}`, "{}"],
    ],
    "part.labels,part.part",
  ],
  [
    "what the path binds is left out",
    [
      ['name="name"', "a"],
      ['name="size"', "1"],
    ],
    "size",
  ],
  ["nothing", [], undefined],
])("of a form: %s", async (_, parts, mask) => {
  const init = { method: "PATCH", body: formText("b", ...parts), headers: MULTIPART };
  const message = await requestMessage(restExchange("/v1/update/a", init, { forms: true }));
  expect((message as { updateMask?: unknown }).updateMask).toBe(mask);
});

test("of a form: a mask that the caller gave counts, and the option turns it off", async () => {
  const init = { method: "PATCH", body: "size=1&words=a", headers: URLENCODED };
  const mask = async (target: string, updateMask: boolean) => {
    const message = await requestMessage(restExchange(target, init, { forms: true, updateMask }));
    return (message as { updateMask?: unknown }).updateMask;
  };
  expect(await mask("/v1/update/a", true)).toBe("size,words");
  expect(await mask("/v1/update/a?updateMask=words", true)).toBe("words");
  expect(await mask("/v1/update/a", false)).toBeUndefined();
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
