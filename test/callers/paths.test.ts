/**
 * Tricks with paths, on a bare socket: a trick is data where it stands, or refused; it never leads anywhere else.
 * DESIGN §4 is `google.api.http`'s "Path template syntax" made strict: one segment is decoded once and whole, several keep
 * their `%2F`; dot segments, broken escapes, text that is not UTF-8 and a plain backslash are refused.
 */
import { describe, expect, test } from "vitest";
import { messageOf, openBackend, openGateways } from "./gateway.ts";
import { ask, head, whole } from "./wire.ts";

const backend = await openBackend();
const workerd = await openGateways(backend, [{}]);
const port = workerd.ports[0] ?? 0;

/** A value, or the status of an answer for which nobody was called. */
type Outcome = string | 400 | 404;

/** A trick in the place of a value: of one segment, and of any number of them. */
type Trick = readonly [text: string, one: Outcome, deep: Outcome];

const refused = (...texts: readonly string[]): readonly Trick[] => texts.map((text) => [text, 400, 400]);
/** What it means is the same in one segment and in many. */
const data = (...pairs: readonly (readonly [text: string, value: string])[]): readonly Trick[] =>
  pairs.map(([text, value]) => [text, value, value]);
const verbatim = (...texts: readonly string[]): readonly Trick[] => texts.map((text) => [text, text, text]);

/** Escapes that are not UTF-8: overlong dots, slashes, backslashes and zeros, surrogates, halves, what is beyond Unicode. */
const NO_TEXT = [
  ...["%c0%ae%c0%ae", "%c0%af", "%e0%80%af", "%f0%80%80%af", "%c1%9c", "%c0%80", "%fc%80%80%80%80%af"],
  ...["%ed%a0%80", "%f4%90%80%80", "%ff", "%fe", "%c3", "%c3%28", "%80"],
];

