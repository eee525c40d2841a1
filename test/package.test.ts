/** What `npm pack` would publish, as somebody who installs it meets it. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packPackage } from "./packed.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Installing takes as long as the registry does. */
const INSTALL_MS = 180_000;

/** Uses every entry for something that only works when they do. */
const USER = `import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, DurationSchema } from "@bufbuild/protobuf/wkt";
import { createGateway, type Gateway } from "isthmus";
import { createGateway as createImageGateway } from "isthmus/image";
import { createCodec } from "isthmus/codec";
import { type Bridge, createBridge } from "isthmus/node";

const codec = createCodec(DurationSchema);
console.log(new TextDecoder().decode(codec.decode(codec.encode(new TextEncoder().encode('"1.5s"')))));

const text = { name: "text", number: 1, type: 9, label: 1, jsonName: "text" } as const;
const file = {
  name: "echo.proto", package: "echo", syntax: "proto3", messageType: [{ name: "Text", field: [text] }],
  service: [{ name: "Echo", method: [{ name: "Say", inputType: ".echo.Text", outputType: ".echo.Text" }] }],
};
const schema = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
const gateway: Gateway = createGateway({
  schema,
  rpc: "all",
  backends: {
    "*": { url: "http://backend.example", fetch: async (_input, init) =>
      new Response(init?.body ?? null, { headers: { "content-type": "application/proto" } }) },
  },
});
const response = await gateway.fetch(new Request("http://gateway/echo.Echo/Say", {
  method: "POST", body: '{"text":"hi"}', headers: { "content-type": "application/json" },
}));
console.log(response.status, await response.text());

try {
  createImageGateway({ schema, backends: { "*": { url: "http://backend.example" } } });
} catch (error) {
  console.log(String(error));
}

const bridge: Bridge = await createBridge({ to: "http://127.0.0.1:1" });
const call = { method: "POST", headers: { "content-type": "application/grpc-web" } };
console.log((await (await fetch(bridge.url + "/echo.Echo/Say", call)).text()).slice(5).split("\\r\\n")[0]);
await bridge.close();
`;

describe("the package", () => {
  let folder = "";
  let files: readonly string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isthmus-package-"));
    const packed = await packPackage(folder);
    files = packed.files;
    await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}');
    const options = ["--no-audit", "--no-fund", "--prefer-offline"];
    await run("npm", ["install", ...options, packed.tarball], { cwd: folder });
  }, INSTALL_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("holds what is needed and no more", () => {
    for (const path of [
      "dist/gateway.js",
      "dist/gateway.d.ts",
      "dist/image-gateway.js",
      "dist/image-gateway.d.ts",
      "dist/codec-api.js",
      "dist/worker.js",
      "README.md",
      "LICENSE",
    ]) {
      expect(files).toContain(path);
    }
    const wanted = /^(dist\/|bin\/|proto\/google\/|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/;
    expect(files.filter((path) => !wanted.test(path))).toEqual([]);
    expect(files.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
  });

  it("has every entry, for plain Node", async () => {
    await writeFile(join(folder, "user.mts"), USER);
    await compile(folder, "bundler", "esnext");
    const { stdout } = await run(process.execPath, ["user.mjs"], { cwd: folder });
    const [codec, answer, refusal, bridged] = stdout.split("\n");
    expect([codec, answer]).toEqual(['"1.500s"', '200 {"text":"hi"}']);
    expect(refusal).toMatch(/no schema image: .*isthmus compile/);
    // UNAVAILABLE: nobody listens.
    expect(bridged).toBe("grpc-status: 14");
  });

  it("has types for node16 resolution", async () => {
    await writeFile(join(folder, "user.mts"), USER);
    await expect(compile(folder, "node16", "node16")).resolves.toBeDefined();
  });

  it("has the WebAssembly engine in Node and in Workers, and does without elsewhere", async () => {
    const script = 'import "isthmus/codec"; console.log((await import(process.argv[1])).hasWasm());';
    const engine = join(folder, "node_modules/isthmus/dist/codec/wasm-engine.js");
    const hasWasm = await run(process.execPath, ["--input-type=module", "-e", script, engine], { cwd: folder });
    expect(hasWasm.stdout).toBe("true\n");
    expect(files).toContain("dist/codec.wasm");

    const { exports } = JSON.parse(await readFile(join(folder, "node_modules/isthmus/package.json"), "utf8"));
    for (const entry of [".", "./image", "./codec"]) {
      const { workerd, default: other } = exports[entry] as Record<string, string>;
      expect(files).toContain(workerd?.slice(2));
      expect(files).toContain(other?.slice(2));
      const module = await readFile(join(folder, "node_modules/isthmus", workerd ?? ""), "utf8");
      expect(module).toContain('import "./use-wasm.js"');
    }
  });

  it("has the command", async () => {
    expect(await readdir(join(folder, "node_modules/.bin"))).toContain("isthmus");
    const { stdout } = await run("npx", ["isthmus", "--help"], { cwd: folder });
    expect(stdout).toContain("routes");
  });
});

function compile(folder: string, moduleResolution: string, module: string) {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const options = ["--strict", "--target", "es2024", "--lib", "es2024,dom,dom.iterable", "--types", ""];
  const resolution = ["--module", module, "--moduleResolution", moduleResolution];
  return run(process.execPath, [tsc, ...options, ...resolution, "user.mts"], { cwd: folder });
}
