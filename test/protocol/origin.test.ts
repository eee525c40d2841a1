import { expect, test } from "vitest";
import { compileOrigins, coversStrangers, describeBadPattern } from "../../src/protocol/origin.ts";

const LONG = "a.".repeat(50_000);

test.each<[readonly string[], string, boolean]>([
  [["https://app.example"], "https://app.example", true],
  [["https://app.example"], "https://app.example.evil.example", false],
  [["https://app.example"], "https://evil.example?https://app.example", false],
  [["https://app.example"], "http://app.example", false],
  [["https://app.example"], "https://app.example:8443", false],
  [["https://app.example"], "https://app.example/", false],
  [["https://app.example"], "https://app.exampl", false],
  [["https://app.example"], "https://appxexample", false],
  [["https://app.example"], "https://app.example, https://app.example", false],
  [["https://app.example"], "null", false],
  [["https://app.example"], "", false],
  [["http://127.0.0.1"], "http://127.0.0.1.evil.example", false],
  [["https://foo.example", "https://bar.example"], "https://bar.example", true],
  [["https://foo.example", "https://bar.example"], "https://barfoo.example", false],
  [["capacitor://localhost"], "capacitor://localhost", true],
  [["http://[::1]:3000"], "http://[::1]:3000", true],

  [["https://*.app.example"], "https://a.app.example", true],
  [["https://*.app.example"], "https://a.b.app.example", true],
  [["https://*.app.example"], "https://xn--bcher-kva.app.example", true],
  [["https://*.app.example"], "https://app.example", false],
  [["https://*.app.example"], "https://.app.example", false],
  [["https://*.app.example"], "https://a..app.example", false],
  [["https://*.app.example"], "https://evilapp.example", false],
  [["https://*.app.example"], "https://a.app.example.evil.example", false],
  [["https://*.app.example"], "https://a.appxexample", false],
  [["https://*.app.example"], "https://evil.example/.app.example", false],
  [["https://*.app.example"], "https://evil.example#.app.example", false],
  [["https://*.app.example"], "https://evil.example?.app.example", false],
  [["https://*.app.example"], "https://evil.example\\.app.example", false],
  [["https://*.app.example"], "https://evil.example:1.app.example", false],
  [["https://*.app.example"], "https://user@a.app.example", false],
  [["https://*.app.example"], "https://evil.example https://a.app.example", false],
  [["https://*.app.example"], "http://a.app.example", false],
  [["https://*.app.example"], "https://a.app.example:8443", false],
  [["https://*.app.example"], "https://*.app.example", false],
  [["https://*.app.example:8443"], "https://a.app.example:8443", true],
  [["https://*.app.example", "https://app.example"], "https://app.example", true],

  [["http://localhost:*"], "http://localhost:5173", true],
  [["http://localhost:*"], "http://localhost", true],
  [["http://localhost:*"], "http://localhost:*", false],
  [["http://localhost:*"], "http://localhost:", false],
  [["http://localhost:*"], "http://localhost:80.evil.example", false],
  [["http://localhost:*"], "http://localhost.evil.example:80", false],
  [["http://localhost:*"], "http://a.localhost:80", false],
  [["http://*.localhost:*"], "http://a.localhost:80", true],
  [["http://[::1]:*"], "http://[::1]:3000", true],

  [["*"], "https://any.example", true],
  [["*"], "null", true],
  [["https://app.example", "*"], "https://any.example", true],

  // Grows with the square of its length only in a matcher that steps back.
  [["https://*.app.example"], `https://${LONG}evil`, false],
  [["https://*.app.example"], `https://${LONG}app.example`, true],
])("%j lets in %.60s: %j", (patterns, origin, allowed) => {
  expect(compileOrigins(patterns)(origin)).toBe(allowed);
});

test.each([
  "*",
  "https://app.example",
  "http://localhost:8080",
  "https://*.app.example",
  "https://*.app.example:8443",
  "https://*.app.example:*",
  "http://127.0.0.1:*",
  "http://[::1]:*",
  "chrome-extension://abcdefghijklmnop",
])("%s is a pattern", (pattern) => {
  expect(describeBadPattern(pattern)).toBeUndefined();
});

// What browsers send is the URL standard's serialization of an origin.
test.each([
  ["https://app.example/", "https://app.example"],
  ["https://app.example/path", "https://app.example"],
  ["https://App.Example", "https://app.example"],
  ["HTTPS://app.example", "https://app.example"],
  ["https://app.example:443", "https://app.example"],
  ["http://app.example:80", "http://app.example"],
  ["https://b\u00fccher.example", "https://xn--bcher-kva.example"],
  ["http://[0:0::1]:3000", "http://[::1]:3000"],
  ["http://127.1", "http://127.0.0.1"],
  ["https://*.App.example", "https://*.app.example"],
])("%s is no pattern, %s is", (pattern, sent) => {
  expect(describeBadPattern(pattern)).toContain(JSON.stringify(sent));
  expect(describeBadPattern(sent)).toBeUndefined();
});

test.each([
  "",
  "null",
  "h*",
  "**",
  "https://*",
  "https://**.app.example",
  "https://a*.app.example",
  "https://*app.example",
  "https://a.*.example",
  "https://app.*",
  "*.app.example",
  "*://app.example",
  "//app.example",
  "app.example",
  "https://",
  "https://:*",
  "https://app.example:",
  "https://app.example:8*",
  "https://app.example\r\nx: y",
  "https://a.example https://b.example",
])("%j is no pattern", (pattern) => {
  expect(describeBadPattern(pattern)).toMatch(/^an origin/);
});

test.each([
  ["*", true],
  ["https://*.com", true],
  ["https://*.com:8443", true],
  ["https://*.com:*", true],
  ["https://*.app.example", false],
  ["https://app", false],
  ["http://localhost:*", false],
])("%s covers strangers: %j", (pattern, covers) => {
  expect(coversStrangers(pattern)).toBe(covers);
});