const TRICKS: readonly Trick[] = [
  // Dots.
  ...refused(".", "..", "%2e", "%2E%2E", ".%2e", "%2e.", "a/../b", "a/%2e%2e/b", "a/./b", "../vault/x"),
  ...refused("../../vault/x", "%2e%2e/vault/x", "a/../../vault/x"),
  ...verbatim("...", "..a", ".hidden", "..;", "a..b"),
  ...data(["%2e%2e%2e", "..."], ["%252e%252e", "%2e%2e"], ["%ef%bc%8e%ef%bc%8e", "．．"]),
  ["..;/vault/x", 404, "..;/vault/x"],
  ["..%3b/vault/x", 404, "..;/vault/x"],
  // Slashes.
  ["", 404, ""],
  ["a/", 404, "a/"],
  ["a/b", 404, "a/b"],
  ["a//b", 404, "a//b"],
  ["%2f", "/", "%2f"],
  ["a%2Fb", "a/b", "a%2Fb"],
  ["%2e%2e%2fvault%2fx", "../vault/x", "..%2fvault%2fx"],
  ["..%2Fvault", "../vault", "..%2Fvault"],
  ...data(["%252f", "%2f"], ["a%255cb", "a%5cb"]),
  ...data(["%5c", "\\"], ["..%5cvault%5cx", "..\\vault\\x"]),
  ...refused("\\", "a\\b", "..\\vault\\x", "a\\..\\b"),
  // Broken escapes, and what is no text.
  ...refused("%", "%2", "a%", "%zz", "%u002e", "%%32e", "%2%65", "% 2e"),
  ...refused(...NO_TEXT, "\xff", "\xc0\xae\xc0\xae"),
  ...data(
    ["%c3%a9", "é"],
    ["\xc3\xa9", "é"],
    ["%f0%9f%98%80", "😀"],
    ["%ef%bb%bfa", "\ufeffa"],
    ["%e2%80%ae", "\u202e"],
  ),
  // Control characters: data while they are escaped, no URL when they are not.
  ...data(
    ["%00", "\0"],
    ["a%00.json", "a\0.json"],
    ["%0d%0aX-Vault:%20x", "\r\nX-Vault: x"],
    ["%0a", "\n"],
    ["%7f", "\x7f"],
  ),
  ...refused("a\0b", "a\tb", "a b", "a\x0bb"),
  // What means something elsewhere.
  ...verbatim("a;b=c", ";", "a=b", "a&id=b", "a+b", "@b", "a,b", "*", "**", "$ref", "~", "a:b", ":", "a:run", "'", "-"),
  ...data(
    ["a%3bb", "a;b"],
    ["a%3fid=b", "a?id=b"],
    ["a%23b", "a#b"],
    ["a%20b", "a b"],
    ["%7bid%7d", "{id}"],
    ["%3a", ":"],
  ),
  ...data(["a%3arun", "a:run"], ["a%25", "a%"], ["a%2525", "a%25"]),
  ...verbatim("__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "valueOf"),
];

interface Rule {
  readonly path: (trick: string) => string;
  readonly method: string;
  /** The message with a value. Default: it is the id. */
  readonly message?: (value: string) => unknown;
  /** The value is of many segments, or one of several that are one value: `%2F` stays. */
  readonly keepsSlash?: true;
  /** Any number of segments. */
  readonly isDeep?: true;
  readonly body?: true;
  /** Nothing is bound: whether it is text, nobody asks. */
  readonly isUnread?: true;
}

const RULES: Readonly<Record<string, Rule>> = {
  "{id}": { path: (trick) => `/one/${trick}`, method: "One" },
  "{id} amid": { path: (trick) => `/amid/${trick}/end`, method: "Amid" },
  "{id=shelves/*/books/*}": {
    path: (trick) => `/pattern/shelves/${trick}/books/b`,
    method: "Pattern",
    message: (value) => ({ id: `shelves/${value}/books/b` }),
    keepsSlash: true,
  },
  "{id=**}": { path: (trick) => `/deep/${trick}`, method: "Deep", keepsSlash: true, isDeep: true },
  "{id=**} amid": { path: (trick) => `/tail/${trick}/end`, method: "Tail", keepsSlash: true, isDeep: true },
  "{id}:run": { path: (trick) => `/verb/${trick}:run`, method: "Verb" },
  "{id=**}:run": { path: (trick) => `/deep-verb/${trick}:run`, method: "DeepVerb", keepsSlash: true, isDeep: true },
  "{item.id}": {
    path: (trick) => `/nested/${trick}`,
    method: "Nested",
    // A bound value is a record, also an empty one.
    message: (id) => ({ item: { id } }),
  },
  '{id} with body "*"': { path: (trick) => `/body/${trick}`, method: "Body", body: true },
  "*": { path: (trick) => `/star/${trick}`, method: "Star", message: () => ({}), isUnread: true },
  "**": { path: (trick) => `/stars/${trick}`, method: "Stars", message: () => ({}), isDeep: true, isUnread: true },
};

function requestTo(target: string, hasBody = false): string {
  return hasBody ? whole("POST", target, ["Content-Type: application/json"], "{}") : head("GET", target);
}

/** What came of a request: the message that reached the backend by its method, or the status. */
async function outcomeOf(request: string): Promise<unknown> {
  const before = backend.arrivals.length;
  const { status } = await ask(port, request);
  const [arrival, ...others] = backend.arrivals.slice(before);
  if (others.length > 0) return "more than one call";
  if (!arrival) return status;
  return status === 200 ? { [arrival.url]: messageOf(arrival) } : `${status}, but ${arrival.url} was called`;
}

function outcomeAt({ isUnread, isDeep, keepsSlash }: Rule, ...[text, one, deep]: Trick): Outcome {
  if (isUnread && NO_TEXT.includes(text)) return text;
  return isDeep || (keepsSlash && typeof one === "string") ? deep : one;
}

describe("a trick in the place of a value", () => {
  test.each(Object.entries(RULES))("%s", async (_, rule) => {
    const { path, method, message = (id: string) => (id === "" ? {} : { id }) } = rule;
    const outcomes: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [trick, one, deep] of TRICKS) {
      const target = path(trick);
      outcomes[target] = await outcomeOf(requestTo(target, rule.body));
      const outcome = outcomeAt(rule, trick, one, deep);
      expected[target] = typeof outcome === "number" ? outcome : { [`/callers.v1.Paths/${method}`]: message(outcome) };
    }
    expect(outcomes).toEqual(expected);
  });
});

