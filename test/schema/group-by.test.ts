import { expect, test } from "vitest";
import { groupBy } from "../../src/schema/group-by.ts";

test.each<[string, readonly string[], (text: string) => unknown]>([
  ["by what is equal as keys of a Map are", ["a", "bb", "c", "dd", ""], (text) => text.length || Number.NaN],
  ["of nothing", [], (text) => text],
  ["by a name that objects have", ["__proto__", "constructor", "__proto__"], (text) => text],
])("members %s, as Map.groupBy has them", (_, members, keyOf) => {
  expect([...groupBy(members, keyOf)]).toEqual([...Map.groupBy(members, keyOf)]);
});
