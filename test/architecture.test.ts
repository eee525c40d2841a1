/** Holds the rooms apart (who may import whom) and keeps out what was measured to be slow or dangerous. */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Room {
  readonly rooms: readonly string[] | "any";
  readonly packages: readonly string[] | "any";
}

const CONNECT = "@connectrpc/connect";
const PROTOBUF = "@bufbuild/protobuf";
const BELOW_CLIENTS = ["schema", "codec", "route", "call", "protocol"];
const BELOW_GATEWAY = [...BELOW_CLIENTS, "client", "upstream", "policy", "filter"];
const TOP = ["options", "config", "variables", "observe", "plan", "serve", "gateway", "image-gateway", "codec-api"];

/** A file of src belongs to the room that its folder names, or its own name. */
const ROOMS: Readonly<Record<string, Room>> = {
  schema: { rooms: [], packages: [PROTOBUF, CONNECT] },
  // AssemblyScript.
  wasm: { rooms: [], packages: [] },
  codec: { rooms: ["schema", "wasm"], packages: [CONNECT] },
  // In the Worker instead of its namesake.
  "connect-error": { rooms: [], packages: [] },
  "use-wasm": { rooms: ["codec", "codec.wasm"], packages: [] },
  route: { rooms: ["schema"], packages: [CONNECT] },
  call: { rooms: ["schema"], packages: [CONNECT] },
  protocol: { rooms: ["call", "schema"], packages: [CONNECT] },
  client: { rooms: BELOW_CLIENTS, packages: [CONNECT] },
  upstream: { rooms: BELOW_CLIENTS, packages: [CONNECT] },
  policy: { rooms: BELOW_CLIENTS, packages: [CONNECT] },
  filter: { rooms: BELOW_CLIENTS, packages: [CONNECT] },
  options: { rooms: BELOW_GATEWAY, packages: [CONNECT] },
  config: { rooms: [...BELOW_GATEWAY, "options"], packages: [CONNECT] },
  variables: { rooms: [...BELOW_GATEWAY, "options", "config"], packages: [CONNECT] },
  observe: { rooms: [...BELOW_GATEWAY, "config"], packages: [CONNECT] },
  plan: { rooms: [...BELOW_GATEWAY, "options", "config", "observe"], packages: [CONNECT] },
  serve: { rooms: [...BELOW_GATEWAY, "options", "config", "observe", "plan"], packages: [CONNECT] },
  gateway: { rooms: [...BELOW_GATEWAY, "options", "variables", "plan", "serve"], packages: [CONNECT] },
  "image-gateway": { rooms: [...BELOW_GATEWAY, "options", "variables", "plan", "serve"], packages: [CONNECT] },
  "codec-api": { rooms: [...BELOW_GATEWAY, "options", "config"], packages: [CONNECT, PROTOBUF] },
  openapi: { rooms: ["schema", "route"], packages: [CONNECT] },
  index: { rooms: [...TOP, "codec", "openapi"], packages: ["itty-router"] },
  node: { rooms: [...BELOW_GATEWAY, ...TOP, "openapi", "index"], packages: "any" },
  cli: { rooms: "any", packages: "any" },
};

/** Of the RPC runtime only these, wherever the gateway itself runs: errors, nothing else. */
const CONNECT_NAMES = ["ConnectError", "Code"];

/** Run in Node only, so the traps of the Workers runtime are none there. */
const NODE_ROOMS = ["node", "cli"];

/** What users of the package import: these may hand on the types that their own signatures name. */
const ENTRIES = ["index", "gateway", "image-gateway", "codec-api"];

