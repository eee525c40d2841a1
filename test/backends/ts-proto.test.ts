/** Code that ts-proto generates. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { battery } from "./battery.ts";
import { startHttpBackend } from "./http-backend.ts";
import { itReplacesSplitRecords } from "./replaces.ts";
import { REASON, shopSet } from "./shop.ts";

interface Codec {
  decode(wire: Uint8Array): unknown;
  encode(message: unknown): { finish(): Uint8Array };
}

type Generated = Readonly<Record<"UpdateBookRequest" | "Everything" | "Reason", Codec>>;

/** Inside of the checkout, so that the generated code finds its runtime, and in the folder that git does not look at. */
const GEN = fileURLToPath(new URL("../../gen", import.meta.url));

/** Runs the plugin under buf, and loads what came out. */
async function generate(set: Uint8Array): Promise<Generated> {
  const resolve = createRequire(import.meta.url).resolve;
  const buf = join(dirname(resolve("@bufbuild/buf/package.json")), "bin", "buf");
  const plugin = join(dirname(resolve("ts-proto/package.json")), "protoc-gen-ts_proto");
  await mkdir(GEN, { recursive: true });
  const folder = await mkdtemp(join(GEN, "ts-proto-"));
  try {
    const input = join(folder, "set.binpb");
    await writeFile(input, set);
    const template = {
      version: "v2",
      plugins: [
        {
          local: [process.execPath, plugin],
          out: folder,
          include_imports: true,
          include_wkt: true,
          // A Date has no nanoseconds, a number not every 64-bit integer.
          opt: ["useDate=false", "forceLong=bigint", "outputServices=none", "outputJsonMethods=false"],
        },
      ],
    };
    await promisify(execFile)(process.execPath, [buf, "generate", input, "--template", JSON.stringify(template)]);
    return await import(join(folder, "test.ts"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { UpdateBookRequest, Everything, Reason } = await generate(shopSet);

function echoOf({ decode, encode }: Codec): (wire: Uint8Array) => Uint8Array {
  return (wire) => encode(decode(wire)).finish();
}

itReplacesSplitRecords(UpdateBookRequest.decode);

battery(
  await startHttpBackend({
    echo: new Map([
      ["/shop.v1.Shop/UpdateBook", echoOf(UpdateBookRequest)],
      ["/shop.v1.Shop/Echo", echoOf(Everything)],
    ]),
    reason: Reason.encode(REASON).finish(),
  }),
);
