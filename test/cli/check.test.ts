import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../process.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isthmus-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function check(args: readonly string[], env?: Readonly<Record<string, string>>) {
  const command = runCommand(["bin/isthmus.js", "check", "--schema", folder, ...args], env);
  return { code: await command.ended, output: command.output };
}

const writeRules = (...rules: readonly string[]) =>
  writeFile(
    join(folder, "a.proto"),
    `syntax = "proto3"; package p; import "google/api/annotations.proto"; message M { string id = 1; string two_words = 2; }
service S {
${rules.map((rule, i) => `  rpc R${i}(M) returns (M) { ${rule && `option (google.api.http) = { ${rule} };`} }`).join("\n")}
}`,
  );

test("errors: file, line, column, what to do, and 1", async () => {
  await writeRules('get: "/a"', 'get: "/b/{twoWords}"', 'get: "/c" body: "*"');
  const { code, output } = await check([]);
  expect(code).toBe(1);
  const [first, second, counts, ...rest] = output.trimEnd().split("\n");
  expect(first).toMatch(/^error: a\.proto:4: p\.S\.R1 "\/b\/\{twoWords\}" at column 5: .*; write two_words/);
  expect(second).toMatch(/^error: a\.proto:5: p\.S\.R2 "\/c": .*; leave body out/);
  expect(counts).toBe("2 errors, 0 warnings, 1 binding served");
  expect(rest).toEqual([]);
});

test("warnings alone: 0", async () => {
  await writeRules(
    'get: "/{id}/x"',
    'get: "/y/{id}"',
    'custom: { kind: "get" path: "/z" }',
    'get: "/w/{id=**}/v"',
    'delete: "/d" body: "*"',
    'post: "/p.S/R0" body: "*"',
    'get: "/healthz"',
  );
  const { code, output } = await check([]);
  expect(code).toBe(0);
  const lines = output.trimEnd().split("\n");
  expect(lines.slice(0, -1).every((line) => line.startsWith("warning: a.proto:"))).toBe(true);
  for (const mention of [
    "R0.*/y/x fits",
    "R2.*case-sensitive",
    "R3.*column 8",
    "R4.*DELETE",
    "R5.*RPC path",
    "R6.*health",
  ])
    expect(output).toMatch(new RegExp(`^warning: .*p\\.S\\.${mention}`, "m"));
  expect(lines.at(-1)).toBe("0 errors, 6 warnings, 7 bindings served");
});

test("methods without a rule are named, and are no fault", async () => {
  await writeRules("", 'get: "/a"', "");
  const { code, output } = await check([]);
  expect(code).toBe(0);
  const [bare, ...counts] = output.trimEnd().split("\n");
  expect(bare).toMatch(/^without an http rule, .*: p\.S\.R0, p\.S\.R2$/);
  expect(counts).toEqual(["0 errors, 0 warnings, 1 binding served"]);
});

test("--json: one array, and nothing else", async () => {
  await writeRules('get: "/a/{nope}"');
  const { code, output } = await check(["--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(output)).toEqual([
    {
      file: "a.proto",
      line: 3,
      method: "p.S.R0",
      template: "/a/{nope}",
      column: 5,
      message: expect.stringContaining("nope"),
      fix: expect.any(String),
      severity: "error",
    },
  ]);
  await writeRules('get: "/a"');
  expect(await check(["--json"])).toEqual({ code: 0, output: "[]\n" });
});

test.each([
  [
    "api.yaml",
    "http:\n  rules:\n    - selector: p.S.R0\n      get: /a/{nope}\n    - selector: p.S.Nope\n      get: /b\n",
  ],
  ["api.json", '{"http":{"rules":[{"selector":"p.S.R0","get":"/a/{nope}"},{"selector":"p.S.Nope","get":"/b"}]}}'],
])("faults of a service config are told with their place in it: %s", async (name, text) => {
  await writeRules("");
  await writeFile(join(folder, name), text);
  const { code, output } = await check(["--service-config", join(folder, name)]);
  expect(code).toBe(1);
  expect(output).toMatch(/^error: api\.\w+, http\.rules\[0\]: p\.S\.R0 "\/a\/\{nope\}" at column 5: /m);
  expect(output).toMatch(/^error: api\.\w+, http\.rules\[1\]: p\.S\.Nope: fits no method/m);
});

test("the service config may be a variable, and rules can be added", async () => {
  await writeRules('get: "/a"');
  const config = JSON.stringify({ http: { rules: [{ selector: "p.S.*", get: "/b" }] } });
  const counts = async (...args: readonly string[]) => (await check(args, { ISTHMUS_SERVICE_CONFIG: config })).output;
  expect(await counts()).toBe("0 errors, 0 warnings, 1 binding served\n");
  expect(await counts("--service-config-mode", "add")).toBe("0 errors, 0 warnings, 2 bindings served\n");
});

test.each([
  ["api.yaml", "http: [", /^error: .*api\.yaml:\d+:\d+: /],
  ["api.json", "http: []", /^error: .*api\.json: .*JSON/],
  ["api.yaml", "- http", /^error: .*api\.yaml: holds no google\.api\.Service/],
])("a service config that cannot be read: %s %j", async (name, text, message) => {
  await writeRules("");
  await writeFile(join(folder, name), text);
  const { code, output } = await check(["--service-config", join(folder, name)]);
  expect(code).toBe(1);
  expect(output).toMatch(message);
  expect(output.trim().split("\n")).toHaveLength(1);
});

test.each([
  [["--service-config", "nowhere.yaml"], /^error: nowhere\.yaml: there is no such file/],
  [["--services", "p.Nope"], /^error: --services: the schema has no p\.Nope/],
  [["--service-config-mode", "merge"], /'merge' is invalid\. It must be one of replace, add/],
])("%j", async (args, message) => {
  await writeRules("");
  const { code, output } = await check(args);
  expect(code).toBe(1);
  expect(output).toMatch(message);
  expect(output.trim().split("\n")).toHaveLength(1);
});
