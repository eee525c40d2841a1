import { expect, test } from "vitest";
import { splitTarget } from "../../src/client/target.ts";

test.each([
  ["http://h", "/", ""],
  ["http://h/", "/", ""],
  ["http://h?x=1", "/", "x=1"],
  ["http://h?x=/a", "/", "x=/a"],
  ["http://h:8080/a/b", "/a/b", ""],
  ["https://h/a?b=/c?d", "/a", "b=/c?d"],
  ["http://h/a?", "/a", ""],
  // As the caller wrote it: nothing is resolved, decoded or rewritten.
  ["http://h/a/../b/./c", "/a/../b/./c", ""],
  ["http://h/a/%2E%2e/b%2Fc", "/a/%2E%2e/b%2Fc", ""],
  ["http://h//a//", "//a//", ""],
  ["http://h/a;b\\c", "/a;b\\c", ""],
  ["http://h/http://i/j", "/http://i/j", ""],
  // A fragment is never sent, and no part of either (RFC 9110 §4.2.5).
  ["http://h/a#b?c=d", "/a", ""],
  ["http://h/a?b=c#d", "/a", "b=c"],
  ["http://h#/a", "/", ""],
])("%s", (url, path, query) => {
  expect(splitTarget(url)).toEqual({ path, query });
});
