/** Schemas of people who never heard of us: Google's own APIs, out of google-proto-files. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import {
  createFileRegistry,
  type DescExtension,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

export const APIS = {
  "Pub/Sub": "google/pubsub",
  "Spanner admin": "google/spanner/admin",
  "Cloud Run": "google/cloud/run",
  Logging: "google/logging",
  "Bigtable admin": "google/bigtable/admin",
  Firestore: "google/firestore",
  KMS: "google/cloud/kms",
  "BigQuery Storage": "google/cloud/bigquery/storage",
} as const;
export type ApiName = keyof typeof APIS;

export interface Api {
  readonly name: ApiName;
  /** Bytes of the FileDescriptorSet. */
  readonly set: Uint8Array;
  readonly registry: FileRegistry;
  /** Every http rule of the API's own files, as protobuf-es reads them. */
  readonly bindings: readonly Binding[];
}

/** One google.api.HttpRule with a pattern. */
export interface Binding {
  readonly method: DescMethod;
  readonly httpMethod: string;
  readonly template: string;
  readonly body: string;
}

/** Compiles the files of an API, and what they import, in about a fifth of a second. */
export async function loadApi(name: ApiName): Promise<Api> {
  const folder = APIS[name];
  const set = await buildSet(folder);
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  const http = registry.getExtension("google.api.http") as DescExtension;
  const bindings = [...registry.files]
    .filter((file) => file.proto.name.startsWith(`${folder}/`))
    .flatMap((file) => file.services.flatMap((service) => service.methods))
    .filter((method) => hasOption(method, http))
    .flatMap((method) => readBindings(method, getOption(method, http) as HttpRule));
  return { name, set, registry, bindings };
}

/** @param folders of google-proto-files. */
export async function buildSet(...folders: readonly string[]): Promise<Uint8Array> {
  const resolve = createRequire(import.meta.url).resolve;
  const root = dirname(resolve("google-proto-files/package.json"));
  const buf = join(dirname(resolve("@bufbuild/buf/package.json")), "bin", "buf");
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-strangers-"));
  try {
    const output = join(scratch, "set.binpb");
    const paths = folders.flatMap((folder) => ["--path", join(root, folder)]);
    await promisify(execFile)(process.execPath, [buf, "build", root, ...paths, "-o", output]);
    return await readFile(output);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** google.api.HttpRule as protobuf-es holds it. */
interface HttpRule {
  readonly pattern:
    | { readonly case: "custom"; readonly value: { readonly kind: string; readonly path: string } }
    | { readonly case: string; readonly value: string };
  readonly body: string;
  readonly additionalBindings: readonly HttpRule[];
}

function readBindings(method: DescMethod, rule: HttpRule): Binding[] {
  const { pattern, body } = rule;
  const [httpMethod, template] =
    typeof pattern.value === "string"
      ? [pattern.case.toUpperCase(), pattern.value]
      : [pattern.value.kind, pattern.value.path];
  const additional = rule.additionalBindings.flatMap((other) => readBindings(method, other));
  return [{ method, httpMethod, template, body }, ...additional];
}
