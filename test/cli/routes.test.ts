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

async function routes(schema: string): Promise<{ code: number | null; output: string }> {
  const command = runCommand(["bin/isthmus.js", "routes", "--schema", schema]);
  return { code: await command.ended, output: command.output };
}

const HEAD =
  'syntax = "proto3"; package p; import "google/api/annotations.proto"; import "google/protobuf/empty.proto";';
const rpc = (name: string, options: string) =>
  `rpc ${name}(google.protobuf.Empty) returns (google.protobuf.Empty) { option (google.api.http) = { ${options} }; }`;

test("one binding a line, additional ones too", async () => {
  const rule = rpc("A", 'get: "/a" additional_bindings { post: "/a:do" body: "*" }');
  await writeFile(join(folder, "a.proto"), `${HEAD} service S { ${rule} }`);
  const { code, output } = await routes(folder);
  expect(code).toBe(0);
  expect(
    output
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ +/)),
  ).toEqual([
    ["GET", "/a", "/p.S/A"],
    ["POST", "/a:do", "/p.S/A", "body=*"],
  ]);
});

test("a faulty rule is told and left out", async () => {
  await writeFile(
    join(folder, "a.proto"),
    `${HEAD} service S { ${rpc("A", 'get: "/a/{b=*"')} ${rpc("B", 'get: "/b"')} }`,
  );
  const { output } = await routes(folder);
  expect(output).toMatch(/^error: a\.proto:1: p\.S\.A "\/a\/\{b=\*" at column \d+: /m);
  expect(output).toMatch(/^GET +\/b +\/p\.S\/B$/m);
});

test("protos that do not compile: the compiler's line, and no stack", async () => {
  await writeFile(join(folder, "a.proto"), 'syntax = "proto3";\nmessage M { Nope n = 1; }\n');
  const { code, output } = await routes(folder);
  expect(code).toBe(1);
  expect(output).toMatch(/a\.proto:2:13:.*Nope/);
  expect(output).not.toMatch(/^ +at /m);
});

test.each([
  ["that is not there", "nowhere.binpb", /^error: nowhere\.binpb: there is no such file or folder/],
  ["that is no descriptor set", "package.json", /^error: .*FileDescriptorSet/],
  ["that is one .proto file", "proto/google/api/http.proto", /^error: .*is one \.proto file; give --schema the folder/],
  ["without protos", ".ci", /^error: .*no \.proto file/],
])("a schema %s", async (_, schema, message) => {
  const { code, output } = await routes(schema);
  expect(code).toBe(1);
  expect(output).toMatch(message);
  expect(output.trim().split("\n")).toHaveLength(1);
});
