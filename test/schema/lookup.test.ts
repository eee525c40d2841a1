import { expect, test } from "vitest";
import { findField } from "../../src/schema/lookup.ts";
import { compileProto, messageOf } from "../proto.ts";

const message = messageOf(
  await compileProto(`
    syntax = "proto3";
    package test;
    message M {
      int32 page_size = 1;
      int32 swapped = 2 [json_name = "other"];
      int32 another = 3 [json_name = "swapped"];
      int32 constructor = 4;
    }
  `),
  "test.M",
);

test.each([
  ["pageSize", 1],
  ["page_size", 1],
  ["other", 2],
  // Both a JSON name and a proto name: the JSON name counts.
  ["swapped", 3],
  ["another", 3],
  ["constructor", 4],
])("%s is field %i", (name, number) => {
  expect(findField(message, name)?.number).toBe(number);
});

test.each(["", "PageSize", "pagesize", "page-size", "toString", "__proto__", "test.M.page_size"])(
  "%j is none",
  (name) => {
    expect(findField(message, name)).toBeUndefined();
  },
);