const HEADER = String.raw`\b(?:[\w.]+\.)?\w*(?:header|trailer|metadata)s?`;
const TRAPS: readonly { what: string; pattern: RegExp; applies(path: string): boolean }[] = [
  {
    what: "reads a url with new URL, which normalises the path",
    pattern: /new URL\(/,
    applies: (path) => ["route", "client"].includes(roomOf(path)),
  },
  {
    what: "pipes through a TransformStream, which costs 30 times a native pipe",
    pattern: /pipeThrough\(\s*new TransformStream/,
    applies: () => true,
  },
  {
    what: "iterates headers; only protocol/metadata.ts does",
    pattern: new RegExp(
      String.raw`\bof ${HEADER}\)|${HEADER}\.(?:entries|forEach|keys|values)\(|\.\.\.${HEADER}\s*[\],]|(?:from|fromEntries)\(${HEADER}\)`,
      "i",
    ),
    applies: (path) => path !== "protocol/metadata.ts" && !NODE_ROOMS.includes(roomOf(path)),
  },
  { what: "makes code from text", pattern: /\beval\(|\bnew Function\(/, applies: () => true },
  {
    what: "re-exports; a name has one home",
    pattern: /^export\b[^;=("]*\bfrom\s+"/m,
    applies: (path) => !ENTRIES.includes(roomOf(path)),
  },
];

const MAX_LINES = 400;

function roomOf(path: string): string {
  return path.split("/")[0]?.replace(/\.ts$/, "") ?? "";
}

interface Import {
  readonly from: string;
  /** What stands between `import` and `from`. */
  readonly names: string;
}

function importsOf(text: string): Import[] {
  const statement =
    /^(?:import|export)\b([^"';]*?)\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
  return [...text.matchAll(statement)].map(([, names = "", named, bare, dynamic]) => ({
    from: named ?? bare ?? dynamic ?? "",
    names,
  }));
}

/** Path inside src that a relative import means; undefined for what lies outside. */
function target(path: string, from: string): string | undefined {
  const resolved = posix.join(posix.dirname(path), from);
  return resolved.startsWith("..") ? undefined : resolved;
}

function packageOf(from: string): string {
  return from.startsWith("@") ? from.split("/", 2).join("/") : (from.split("/")[0] ?? "");
}

function importProblem(path: string, { from, names }: Import): string | undefined {
  const own = roomOf(path);
  const room = ROOMS[own];
  if (!room) return "belongs to no room";
  if (!from.startsWith(".")) {
    if (room.packages === "any") return undefined;
    if (!room.packages.includes(packageOf(from))) return `may not import ${from}`;
    if (packageOf(from) !== CONNECT) return undefined;
    const taken = names.match(/\w+/g)?.filter((name) => name !== "type") ?? [];
    return from === CONNECT && taken.every((name) => CONNECT_NAMES.includes(name))
      ? undefined
      : `may take only ${CONNECT_NAMES} from ${CONNECT}, not ${names.trim()} from ${from}`;
  }
  const file = target(path, from);
  // The descriptors that the build puts beside src.
  if (file === undefined) return own === "index" || room.packages === "any" ? undefined : `may not import ${from}`;
  const other = roomOf(file);
  const allowed = other === own || room.rooms === "any" || room.rooms.includes(other);
  return allowed ? undefined : `may not import ${file}`;
}

/** The files of one circle of imports, the first again at the end. */
function circle(files: ReadonlyMap<string, string>): string[] | undefined {
  const done = new Set<string>();
  function visit(path: string, above: readonly string[]): string[] | undefined {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const { from } of importsOf(files.get(path) ?? "")) {
      const file = from.startsWith(".") ? target(path, from) : undefined;
      const found = file === undefined ? undefined : visit(file, [...above, path]);
      if (found) return found;
    }
    done.add(path);
    return undefined;
  }
  for (const path of files.keys()) {
    const found = visit(path, []);
    if (found) return found;
  }
  return undefined;
}

/** @param files text by path inside src. */
function problems(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (/(?:^|\/)(?:utils?|common|helpers?)(?:\/|\.ts$)/.test(path)) found.push(`${path} has a name that says nothing`);
    if (path.endsWith("/index.ts")) found.push(`${path} is a barrel`);
    const lines = text.trimEnd().split("\n").length;
    if (lines > MAX_LINES) found.push(`${path} has ${lines} lines`);
    if (!(roomOf(path) in ROOMS)) found.push(`${path} belongs to no room`);
    for (const statement of importsOf(text)) {
      const problem = importProblem(path, statement);
      if (problem !== undefined) found.push(`${path} ${problem}`);
    }
    for (const { what, pattern, applies } of TRAPS) {
      if (applies(path) && pattern.test(text)) found.push(`${path} ${what}`);
    }
  }
  const round = circle(files);
  if (round) found.push(`circle: ${round.join(" → ")}`);
  return found;
}

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const sources = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => [path, readFileSync(SRC + path, "utf8")]),
);

test("src keeps to the architecture", () => {
  expect(sources.size).toBeGreaterThan(10);
  expect(problems(sources)).toEqual([]);
});

test("the Worker needs nothing of protobuf-es, so its bundle has none but what ConnectError brings", () => {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { from, names } of importsOf(sources.get(path) ?? "")) {
      if (/^\s*type\b/.test(names)) continue;
      const file = from.startsWith(".") ? target(path, from) : undefined;
      if (file !== undefined) visit(file);
      else if (!from.startsWith(".")) packages.add(from);
    }
  };
  visit("index.ts");
  expect(seen).toContain("schema/image-read.ts");
  expect([...packages].sort()).toEqual(["@connectrpc/connect", "itty-router"]);
});

test("imports are found in all their forms", () => {
  const text =
    'import a, {\n  b,\n} from "./b.ts";\nimport "./c.ts";\nexport type { D } from "./d.ts";\nawait import("./e.ts");\n';
  expect(importsOf(text).map(({ from }) => from)).toEqual(["./b.ts", "./c.ts", "./d.ts", "./e.ts"]);
});

test.each([
  ["codec/x.ts", 'import { parseTemplate } from "../route/template.ts";', "may not import route/template.ts"],
  ["client/x.ts", 'import type { X } from "../upstream/connect.ts";', "may not import upstream/connect.ts"],
  ["schema/x.ts", 'import { X } from "../call.ts";', "may not import call.ts"],
  ["gateway.ts", 'import { X } from "./index.ts";', "may not import index.ts"],
  ["policy/x.ts", 'import { X } from "../node/dev.ts";', "may not import node/dev.ts"],
  ["node/x.ts", 'import { X } from "../cli/dev.ts";', "may not import cli/dev.ts"],
  ["route/x.ts", 'import { readFile } from "node:fs/promises";', "may not import node:fs/promises"],
  ["codec/x.ts", 'import { create } from "@bufbuild/protobuf";', "may not import @bufbuild/protobuf"],
  ["codec/x.ts", 'import { type Transport, Code } from "@connectrpc/connect";', "may take only"],
  ["codec/x.ts", 'import { Code } from "@connectrpc/connect/protocol";', "may take only"],
  ["codec/x.ts", 'import { X } from "../../test/proto.ts";', "may not import ../../test/proto.ts"],
  ["tools/x.ts", "", "belongs to no room"],
  ["codec/utils.ts", "", "has a name that says nothing"],
  ["codec/common/x.ts", "", "has a name that says nothing"],
  ["codec/index.ts", "", "is a barrel"],
  ["codec/x.ts", 'export * from "./y.ts";', "re-exports"],
  ["codec/x.ts", 'export {\n  type Y,\n} from "./y.ts";', "re-exports"],
  ["codec/x.ts", `${"\n".repeat(401)}x`, "has 402 lines"],
  ["route/x.ts", "new URL(request.url)", "new URL"],
  ["client/x.ts", "new URL(url)", "new URL"],
  ["protocol/x.ts", "body.pipeThrough(\n  new TransformStream())", "TransformStream"],
  ["client/x.ts", "for (const [name, value] of headers) {}", "iterates headers"],
  ["client/x.ts", "for (const [name] of request.headers) {}", "iterates headers"],
  ["client/x.ts", "for (const pair of reply.header.entries()) {}", "iterates headers"],
  ["client/x.ts", "responseTrailers.forEach(f)", "iterates headers"],
  ["client/x.ts", "const names = [...call.header.keys()]", "iterates headers"],
  ["client/x.ts", "const pairs = [...error.metadata]", "iterates headers"],
  ["client/x.ts", "Object.fromEntries(response.headers)", "iterates headers"],
  ["codec/x.ts", 'new Function("a", body)', "makes code"],
  ["node/x.ts", "eval(text)", "makes code"],
])("%s: %j", (path, text, problem) => {
  expect(problems(new Map([[path, text]])).join("\n")).toContain(`${path} `);
  expect(problems(new Map([[path, text]])).join("\n")).toContain(problem);
});

test.each([
  ["codec/x.ts", 'import { Code, ConnectError } from "@connectrpc/connect";'],
  ["schema/x.ts", 'import { X } from "@bufbuild/protobuf/wkt";'],
  ["client/x.ts", 'import { X } from "../protocol/status.ts";\nimport { Y } from "./y.ts";'],
  ["protocol/metadata.ts", "for (const [name, value] of header) {}"],
  ["node/x.ts", 'import { X } from "node:fs";\nfor (const pair of request.headers) {}'],
  ["client/x.ts", "const init = { ...headers_init };\nconst h = new Headers(request.headers);"],
])("%s may: %j", (path, text) => {
  expect(problems(new Map([[path, text]]))).toEqual([]);
});

test("a circle is found", () => {
  const files = new Map([
    ["codec/a.ts", 'import { b } from "./b.ts";'],
    ["codec/b.ts", 'import { c } from "./c.ts";'],
    ["codec/c.ts", 'import { b } from "./b.ts";'],
  ]);
  expect(problems(files)).toEqual(["circle: codec/b.ts → codec/c.ts → codec/b.ts"]);
});