/** Literals are compared decoded; all else makes another path. */
const LITERALS: readonly (readonly [target: string, outcome: "Literal" | "Root" | 400 | 404])[] = [
  ["/literal/end", "Literal"],
  ["/%6citeral/%65nd", "Literal"],
  ["/literal/end?", "Literal"],
  ["/", "Root"],
  ["/literal/end/", 404],
  ["/literal//end", 404],
  ["//literal/end", 404],
  ["/literal%2fend", 404],
  ["/literal%252fend", 404],
  ["/Literal/end", 404],
  ["/literal/end;", 404],
  ["/literal;x=1/end", 404],
  ["/literal/end%3bx", 404],
  ["/literal/end%00", 404],
  ["/literal/end%20", 404],
  ["/literal/end%0a", 404],
  ["/literal/end%3f", 404],
  ["/literal/end%23", 404],
  ["/literal/end:run", 404],
  ["/literal/end.json", 404],
  ["/literal/%25%36%35nd", 404],
  ["/literal/%c1%a5nd", 404],
  ["/literal/../literal/end", 400],
  ["/literal/./end", 400],
  ["/./literal/end", 400],
  ["/literal/end/.", 400],
  ["/literal/end/..", 400],
  ["/one/%2e%2e/vault", 400],
  ["/deep/a/..", 400],
  ["/deep-verb/a/..:run", 400],
  ["/literal\\end", 400],
  ["/literal/end%", 400],
  ["//", 404],
  ["/%2f", 404],
  ["/.", 400],
];

test.each(LITERALS)("%s", async (target, outcome) => {
  const expected = typeof outcome === "number" ? outcome : { [`/callers.v1.Paths/${outcome}`]: {} };
  expect(await outcomeOf(requestTo(target))).toEqual(expected);
});

/** An RPC path has one spelling. */
const NO_RPC = [
  "//callers.v1.Vault/Open",
  "/callers.v1.Vault//Open",
  "/callers.v1.Vault/Open/",
  "/callers.v1.Vault/%4fpen",
  "/%63allers.v1.Vault/Open",
  "/callers.v1.Vault%2fOpen",
  "/callers.v1.Vault/Open;",
  "/callers.v1.Vault/Open%00",
  "/callers.v1.Vault/open",
  "/callers%2ev1%2eVault/Open",
  "/one/../callers.v1.Vault/Open",
  "/callers.v1.Paths/../callers.v1.Vault/Open",
  "/callers.v1.Vault\\Open",
  "/callers.v1.Vault/__proto__",
  "/callers.v1.constructor/toString",
  "/__proto__/Open",
  "/constructor",
];

test.each(NO_RPC)("%s is no method", async (target) => {
  const { status } = await ask(port, requestTo(target, true));
  expect([status, backend.arrivals]).toEqual([expect.toSatisfy((one) => [400, 404].includes(one)), []]);
});

/** RFC 9112 §3.2: the forms of a request target. */
const TARGETS: readonly (readonly [target: string, outcome: unknown])[] = [
  ["http://other.example/one/a", { "/callers.v1.Paths/One": { id: "a" } }],
  ["http://other.example/one/%2e%2e/vault", 400],
  ["http://other.example", { "/callers.v1.Paths/Root": {} }],
  ["//other.example/vault/x", 404],
  ["/one/a#/../vault/x", { "/callers.v1.Paths/One": { id: "a" } }],
  ["/one/a?id=%2e%2e", 400],
  ["one/a", 400],
  ["?id=a", 400],
  ["@other.example/vault", 400],
];

test.each(TARGETS)("the target %s", async (target, outcome) => {
  expect(await outcomeOf(requestTo(target))).toEqual(outcome);
});
